#pragma once
// ONNX Runtime's C interface, as far as it is used here. The library hands out one table of
// functions; a function keeps its position in it for ever. The positions are those of struct OrtApi
// in onnxruntime_c_api.h of version 1.21, and for its own plug-ins of 1.27. So neither a header nor
// the library is needed to build.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace millrace_onnxruntime {

// Objects of the library.
struct OrtStatus;
struct OrtEnv;
struct OrtSession;
struct OrtSessionOptions;
struct OrtRunOptions;
struct OrtMemoryInfo;
struct OrtValue;
struct OrtAllocator;
struct OrtCudaOptions;
struct OrtTensorRtOptions;
struct OrtEpDevice;
struct OrtHardwareDevice;
struct OrtTypeInfo;
struct OrtTensorInfo;

enum LoggingLevel : int { log_fatal = 4 };
enum OptimizationLevel : int { optimize_nothing = 0 };
enum HardwareType : int { hardware_cpu = 0, hardware_npu = 2 };

/// Options by name, as the library takes them: both arrays have `count` texts.
using Texts = const char* const*;
using Count = std::size_t;

struct Api {
  const char* (*get_error_message)(const OrtStatus*);
  OrtStatus* (*create_env)(int level, const char* id, OrtEnv**);
  OrtStatus* (*create_session_from_array)(const OrtEnv*, const void* model, Count bytes,
                                          const OrtSessionOptions*, OrtSession**);
  OrtStatus* (*run)(OrtSession*, const OrtRunOptions*, Texts inputs, const OrtValue* const*,
                    Count input_count, Texts outputs, Count output_count, OrtValue**);
  OrtStatus* (*create_session_options)(OrtSessionOptions**);
  OrtStatus* (*enable_profiling)(OrtSessionOptions*, const char* prefix);
  OrtStatus* (*disable_cpu_memory_arena)(OrtSessionOptions*);
  OrtStatus* (*set_optimization_level)(OrtSessionOptions*, int level);
  OrtStatus* (*set_intra_op_threads)(OrtSessionOptions*, int);
  OrtStatus* (*set_inter_op_threads)(OrtSessionOptions*, int);
  OrtStatus* (*create_tensor)(const OrtMemoryInfo*, void* data, Count bytes,
                              const std::int64_t* shape, Count rank, int type, OrtValue**);
  OrtStatus* (*create_cpu_memory_info)(int allocator, int memory, OrtMemoryInfo**);
  OrtStatus* (*allocator_free)(OrtAllocator*, void*);
  OrtStatus* (*default_allocator)(OrtAllocator**);
  OrtStatus* (*end_profiling)(OrtSession*, OrtAllocator*, char** file);
  OrtStatus* (*add_config_entry)(OrtSessionOptions*, const char* key, const char* value);
  OrtStatus* (*add_external_initializers)(OrtSessionOptions*, Texts names, const OrtValue* const*,
                                          Count);

  // Types and shapes.
  OrtStatus* (*output_type)(const OrtSession*, Count output, OrtTypeInfo**);
  OrtStatus* (*tensor_info)(const OrtTypeInfo*, const OrtTensorInfo**);  // null: it is no tensor
  OrtStatus* (*element_type)(const OrtTensorInfo*, int*);
  OrtStatus* (*dimension_count)(const OrtTensorInfo*, Count*);
  OrtStatus* (*dimensions)(const OrtTensorInfo*, std::int64_t*, Count);
  OrtStatus* (*info_of_value)(const OrtValue*, OrtTensorInfo**);

  OrtStatus* (*append_provider)(OrtSessionOptions*, const char* name, Texts keys, Texts values,
                                Count);
  OrtStatus* (*append_tensorrt)(OrtSessionOptions*, const OrtTensorRtOptions*);
  OrtStatus* (*create_tensorrt_options)(OrtTensorRtOptions**);
  OrtStatus* (*update_tensorrt_options)(OrtTensorRtOptions*, Texts keys, Texts values, Count);
  OrtStatus* (*append_cuda)(OrtSessionOptions*, const OrtCudaOptions*);
  OrtStatus* (*create_cuda_options)(OrtCudaOptions**);
  OrtStatus* (*update_cuda_options)(OrtCudaOptions*, Texts keys, Texts values, Count);

  void (*release_status)(OrtStatus*);
  void (*release_memory_info)(OrtMemoryInfo*);
  void (*release_session)(OrtSession*);
  void (*release_value)(OrtValue*);
  void (*release_type_info)(OrtTypeInfo*);
  void (*release_tensor_info)(OrtTensorInfo*);
  void (*release_session_options)(OrtSessionOptions*);
  void (*release_tensorrt_options)(OrtTensorRtOptions*);
  void (*release_cuda_options)(OrtCudaOptions*);

  // Plug-ins: null before version 1.22.
  OrtStatus* (*register_provider_library)(OrtEnv*, const char* name, const char* path);
  OrtStatus* (*get_devices)(const OrtEnv*, const OrtEpDevice* const**, Count*);
  OrtStatus* (*append_provider_for)(OrtSessionOptions*, OrtEnv*, const OrtEpDevice* const*,
                                    Count devices, Texts keys, Texts values, Count);
  int (*hardware_type)(const OrtHardwareDevice*);
  const char* (*device_provider)(const OrtEpDevice*);
  const OrtHardwareDevice* (*device_hardware)(const OrtEpDevice*);
};

/// `minor`: of the library's version 1.minor, at least 17.
Api api_of(const void* const* table, int minor);

/// What the library says of a failure, without the places in its source.
std::string without_sources(std::string text);
/// What the library said, if the call failed; the status is released.
std::string failure(const Api& api, OrtStatus* status);
/// LibraryFailure with what the library said, if the call failed.
void check(const Api& api, OrtStatus* status);

/// An object of the library, released when it goes.
template <class T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

/// What `create(arguments..., T**)` makes. LibraryFailure with what the library said.
template <class T, class Create, class... Arguments>
Handle<T> made(const Api& api, void (*release)(T*), Create create, Arguments... arguments) {
  T* object = nullptr;
  check(api, create(arguments..., &object));
  return Handle<T>(object, release);
}

}  // namespace millrace_onnxruntime
