#pragma once
// What the Vulkan drivers of this machine call their devices: ONNX Runtime's plug-in does not say.
#include <string>
#include <vector>

namespace millrace_onnxruntime {

struct VulkanDevice {
  std::string name;    // "llvmpipe (LLVM 19.1.7, 256 bits)"
  std::string driver;  // "Vulkan 1.3.289, driver 25.0.7"
  bool software = false;
};

/// In the order of the loader; none if there is no libvulkan.so.1 or no driver.
std::vector<VulkanDevice> vulkan_devices();

}  // namespace millrace_onnxruntime
