#include "api.h"

#include <string_view>

#include "failure.h"

namespace millrace_onnxruntime {
namespace {

class Table {
 public:
  explicit Table(const void* const* functions) : functions_(functions) {}

  template <class Function>
  void take(Function& function, std::size_t position) const {
    function = reinterpret_cast<Function>(const_cast<void*>(functions_[position]));
  }

 private:
  const void* const* functions_;
};

void take_sessions(Api& api, const Table& table) {
  table.take(api.get_error_message, 2);
  table.take(api.create_env, 3);
  table.take(api.create_session_from_array, 8);
  table.take(api.run, 9);
  table.take(api.create_session_options, 10);
  table.take(api.enable_profiling, 14);
  table.take(api.disable_cpu_memory_arena, 19);
  table.take(api.set_optimization_level, 23);
  table.take(api.set_intra_op_threads, 24);
  table.take(api.set_inter_op_threads, 25);
  table.take(api.create_tensor, 49);
  table.take(api.create_cpu_memory_info, 69);
  table.take(api.allocator_free, 76);
  table.take(api.default_allocator, 78);
  table.take(api.end_profiling, 110);
  table.take(api.add_config_entry, 130);
  table.take(api.add_external_initializers, 210);
}

void take_types(Api& api, const Table& table) {
  table.take(api.output_type, 34);
  table.take(api.tensor_info, 55);
  table.take(api.element_type, 60);
  table.take(api.dimension_count, 61);
  table.take(api.dimensions, 62);
  table.take(api.info_of_value, 65);
  table.take(api.release_type_info, 98);
  table.take(api.release_tensor_info, 99);
}

void take_providers(Api& api, const Table& table) {
  table.take(api.append_tensorrt, 170);
  table.take(api.create_tensorrt_options, 171);
  table.take(api.update_tensorrt_options, 172);
  table.take(api.append_cuda, 204);
  table.take(api.create_cuda_options, 205);
  table.take(api.update_cuda_options, 206);
  table.take(api.append_provider, 216);
}

void take_releases(Api& api, const Table& table) {
  table.take(api.release_status, 93);
  table.take(api.release_memory_info, 94);
  table.take(api.release_session, 95);
  table.take(api.release_value, 96);
  table.take(api.release_session_options, 100);
  table.take(api.release_tensorrt_options, 174);
  table.take(api.release_cuda_options, 208);
}

void take_plugins(Api& api, const Table& table) {
  table.take(api.register_provider_library, 301);
  table.take(api.get_devices, 303);
  table.take(api.append_provider_for, 304);
  table.take(api.hardware_type, 307);
  table.take(api.device_provider, 312);
  table.take(api.device_hardware, 316);
}

}  // namespace

Api api_of(const void* const* functions, int minor) {
  Api api{};
  const Table table(functions);
  take_sessions(api, table);
  take_types(api, table);
  take_providers(api, table);
  take_releases(api, table);
  if (minor >= 22) take_plugins(api, table);
  return api;
}

std::string without_sources(std::string text) {
  // "FILE:LINE FUNCTION [ONNXRuntimeError] : 11 : EP_FAIL : FILE:LINE FUNCTION TEST was false. WHY"
  for (const std::string_view before : {"[ONNXRuntimeError] : ", " was false. "}) {
    const std::size_t at = text.rfind(before);
    if (at != std::string::npos && at + before.size() < text.size())
      text.erase(0, at + before.size());
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string failure(const Api& api, OrtStatus* status) {
  if (status == nullptr) return {};
  const std::string text = without_sources(api.get_error_message(status));
  api.release_status(status);
  return text.empty() ? "it failed and gave no reason" : text;
}

void check(const Api& api, OrtStatus* status) {
  if (status != nullptr) throw LibraryFailure("ONNX Runtime reports: " + failure(api, status));
}

}  // namespace millrace_onnxruntime
