#include "engine/cuda/library/driver.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engine/cuda/library/shared_library.h"

namespace millrace::engine::cuda {
namespace {

void find_devices(const SharedLibrary& library, Driver& driver) {
  library.find("cuInit", driver.init);
  library.find("cuDriverGetVersion", driver.driver_version);
  library.find("cuGetErrorName", driver.error_name);
  library.find("cuGetErrorString", driver.error_text);
  library.find("cuDeviceGetCount", driver.device_count);
  library.find("cuDeviceGet", driver.device_at);
  library.find("cuDeviceGetName", driver.device_name);
  library.find("cuDeviceTotalMem_v2", driver.device_memory);
  library.find("cuDeviceGetAttribute", driver.device_attribute);
  library.find("cuMemGetInfo_v2", driver.free_memory);
  library.find("cuDevicePrimaryCtxRetain", driver.retain_context);
  library.find("cuDevicePrimaryCtxSetFlags_v2", driver.set_context_flags);
  library.find("cuCtxSetCurrent", driver.set_context);
}

void find_memory(const SharedLibrary& library, Driver& driver) {
  library.find("cuMemAlloc_v2", driver.allocate);
  library.find("cuMemFree_v2", driver.release);
  library.find("cuMemAllocHost_v2", driver.allocate_pinned);
  library.find("cuMemFreeHost", driver.release_pinned);
  library.find("cuMemcpyHtoD_v2", driver.copy_in);
  library.find("cuMemcpyHtoDAsync_v2", driver.copy_in_later);
  library.find("cuMemcpyDtoHAsync_v2", driver.copy_out_later);
  library.find("cuMemcpyDtoH_v2", driver.copy_out);
  library.find("cuMemcpyDtoDAsync_v2", driver.copy_within_later);
  library.find("cuMemsetD8Async", driver.fill_later);
}

void find_streams(const SharedLibrary& library, Driver& driver) {
  library.find("cuStreamCreate", driver.make_stream);
  library.find("cuStreamDestroy_v2", driver.release_stream);
  library.find("cuStreamSynchronize", driver.wait_for_stream);
  library.find("cuStreamBeginCapture_v2", driver.begin_capture);
  library.find("cuStreamEndCapture", driver.end_capture);
  library.find("cuGraphInstantiateWithFlags", driver.make_executable);
  library.find("cuGraphLaunch", driver.launch_graph);
  library.find("cuGraphDestroy", driver.release_graph);
  library.find("cuGraphExecDestroy", driver.release_executable);
  library.find("cuEventCreate", driver.make_event);
  library.find("cuEventDestroy_v2", driver.release_event);
  library.find("cuEventRecord", driver.record_event);
  library.find("cuEventRecordWithFlags", driver.record_event_with);
  library.find("cuEventSynchronize", driver.wait_for_event);
  library.find("cuEventElapsedTime", driver.milliseconds_between);
}

void find_kernels(const SharedLibrary& library, Driver& driver) {
  library.find("cuModuleLoadData", driver.load_module);
  library.find("cuModuleUnload", driver.unload_module);
  library.find("cuModuleGetFunction", driver.function_of);
  library.find("cuLaunchKernel", driver.launch);
}

}  // namespace

Driver load_driver(std::span<const std::filesystem::path> folders) {
  const SharedLibrary library(folders, {"libcuda.so.1"});
  Driver driver{};
  find_devices(library, driver);
  find_memory(library, driver);
  find_streams(library, driver);
  find_kernels(library, driver);
  check(driver, driver.init(0));
  return driver;
}

std::string failure(const Driver& driver, int status) {
  if (status == success) return {};
  const char *name = nullptr, *text = nullptr;
  if (driver.error_name(status, &name) != success || name == nullptr) name = "unknown";
  if (driver.error_text(status, &text) != success || text == nullptr) text = "unknown error";
  return fmt::format("CUDA reports '{}' ({})", text, name);
}

void check(const Driver& driver, int status) {
  if (status != success) throw EngineError(failure(driver, status));
}

}  // namespace millrace::engine::cuda
