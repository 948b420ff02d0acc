#pragma once
// The functions of NVIDIA's driver, libcuda.so.1, as far as they are used here. Their interface
// does not change: a changed function gets a new name ("_v2").
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace millrace::engine::cuda {

// Objects of the driver.
struct ContextObject;
struct StreamObject;
struct EventObject;
struct ModuleObject;
struct FunctionObject;
struct GraphObject;
struct ExecutableGraphObject;
using Stream = StreamObject*;
using Event = EventObject*;
/// In the memory of the GPU.
using Address = std::uint64_t;
using Device = int;

enum Status : int { success = 0, out_of_memory = 2 };
enum Attribute : int {
  cache_bytes = 38,  // of the second level
  copy_engine_count = 40,
  major_capability = 75,
  minor_capability = 76,
};
enum ContextFlags : unsigned { wait_spinning = 1, wait_asleep = 4 };
enum StreamFlags : unsigned { non_blocking = 1 };
enum EventFlags : unsigned { blocking_event = 1, untimed_event = 2 };
enum RecordFlags : unsigned { recorded_by_graph = 1 };
enum CaptureMode : int { of_this_thread = 1 };

struct Driver {
  int (*init)(unsigned flags);
  int (*driver_version)(int*);
  int (*error_name)(int, const char**);
  int (*error_text)(int, const char**);

  int (*device_count)(int*);
  int (*device_at)(Device*, int index);
  int (*device_name)(char*, int size, Device);
  int (*device_memory)(std::size_t*, Device);
  int (*device_attribute)(int*, int attribute, Device);
  int (*free_memory)(std::size_t* free, std::size_t* all);

  int (*retain_context)(ContextObject**, Device);
  int (*set_context_flags)(Device, unsigned);
  int (*set_context)(ContextObject*);

  int (*allocate)(Address*, std::size_t);
  int (*release)(Address);
  int (*allocate_pinned)(void**, std::size_t);
  int (*release_pinned)(void*);
  int (*copy_in)(Address, const void*, std::size_t);
  int (*copy_in_later)(Address, const void*, std::size_t, Stream);
  int (*copy_out_later)(void*, Address, std::size_t, Stream);
  int (*copy_out)(void*, Address, std::size_t);
  int (*copy_within_later)(Address to, Address from, std::size_t, Stream);
  int (*fill_later)(Address, unsigned char, std::size_t, Stream);

  int (*make_stream)(Stream*, unsigned flags);
  int (*release_stream)(Stream);
  int (*wait_for_stream)(Stream);
  int (*begin_capture)(Stream, int mode);
  int (*end_capture)(Stream, GraphObject**);
  int (*make_executable)(ExecutableGraphObject**, GraphObject*, unsigned long long flags);
  int (*launch_graph)(ExecutableGraphObject*, Stream);
  int (*release_graph)(GraphObject*);
  int (*release_executable)(ExecutableGraphObject*);

  int (*make_event)(Event*, unsigned flags);
  int (*release_event)(Event);
  int (*record_event)(Event, Stream);
  int (*record_event_with)(Event, Stream, unsigned flags);
  int (*wait_for_event)(Event);
  int (*milliseconds_between)(float*, Event, Event);

  int (*load_module)(ModuleObject**, const void* image);
  int (*unload_module)(ModuleObject*);
  int (*function_of)(FunctionObject**, ModuleObject*, const char* name);
  int (*launch)(FunctionObject*, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream,
                void** parameters, void** extra);
};

/// Loaded and started. EngineError that says why not.
Driver load_driver(std::span<const std::filesystem::path> folders);

/// "CUDA reports 'out of memory' (CUDA_ERROR_OUT_OF_MEMORY)"; empty for success.
std::string failure(const Driver& driver, int status);
/// EngineError with failure().
void check(const Driver& driver, int status);

}  // namespace millrace::engine::cuda
