#include "engine/onnxruntime/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "engine/onnxruntime/questions.h"
#include "engine/onnxruntime/vulkan.h"
#include "engine/package_folders.h"

namespace millrace::engine::onnxruntime {
namespace {

using board::ProcessorKind;
constexpr const char* plugin_file = "onnxruntime_ep_webgpu/libonnxruntime_providers_webgpu.so";
constexpr const char* software_variable = "ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER";

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
  std::vector<FoundDevice> devices;
};

/// Whether it runs a layer: a GPU without a driver is listed too.
bool runs_a_layer(const OrtLibrary& library, const FoundDevice& found) {
  network::Network network;
  network.tensors = {{"x", network::DataType::float32, {1}, {}},
                     {"y", network::DataType::float32, {1}, {}}};
  network.layers = {
      {"layer", network::Unary{network::UnaryKind::relu, 0, 0}, {TensorId(0)}, {TensorId(1)}}};
  network.inputs = {TensorId(0)};
  network.outputs = {TensorId(1)};
  const board::Processor processor = board::processors_of(found.reached.device).front();
  Provider provider{&library, {}, found.plugin, found.turns};
  provider.settings.provider = found.provider;
  return static_cast<bool>(Questions().can_run(provider, network, LayerId(0), processor));
}

FoundDevice gpu_of(const OrtLibrary& library, Plugin& plugin, const OrtEpDevice* gpu) {
  const bool software = library.api.hardware_type(library.api.device_hardware(gpu)) == hardware_cpu;
  const std::size_t index = plugin.devices.size();
  board::Device device = device_called(fmt::format("gpu{}", index), ProcessorKind::gpu);
  std::vector<VulkanDevice> drivers = vulkan_devices();
  std::erase_if(drivers, [&](const VulkanDevice& d) { return d.software != software; });
  const VulkanDevice driver =
      index < drivers.size() ? drivers[index] : VulkanDevice{"GPU", "unknown driver"};
  device.model = driver.name;
  return {{device, "onnxruntime", driver.driver + (software ? ", computes on cores" : "")},
          "webgpu",
          gpu,
          &plugin.turns};
}

void fill(Plugin& plugin, const OrtLibrary& library, const std::filesystem::path& path,
          const std::string& name) {
  const Api& api = library.api;
  const OrtEpDevice* const* devices = nullptr;
  Count count = 0;
  std::string failed = failure(
      api, api.register_provider_library(library.environment.get(), name.c_str(), path.c_str()));
  if (failed.empty())
    failed = failure(api, api.get_devices(library.environment.get(), &devices, &count));
  for (Count i = 0; i < count && failed.empty(); ++i) {
    if (std::string(api.device_provider(devices[i])) != "WebGpuExecutionProvider") continue;
    const FoundDevice gpu = gpu_of(library, plugin, devices[i]);
    if (runs_a_layer(library, gpu)) plugin.devices.push_back(gpu);
  }
}

/// A plug-in looks for devices when it is registered; so that with software drivers is another one.
std::vector<FoundDevice> gpus(const OrtLibrary& library, const ProviderSettings& settings) {
  struct Plugins {
    std::mutex mutex;
    std::map<std::string, Plugin> by_name;
  };
  // Never destroyed, as the library is never unloaded.
  static Plugins& plugins = *new Plugins;
  if (library.api.register_provider_library == nullptr) return {};
  const std::filesystem::path path = find_plugin(library, settings);
  if (path.empty()) return {};
  const std::lock_guard lock(plugins.mutex);
  if (settings.allow_software) ::setenv(software_variable, "1", 1);
  const std::string name =
      path.string() + (std::getenv(software_variable) == nullptr ? "" : " with software");
  const auto [at, is_new] = plugins.by_name.try_emplace(name);
  if (is_new) fill(at->second, library, path, name);
  return at->second.devices;
}

}  // namespace

std::vector<FoundDevice> find_devices(const OrtLibrary& library, const ProviderSettings& settings) {
  if (processor_kind(settings) == ProcessorKind::cpu) return gpus(library, settings);
  return {device_of_provider(library, settings)};
}

}  // namespace millrace::engine::onnxruntime
