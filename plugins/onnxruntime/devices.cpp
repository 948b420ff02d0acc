#include "devices.h"

#include <array>
#include <cstdlib>
#include <map>

#include "qnn.h"
#include "questions.h"
#include "vulkan.h"

namespace millrace_onnxruntime {
namespace {

constexpr const char* plugin_file = "onnxruntime_ep_webgpu/libonnxruntime_providers_webgpu.so";
constexpr const char* software_variable = "ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER";

/// An ONNX model: y is the Relu of x, both float32 with one element.
constexpr std::array<unsigned char, 64> relu{
    0x08, 0x07, 0x3a, 0x38, 0x0a, 0x11, 0x0a, 0x01, 0x78, 0x12, 0x01, 0x79, 0x1a, 0x03,
    0x23, 0x30, 0x23, 0x22, 0x04, 0x52, 0x65, 0x6c, 0x75, 0x12, 0x01, 0x67, 0x5a, 0x0f,
    0x0a, 0x01, 0x78, 0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02, 0x08,
    0x01, 0x62, 0x0f, 0x0a, 0x01, 0x79, 0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04,
    0x0a, 0x02, 0x08, 0x01, 0x42, 0x02, 0x10, 0x0d};

std::filesystem::path find_plugin(const Provider& provider, const MillraceOpening& opening) {
  if (!provider.settings.webgpu_library.empty()) return provider.settings.webgpu_library;
  return find_in_packages(*provider.library, opening, plugin_file);
}

/// Registered once in a process, as the library wants it; all sessions take turns.
struct Plugin {
  std::mutex turns;
  std::vector<FoundDevice> devices;
};

/// Whether it runs a layer: a GPU without a driver is listed too.
bool runs_a_layer(const FoundDevice& found) {
  const std::int64_t shape = 1;
  const MillraceTensor one{"x", millrace_float32, 1, &shape, nullptr, sizeof(float), 0, 0, 0};
  std::array<MillraceTensor, 2> tensors{one, one};
  tensors.back().name = "y";
  const std::int32_t x = 0, y = 1;
  MillraceNode node{};
  node.op = "Relu";
  node.inputs = &x;
  node.outputs = &y;
  node.input_count = node.output_count = 1;
  MillraceSubnet subnet{};
  subnet.onnx = relu.data();
  subnet.onnx_bytes = relu.size();
  subnet.tensors = tensors.data();
  subnet.tensor_count = tensors.size();
  subnet.nodes = &node;
  subnet.inputs = &x;
  subnet.outputs = &y;
  subnet.node_count = subnet.layer_count = subnet.input_count = subnet.output_count = 1;
  return can_run(found.provider, subnet).reason == millrace_runs;
}

FoundDevice gpu_of(const Provider& provider, Plugin& plugin, const OrtEpDevice* gpu) {
  const Api& api = provider.library->api;
  const bool software = api.hardware_type(api.device_hardware(gpu)) == hardware_cpu;
  const std::size_t index = plugin.devices.size();
  std::vector<VulkanDevice> drivers = vulkan_devices();
  std::erase_if(drivers, [&](const VulkanDevice& d) { return d.software != software; });
  const VulkanDevice driver =
      index < drivers.size() ? drivers[index] : VulkanDevice{"GPU", "unknown driver"};
  FoundDevice found{"gpu" + std::to_string(index), driver.name,
                    driver.driver + (software ? ", computes on cores" : ""), millrace_gpu, provider};
  found.provider.settings.provider = "webgpu";
  found.provider.settings.options.clear();
  found.provider.device = gpu;
  found.provider.turns = &plugin.turns;
  return found;
}

void fill(Plugin& plugin, const Provider& provider, const std::filesystem::path& path,
          const std::string& name) {
  const Api& api = provider.library->api;
  OrtEnv* const environment = provider.library->environment.get();
  const OrtEpDevice* const* devices = nullptr;
  Count count = 0;
  std::string failed =
      failure(api, api.register_provider_library(environment, name.c_str(), path.c_str()));
  if (failed.empty()) failed = failure(api, api.get_devices(environment, &devices, &count));
  for (Count i = 0; i < count && failed.empty(); ++i) {
    if (std::string(api.device_provider(devices[i])) != "WebGpuExecutionProvider") continue;
    const FoundDevice gpu = gpu_of(provider, plugin, devices[i]);
    if (runs_a_layer(gpu)) plugin.devices.push_back(gpu);
  }
}

/// A plug-in looks for devices when it is registered; so that with software drivers is another one.
std::vector<FoundDevice> gpus(const Provider& provider, const MillraceOpening& opening) {
  struct Plugins {
    std::mutex mutex;
    std::map<std::string, Plugin> by_name;
  };
  // Never destroyed, as the library is never unloaded.
  static Plugins& plugins = *new Plugins;
  if (provider.library->api.register_provider_library == nullptr) return {};
  const std::filesystem::path path = find_plugin(provider, opening);
  if (path.empty()) return {};
  const std::lock_guard lock(plugins.mutex);
  if (provider.settings.allow_software) ::setenv(software_variable, "1", 1);
  const std::string name =
      path.string() + (std::getenv(software_variable) == nullptr ? "" : " with software");
  const auto [at, is_new] = plugins.by_name.try_emplace(name);
  if (is_new) fill(at->second, provider, path, name);
  std::vector<FoundDevice> found = at->second.devices;
  for (FoundDevice& device : found) {
    device.provider.settings.session = provider.settings.session;
    device.provider.compiled = provider.compiled;
  }
  return found;
}

}  // namespace

std::vector<FoundDevice> find_devices(const Provider& provider, const MillraceOpening& opening) {
  const std::string version = "ONNX Runtime " + provider.library->version;
  const MillraceKind kind = kind_of(provider.settings);
  std::vector<FoundDevice> found{{"cpu", "cores", version, millrace_cores, provider}};
  if (kind == millrace_cores) {
    std::vector<FoundDevice> more = gpus(provider, opening);
    found.insert(found.end(), more.begin(), more.end());
    return found;
  }
  // On cores the library's own provider stands in for one of another processor.
  found.front().provider.settings.provider = "cpu";
  found.front().provider.settings.options.clear();
  found.front().provider.device = nullptr;
  found.front().provider.turns = nullptr;
  found.push_back({kind == millrace_gpu ? "gpu0" : "npu0", provider.settings.provider,
                   version + (is_emulated(provider) ? ", computes on cores" : ""), kind, provider});
  return found;
}

}  // namespace millrace_onnxruntime
