#pragma once
// NVIDIA's driver, as far as it is used here: memory of a GPU, copies, and a stream. It is loaded
// at run time; functions are those of cuda.h of CUDA 11 and 12.
#include <cstddef>
#include <cstdint>
#include <string>

namespace millrace_tensorrt {

using DevicePointer = unsigned long long;
using Stream = void*;

/// Never unloaded. Thread-safe; every call makes the GPU the calling thread's.
class Driver {
 public:
  /// SdkFailure if there is no driver or no such GPU.
  explicit Driver(int gpu);

  const std::string& model() const { return model_; }  // "NVIDIA H200"
  /// Before TensorRT is called on a thread.
  void enter() const;
  void* allocate(std::size_t bytes) const;
  void free(void* memory) const;
  void copy(const void* from, void* to, std::size_t bytes, bool to_device) const;
  Stream make_stream() const;
  void free_stream(Stream stream) const;
  /// Sleeps until the stream's work is done.
  void wait(Stream stream) const;

 private:
  using Status = int;
  void check(Status status, const char* function) const;

  Status (*set_current_)(void*) = nullptr;
  Status (*allocate_)(DevicePointer*, std::size_t) = nullptr;
  Status (*free_)(DevicePointer) = nullptr;
  Status (*copy_to_)(DevicePointer, const void*, std::size_t) = nullptr;
  Status (*copy_from_)(void*, DevicePointer, std::size_t) = nullptr;
  Status (*make_stream_)(Stream*, unsigned) = nullptr;
  Status (*free_stream_)(Stream) = nullptr;
  Status (*wait_)(Stream) = nullptr;
  Status (*error_name_)(Status, const char**) = nullptr;
  void* context_ = nullptr;
  std::string model_;
};

}  // namespace millrace_tensorrt
