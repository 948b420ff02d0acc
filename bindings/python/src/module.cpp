#include "module.h"

#include <nanobind/stl/string.h>

#include <exception>

#include "base/error.h"
#include "millrace/error.h"

namespace nb = nanobind;

namespace millrace::python {
namespace {

const char* name_of(ErrorKind kind) {
  constexpr const char* names[] = {"input", "infeasible", "machine", "cancelled"};
  return names[static_cast<std::size_t>(kind)];
}

/// millrace.Error; lives as long as the module.
nb::handle error_type;

void raise(const Error& error) {
  nb::object raised = error_type(nb::str(error.what()));
  raised.attr("kind") = name_of(error.kind());
  raised.attr("place") = error.place();
  raised.attr("finding") = error.finding();
  raised.attr("remedy") = error.remedy();
  PyErr_SetObject(error_type.ptr(), raised.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    // A signal handler ended the call: what it raised is there already.
    if (PyErr_Occurred() == nullptr) raise(error);
  } catch (const InputError& error) {  // of dataflow and realtime
    raise({ErrorKind::input, error.what(), {error.place(), error.what(), {}}});
  }
}

}  // namespace

double seconds_of(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace millrace::python

NB_MODULE(_core, module) {
  using namespace millrace::python;
  module.doc() = "What the package millrace stands on; use that.";
  error_type =
      PyErr_NewExceptionWithDoc("millrace.Error",
                                "What went wrong, in one sentence: place, finding, remedy.\n\n"
                                "kind: 'input', 'infeasible', 'machine' or 'cancelled'; place: "
                                "file, field or input; finding: what\n"
                                "was found and what was expected; remedy: what to do.",
                                PyExc_RuntimeError, nullptr);
  module.attr("Error") = error_type;
  module.attr("__version__") = MILLRACE_VERSION;
  nb::set_leak_warnings(false);  // programs end with sessions and plans of their own
  nb::register_exception_translator(translate);
  add_models(module);
  add_sessions(module);
  add_applications(module);
  add_deployments(module);
  add_dataflow(module);
  add_realtime(module);
}
