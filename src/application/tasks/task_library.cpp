#include "application/tasks/task_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "application/loading_error.h"
#include "base/error.h"

namespace millrace::application {
namespace {

std::shared_ptr<void> opened_library(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    throw InputError(path.string(), "is no file, expected a shared library (.so) with tasks");
  const std::string place = std::filesystem::absolute(path).string();  // not looked for elsewhere
  void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw InputError(path.string(), "cannot be loaded as a library: " + loading_error());
  return {library, [](void* closed) { dlclose(closed); }};
}

std::string object_of(const std::string& function) { return function + "_task"; }

/// In bytes, as the library's table of symbols says; 0 if it does not.
std::size_t size_of_object(const void* object) {
  Dl_info info;
  void* found = nullptr;
  if (dladdr1(object, &info, &found, RTLD_DL_SYMENT) == 0 || found == nullptr) return 0;
  return static_cast<const ElfW(Sym)*>(found)->st_size;
}

[[noreturn]] void refuse_other_interface(const std::string& place, const std::string& function) {
  throw InputError(place, fmt::format("'{}' is no task of this version's interface; make it a "
                                      "millrace::application::Task, and build it again with the "
                                      "headers of this version",
                                      object_of(function)));
}

/// One task of a group: the library goes after the state, which its code may destroy.
struct TaskAtWork {
  LoadedTask loaded;
  std::string name;
  std::map<std::string, std::string> parameters;
  std::shared_ptr<void> state = {};

  void operator()(const runtime::Firing& firing) {
    const bool is_stopping = firing.stopping != nullptr && *firing.stopping;
    loaded.task->run({{name, parameters, state},
                      {firing.number, firing.is_rehearsal, is_stopping},
                      {firing.inputs, firing.outputs, firing.filled_inputs,
                       firing.filled_outputs}});
  }
};

}  // namespace

void check(const Task& task, const std::string& place, const std::string& function) {
  if (task.signature != task_signature) refuse_other_interface(place, function);
  if (task.run == nullptr)
    throw InputError(place, fmt::format("'{}' has no function 'run'", object_of(function)));
}

bool has_task(const std::filesystem::path& library, const std::string& function) {
  return dlsym(opened_library(library).get(), object_of(function).c_str()) != nullptr;
}

LoadedTask load_task(const std::filesystem::path& library, const std::string& function) {
  LoadedTask result{nullptr, opened_library(library)};
  result.task = static_cast<const Task*>(dlsym(result.code.get(), object_of(function).c_str()));
  if (result.task == nullptr)
    throw InputError(library.string(),
                     fmt::format("has no object '{}', which describes the task; declare it extern "
                                 "\"C\" and build the library with visible symbols",
                                 object_of(function)));
  // What is smaller is no task, and its signature may lie behind its end.
  const std::size_t size = size_of_object(result.task);
  if (size > 0 && size < sizeof(Task)) refuse_other_interface(library.string(), function);
  check(*result.task, library.string(), function);
  return result;
}

runtime::TaskToRun code_of(const LoadedTask& loaded, const std::string& task,
                           const std::map<std::string, std::string>& parameters) {
  return {[loaded, task, parameters]() -> runtime::Fire {
    return TaskAtWork{loaded, task, parameters};
  }};
}

}  // namespace millrace::application
