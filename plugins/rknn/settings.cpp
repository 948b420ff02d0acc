#include "settings.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

#include "failure.h"

namespace millrace_rknn {
namespace {

constexpr std::array platforms{
    Platform{"rk3588", "RK3588 NPU", 3}, Platform{"rk3576", "RK3576 NPU", 2},
    Platform{"rk3568", "RK3568 NPU", 1}, Platform{"rk3566", "RK3566 NPU", 1},
    Platform{"rk3562", "RK3562 NPU", 1}};
constexpr std::array<std::string_view, 4> keys{"platform", "python", "runtime", "keep"};

template <class Words, class NameOf>
std::string joined(const Words& words, const NameOf& name_of) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += ", ";
    text += name_of(word);
  }
  return text;
}

Platform read_platform(const std::string& word) {
  const auto* const found = std::ranges::find_if(
      platforms, [&](const Platform& platform) { return word == platform.name; });
  if (found != platforms.end()) return *found;
  throw WrongSetting("platform=" + word + ": there is no such platform; there are " +
                     joined(platforms, [](const Platform& each) { return each.name; }));
}

/// The platform of this machine, else the one that most boards have.
Platform usual_platform() {
  std::ifstream file("/proc/device-tree/compatible", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Platform* const here = platform_in(text);
  return here == nullptr ? platforms.front() : *here;
}

std::string in_environment(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

void set(NpuSettings& settings, const std::string& key, const std::string& value) {
  if (std::ranges::find(keys, key) == keys.end())
    throw WrongSetting(key + ": there is no such option; there are " +
                       joined(keys, [](std::string_view each) { return std::string(each); }));
  if (value.empty()) throw WrongSetting(key + "=: it is empty; name what it is to be");
  if (key == "platform") settings.platform = read_platform(value);
  if (key == "python") settings.python = value;
  if (key == "runtime") settings.runtime = value;
  if (key == "keep") settings.keep = value;
}

}  // namespace

const Platform* platform_in(std::string_view compatible) {
  for (const Platform& platform : platforms) {
    const std::string entry = std::string("rockchip,") + platform.name;
    for (std::size_t at = compatible.find(entry); at != std::string_view::npos;
         at = compatible.find(entry, at + 1)) {
      // "rockchip,rk3588s" is the same chip with fewer pins.
      const std::size_t end = at + entry.size();
      const char next = end < compatible.size() ? compatible[end] : '\0';
      if ((at == 0 || compatible[at - 1] == '\0') && (next == '\0' || next == 's'))
        return &platform;
    }
  }
  return nullptr;
}

NpuSettings read_settings(const MillraceOpening& opening) {
  NpuSettings settings{usual_platform(), in_environment("MILLRACE_RKNN_PYTHON"),
                    in_environment("MILLRACE_RKNN_RUNTIME"), in_environment("MILLRACE_RKNN_KEEP")};
  if (settings.python.empty()) settings.python = "python3";
  for (std::size_t i = 0; i < opening.option_count; ++i)
    set(settings, opening.options[i].key, opening.options[i].value);
  return settings;
}

}  // namespace millrace_rknn
