// The driver's functions for modules and kernels.
#include <deque>
#include <mutex>
#include <string_view>

#include "context.h"
#include "kernel.h"
#include "launch.h"
#include "status.h"
#include "stream.h"

struct FunctionObject {
  const emulated::Kernel* kernel;
};
struct ModuleObject {
  std::deque<FunctionObject> functions;  // these stay where they are
};

namespace emulated {
namespace {

int load(ModuleObject** made, const void* image) {
  if (image == nullptr) return invalid_value;
  if (const int status = refuse_while_capturing(); status != success) return status;
  if (!std::string_view(static_cast<const char*>(image)).starts_with("emulated:"))
    return invalid_image;
  *made = new ModuleObject;
  return success;
}

int unload(const ModuleObject* module) {
  if (module == nullptr) return invalid_handle;
  if (const int status = refuse_while_capturing(); status != success) return status;
  delete module;
  return success;
}

/// Threads may ask one module at once.
std::mutex& functions_mutex() {
  static std::mutex mutex;
  return mutex;
}

int find(FunctionObject** made, ModuleObject* module, const char* name) {
  if (module == nullptr) return invalid_handle;
  const Kernel* const kernel = kernel_named(name);
  if (kernel == nullptr) return not_found;
  const std::lock_guard lock(functions_mutex());
  *made = &module->functions.emplace_back(FunctionObject{kernel});
  return success;
}

struct Size {
  Dimensions grid, block;
};

int launch(const FunctionObject* function, const Size& size, StreamObject* stream,
           void** parameters) {
  if (function == nullptr) return invalid_handle;
  if (parameters == nullptr || parameters[0] == nullptr) return invalid_value;
  if (!is_launchable(size.grid, size.block)) return invalid_value;
  const Kernel* const kernel = function->kernel;
  const Launch made{kernel, size.grid, size.block, copy_of_parameters(*kernel, parameters[0])};
  return do_or_record(stream, [made]() -> int {
    run(made);
    return success;
  });
}

}  // namespace
}  // namespace emulated

extern "C" int cuModuleLoadData(ModuleObject** made, const void* image) {
  return emulated::in_context([&] { return emulated::load(made, image); });
}
extern "C" int cuModuleUnload(ModuleObject* module) {
  return emulated::in_context([&] { return emulated::unload(module); });
}
extern "C" int cuModuleGetFunction(FunctionObject** made, ModuleObject* module, const char* name) {
  return emulated::in_context([&] { return emulated::find(made, module, name); });
}
// Kernels have no shared memory but what they declare.
extern "C" int cuLaunchKernel(FunctionObject* function, unsigned grid_x, unsigned grid_y,
                              unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, StreamObject* stream, void** parameters,
                              void** extra) {
  if (shared_bytes != 0 || extra != nullptr) return emulated::invalid_value;
  const emulated::Size size{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}};
  return emulated::in_context([&] { return emulated::launch(function, size, stream, parameters); });
}
