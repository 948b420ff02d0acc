#include "vulkan.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace millrace_onnxruntime {
namespace {

// Vulkan's names and layouts, as of version 1.0; its headers are not needed to build.
using Instance = void*;
using PhysicalDevice = void*;
constexpr int success = 0, incomplete = 5, kind_cpu = 4;

struct InstanceCreateInfo {
  int type = 1;  // VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
  const void* next = nullptr;
  std::uint32_t flags = 0;
  const void* application = nullptr;
  std::uint32_t layers = 0;
  const char* const* layer_names = nullptr;
  std::uint32_t extensions = 0;
  const char* const* extension_names = nullptr;
};

/// What is not used follows: limits and features.
struct PhysicalDeviceProperties {
  std::uint32_t api_version = 0, driver_version = 0, vendor = 0, device = 0;
  int kind = 0;
  std::array<char, 256> name{};
  std::array<std::byte, 2048> rest{};
};

class Loader {
 public:
  Loader() : library_(::dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL)) {
    const InstanceCreateInfo info;
    const auto create =
        function<int(const InstanceCreateInfo*, const void*, Instance*)>("vkCreateInstance");
    if (create != nullptr && create(&info, nullptr, &instance_) != success) instance_ = nullptr;
  }
  /// The library stays: drivers do not always bear to be unloaded.
  ~Loader() {
    const auto destroy = function<void(Instance, const void*)>("vkDestroyInstance");
    if (instance_ != nullptr && destroy != nullptr) destroy(instance_, nullptr);
  }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  std::vector<PhysicalDeviceProperties> devices() const {
    std::array<PhysicalDevice, 16> found{};
    std::uint32_t count = found.size();
    const auto enumerate =
        function<int(Instance, std::uint32_t*, PhysicalDevice*)>("vkEnumeratePhysicalDevices");
    const auto describe =
        function<void(PhysicalDevice, PhysicalDeviceProperties*)>("vkGetPhysicalDeviceProperties");
    if (instance_ == nullptr || enumerate == nullptr || describe == nullptr) return {};
    const int result = enumerate(instance_, &count, found.data());
    if (result != success && result != incomplete) return {};
    std::vector<PhysicalDeviceProperties> properties(count);
    for (std::uint32_t i = 0; i < count; ++i) describe(found[i], &properties[i]);
    return properties;
  }

 private:
  template <class Signature>
  Signature* function(const char* name) const {
    if (library_ == nullptr) return nullptr;
    return reinterpret_cast<Signature*>(::dlsym(library_, name));
  }

  void* library_;
  Instance instance_ = nullptr;
};

std::string version_text(std::uint32_t version) {
  return std::to_string(version >> 22 & 0x7f) + "." + std::to_string(version >> 12 & 0x3ff) + "." +
         std::to_string(version & 0xfff);
}

}  // namespace

std::vector<VulkanDevice> vulkan_devices() {
  std::vector<VulkanDevice> result;
  for (PhysicalDeviceProperties& device : Loader().devices()) {
    device.name.back() = '\0';
    result.push_back({device.name.data(),
                      "Vulkan " + version_text(device.api_version) + ", driver " +
                          version_text(device.driver_version),
                      device.kind == kind_cpu});
  }
  return result;
}

}  // namespace millrace_onnxruntime
