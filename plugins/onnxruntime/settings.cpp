#include "settings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "failure.h"
#include "text.h"

namespace millrace_onnxruntime {
namespace {

/// Providers that a user may name; what they take is passed on by their own names.
constexpr std::array<std::string_view, 7> providers{"cpu",      "xnnpack", "openvino", "cuda",
                                                    "tensorrt", "qnn",     "tidl"};
/// How the library's own settings of a session begin.
constexpr std::array<std::string_view, 4> session_prefixes{"session.", "optimization.", "mlas.",
                                                           "ep."};

bool is_session_entry(std::string_view key) {
  return std::any_of(session_prefixes.begin(), session_prefixes.end(),
                     [&](std::string_view prefix) { return key.starts_with(prefix); });
}

std::string read_provider(const std::string& word) {
  if (std::find(providers.begin(), providers.end(), word) != providers.end()) return word;
  throw WrongSetting("provider=" + word + ": there is no such provider; there are " +
                  joined(providers, ", ") + did_you_mean(word, providers));
}

bool read_switch(const std::string& key, const std::string& value) {
  if (value == "1") return true;
  if (value == "0") return false;
  throw WrongSetting(key + "=" + value + ": expected 0 or 1");
}

std::string option(const ProviderSettings& settings, const std::string& name) {
  const auto at = settings.options.find(name);
  return at == settings.options.end() ? std::string() : at->second;
}

void check_options(const ProviderSettings& settings) {
  if (settings.provider != "cpu" || settings.options.empty()) return;
  constexpr std::array<std::string_view, 3> own{"provider", "allow_software", "webgpu_library"};
  const std::string& name = settings.options.begin()->first;
  throw WrongSetting(name + ": the provider cpu has no such option; known are " +
                  joined(own, ", ") +
                  ", and entries of a session such as session.intra_op.allow_spinning" +
                  did_you_mean(name, own));
}

}  // namespace

ProviderSettings read_settings(const MillraceOpening& opening) {
  ProviderSettings settings;
  for (std::size_t i = 0; i < opening.option_count; ++i) {
    const std::string key = opening.options[i].key, value = opening.options[i].value;
    if (key == "provider")
      settings.provider = read_provider(value);
    else if (key == "allow_software")
      settings.allow_software = read_switch(key, value);
    else if (key == "webgpu_library")
      settings.webgpu_library = value;
    else
      (is_session_entry(key) ? settings.session : settings.options)[key] = value;
  }
  check_options(settings);
  return settings;
}

MillraceKind kind_of(const ProviderSettings& settings) {
  const std::string& provider = settings.provider;
  if (provider == "cpu" || provider == "xnnpack") return millrace_cores;
  if (provider == "qnn" || provider == "tidl") return millrace_npu;
  if (provider == "tensorrt" && option(settings, "trt_dla_enable") == "1") return millrace_npu;
  if (provider != "openvino") return millrace_gpu;
  const std::string device = option(settings, "device_type");
  if (device.starts_with("GPU")) return millrace_gpu;
  return device.starts_with("NPU") ? millrace_npu : millrace_cores;
}

}  // namespace millrace_onnxruntime
