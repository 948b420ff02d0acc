#include "engine/onnxruntime/devices.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <system_error>

#include "engine/onnxruntime/places.h"

namespace millrace::engine::onnxruntime {
namespace {

using board::ProcessorKind;
constexpr const char* plugin_file = "onnxruntime_ep_webgpu/libonnxruntime_providers_webgpu.so";

/// All of the provider's processors, of which only one can be reached by a name.
board::Device device_called(const std::string& name, ProcessorKind kind) {
  board::Device device;
  device.name = name;
  device.kind = kind;
  device.processors = {name};
  device.scheduling = board::usual_scheduling(kind);
  device.limits.granularity = board::Granularity::subnet;
  return device;
}

FoundDevice device_of_provider(const OrtLibrary& library, const ProviderSettings& settings) {
  const ProcessorKind kind = processor_kind(settings);
  board::Device device = device_called(to_text(kind) + "0", kind);
  device.model = settings.provider;
  return {{device, "onnxruntime", fmt::format("ONNX Runtime {}", library.version)},
          settings.provider};
}

std::filesystem::path find_plugin(const OrtLibrary& library, const ProviderSettings& settings) {
  if (!settings.webgpu_library.empty()) return settings.webgpu_library;
  std::vector<std::filesystem::path> folders = package_folders();
  // Beside "FOLDER/onnxruntime/capi/libonnxruntime.so".
  folders.insert(folders.begin(), library.path.parent_path().parent_path().parent_path());
  for (const std::filesystem::path& folder : folders) {
    std::error_code error;
    if (std::filesystem::exists(folder / plugin_file, error)) return folder / plugin_file;
  }
  return {};
}

/// Registered once in a process, as the library wants it; all sessions take turns.
struct Plugin {
  std::mutex turns;
  std::string reason;  // why it cannot be used; empty: it can
  std::vector<const OrtEpDevice*> gpus;
};

void fill(Plugin& plugin, const OrtLibrary& library, const std::filesystem::path& path) {
  const Api& api = library.api;
  plugin.reason = failure(
      api, api.register_provider_library(library.environment.get(), "webgpu", path.c_str()));
  if (!plugin.reason.empty()) return;
  const OrtEpDevice* const* devices = nullptr;
  Count count = 0;
  plugin.reason = failure(api, api.get_devices(library.environment.get(), &devices, &count));
  for (Count i = 0; i < count; ++i)
    if (std::string(api.device_provider(devices[i])) == "WebGpuExecutionProvider")
      plugin.gpus.push_back(devices[i]);
}

Plugin* registered(const OrtLibrary& library, const ProviderSettings& settings) {
  struct Plugins {
    std::mutex mutex;
    std::map<const OrtLibrary*, Plugin> by_library;
  };
  // Never destroyed, as the library is never unloaded.
  static Plugins& plugins = *new Plugins;
  if (library.api.register_provider_library == nullptr) return nullptr;
  const std::filesystem::path path = find_plugin(library, settings);
  if (path.empty()) return nullptr;
  const std::lock_guard lock(plugins.mutex);
  if (settings.allow_software) ::setenv("ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER", "1", 1);
  const auto [at, is_new] = plugins.by_library.try_emplace(&library);
  if (is_new) fill(at->second, library, path);
  return &at->second;
}

std::map<std::string, std::string> texts_of(const Api& api, const OrtKeyValuePairs* pairs) {
  std::map<std::string, std::string> result;
  Texts keys = nullptr, values = nullptr;
  Count count = 0;
  if (pairs != nullptr) api.get_pairs(pairs, &keys, &values, &count);
  for (Count i = 0; i < count; ++i) result[keys[i]] = values[i];
  return result;
}

FoundDevice gpu_of(const Api& api, Plugin& plugin, std::size_t index) {
  const OrtEpDevice* const gpu = plugin.gpus[index];
  const OrtHardwareDevice* const hardware = api.device_hardware(gpu);
  board::Device device = device_called(fmt::format("gpu{}", index), ProcessorKind::gpu);
  std::string driver;
  for (const auto& [key, value] : texts_of(api, api.device_metadata(gpu)))
    driver += key + "=" + value + ";";
  for (const auto& [key, value] : texts_of(api, api.hardware_metadata(hardware)))
    driver += key + "=" + value + ";";
  device.model = fmt::format("{} {:#x}:{:#x}", api.hardware_vendor(hardware),
                             api.hardware_vendor_id(hardware), api.hardware_device_id(hardware));
  return {{device, "onnxruntime", driver}, "webgpu", gpu, &plugin.turns};
}

}  // namespace

std::vector<FoundDevice> find_devices(const OrtLibrary& library, const ProviderSettings& settings) {
  std::vector<FoundDevice> found;
  if (processor_kind(settings) != ProcessorKind::cpu) {
    found.push_back(device_of_provider(library, settings));
    return found;
  }
  if (Plugin* const plugin = registered(library, settings))
    for (std::size_t i = 0; i < plugin->gpus.size(); ++i)
      found.push_back(gpu_of(library.api, *plugin, i));
  return found;
}

}  // namespace millrace::engine::onnxruntime
