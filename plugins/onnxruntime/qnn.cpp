#include "qnn.h"

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "failure.h"

namespace millrace_onnxruntime {
namespace {

constexpr const char* package_file = "onnxruntime_qnn/libonnxruntime_providers_qnn.so";
constexpr const char* htp_file = "libQnnHtp.so";
constexpr const char* registered_name = "QNN";  // also what its devices say

/// Registered once in a process, as the library wants it; sessions take turns, as on the HTP.
struct Package {
  std::mutex mutex, turns;
  std::set<std::filesystem::path> registered;
};

/// Never destroyed, as the library is never unloaded.
Package& package() {
  static Package& one = *new Package;
  return one;
}

void register_once(const Provider& provider, const std::filesystem::path& path) {
  const std::lock_guard lock(package().mutex);
  if (package().registered.contains(path)) return;
  check(provider.library->api,
        provider.library->api.register_provider_library(provider.library->environment.get(),
                                                        registered_name, path.c_str()));
  package().registered.insert(path);
}

/// An NPU before the cores that stand in for it.
const OrtEpDevice* find_device(const Provider& provider) {
  const Api& api = provider.library->api;
  const OrtEpDevice* const* devices = nullptr;
  Count count = 0;
  check(api, api.get_devices(provider.library->environment.get(), &devices, &count));
  const OrtEpDevice* found = nullptr;
  for (Count i = 0; i < count; ++i) {
    if (!std::string_view(api.device_provider(devices[i])).starts_with("QNN")) continue;
    if (api.hardware_type(api.device_hardware(devices[i])) == hardware_npu) return devices[i];
    if (found == nullptr) found = devices[i];
  }
  return found;
}

}  // namespace

void use_qnn_package(Provider& provider, const MillraceOpening& opening) {
  if (provider.library->api.register_provider_library == nullptr) return;
  const auto path = find_in_packages(*provider.library, opening, package_file);
  if (path.empty()) return;
  register_once(provider, path);
  provider.device = find_device(provider);
  if (provider.device == nullptr)
    throw LibraryFailure(path.string() + " finds no device; update ONNX Runtime, which is " +
                         provider.library->version);
  provider.turns = &package().turns;
  auto& options = provider.settings.options;
  if (!options.contains("backend_type"))
    options.try_emplace("backend_path", (path.parent_path() / htp_file).string());
}

bool is_emulated(const Provider& provider) {
  if (provider.device == nullptr || provider.settings.provider != "qnn") return false;
  const Api& api = provider.library->api;
  return api.hardware_type(api.device_hardware(provider.device)) == hardware_cpu;
}

}  // namespace millrace_onnxruntime
