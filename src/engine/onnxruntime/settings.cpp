#include "engine/onnxruntime/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace millrace::engine::onnxruntime {
namespace {

using board::ProcessorKind;
constexpr const char* place = "engine option of onnxruntime";

/// Those that a user may name; what they take is passed on by their own names.
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
  throw InputError(place,
                   fmt::format("provider={}: there is no such provider; there are {}{}", word,
                               fmt::join(providers, ", "), did_you_mean(word, providers)));
}

bool read_switch(const std::string& key, const std::string& value) {
  if (value == "1") return true;
  if (value == "0") return false;
  throw InputError(place, fmt::format("{}={}: expected 0 or 1", key, value));
}

std::string option(const ProviderSettings& settings, const std::string& name) {
  const auto at = settings.options.find(name);
  return at == settings.options.end() ? std::string() : at->second;
}

void check_options(const ProviderSettings& settings) {
  if (settings.provider != "cpu" || settings.options.empty()) return;
  constexpr std::array<std::string_view, 3> own{"provider", "allow_software", "webgpu_library"};
  const std::string& name = settings.options.begin()->first;
  throw InputError(
      place, fmt::format("{}: the provider cpu has no such option; known are {}, and entries of a "
                         "session such as session.intra_op.allow_spinning{}",
                         name, fmt::join(own, ", "), did_you_mean(name, own)));
}

}  // namespace

ProviderSettings read_settings(const EngineOptions& options) {
  ProviderSettings settings;
  const auto given = options.settings.find("onnxruntime");
  if (given == options.settings.end()) return settings;
  for (const auto& [key, value] : given->second) {
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

ProcessorKind processor_kind(const ProviderSettings& settings) {
  const std::string& provider = settings.provider;
  if (provider == "cpu" || provider == "xnnpack") return ProcessorKind::cpu;
  if (provider == "qnn" || provider == "tidl") return ProcessorKind::npu;
  if (provider == "tensorrt" && option(settings, "trt_dla_enable") == "1")
    return ProcessorKind::npu;
  if (provider != "openvino") return ProcessorKind::gpu;
  const std::string device = option(settings, "device_type");
  if (device.starts_with("GPU")) return ProcessorKind::gpu;
  return device.starts_with("NPU") ? ProcessorKind::npu : ProcessorKind::cpu;
}

std::string to_text(const ProviderSettings& settings) {
  std::vector<std::string> parts;
  if (settings.provider != "cpu") parts.push_back("provider=" + settings.provider);
  for (const auto* entries : {&settings.options, &settings.session})
    for (const auto& [key, value] : *entries) parts.push_back(key + "=" + value);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace millrace::engine::onnxruntime
