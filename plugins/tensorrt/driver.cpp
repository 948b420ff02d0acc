#include "driver.h"

#include <dlfcn.h>

#include <array>

#include "failure.h"

namespace millrace_tensorrt {
namespace {

/// A function of the driver. SdkFailure if it is not there.
template <class Function>
void take(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr)
    throw SdkFailure(std::string("NVIDIA's driver has no function ") + name + "; update it");
}

DevicePointer pointer_of(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

}  // namespace

Driver::Driver(int gpu) {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw SdkFailure("NVIDIA's driver is not here: libcuda.so.1 was not found");
  Status (*initialise)(unsigned) = nullptr;
  Status (*get_device)(int*, int) = nullptr;
  Status (*get_name)(char*, int, int) = nullptr;
  Status (*retain)(void**, int) = nullptr;
  take(library, error_name_, "cuGetErrorName");
  take(library, initialise, "cuInit");
  take(library, get_device, "cuDeviceGet");
  take(library, get_name, "cuDeviceGetName");
  take(library, retain, "cuDevicePrimaryCtxRetain");
  take(library, set_current_, "cuCtxSetCurrent");
  take(library, allocate_, "cuMemAlloc_v2");
  take(library, free_, "cuMemFree_v2");
  take(library, copy_to_, "cuMemcpyHtoD_v2");
  take(library, copy_from_, "cuMemcpyDtoH_v2");
  take(library, make_stream_, "cuStreamCreate");
  take(library, free_stream_, "cuStreamDestroy_v2");
  take(library, wait_, "cuStreamSynchronize");
  check(initialise(0), "cuInit");
  int device = 0;
  check(get_device(&device, gpu), "cuDeviceGet");
  std::array<char, 256> name{};
  check(get_name(name.data(), static_cast<int>(name.size()) - 1, device), "cuDeviceGetName");
  model_ = name.data();
  check(retain(&context_, device), "cuDevicePrimaryCtxRetain");
}

void Driver::check(Status status, const char* function) const {
  if (status == 0) return;
  const char* name = nullptr;
  error_name_(status, &name);
  throw SdkFailure(std::string("NVIDIA's driver reports in ") + function + ": " +
                   (name == nullptr ? std::to_string(status) : std::string(name)));
}

void Driver::enter() const { check(set_current_(context_), "cuCtxSetCurrent"); }

void* Driver::allocate(std::size_t bytes) const {
  enter();
  DevicePointer memory = 0;
  check(allocate_(&memory, bytes == 0 ? 1 : bytes), "cuMemAlloc");
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory));
}

void Driver::free(void* memory) const {
  enter();
  free_(pointer_of(memory));  // nobody could do anything about a failure
}

void Driver::copy(const void* from, void* to, std::size_t bytes, bool to_device) const {
  enter();
  if (bytes == 0) return;
  if (to_device) return check(copy_to_(pointer_of(to), from, bytes), "cuMemcpyHtoD");
  check(copy_from_(to, pointer_of(from), bytes), "cuMemcpyDtoH");
}

Stream Driver::make_stream() const {
  constexpr unsigned without_default_stream = 1;
  enter();
  Stream stream = nullptr;
  check(make_stream_(&stream, without_default_stream), "cuStreamCreate");
  return stream;
}

void Driver::free_stream(Stream stream) const {
  enter();
  free_stream_(stream);
}

void Driver::wait(Stream stream) const { check(wait_(stream), "cuStreamSynchronize"); }

}  // namespace millrace_tensorrt
