#include "settings.h"

#include <charconv>
#include <string>
#include <string_view>

#include "failure.h"

namespace millrace_tensorrt {
namespace {

long long integer(std::string_view key, std::string_view text, long long least, long long most) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw WrongSetting(std::string(key) + ": found '" + std::string(text) + "', expected " +
                       std::to_string(least) + " to " + std::to_string(most));
  return value;
}

void take(Settings& settings, std::string_view key, std::string_view value) {
  constexpr long long most_gpus = 64, most_mib = 1 << 20, highest_level = 5;
  if (key == "parser")
    settings.parser = value;
  else if (key == "gpu")
    settings.gpu = static_cast<int>(integer(key, value, 0, most_gpus));
  else if (key == "level")
    settings.level = static_cast<int>(integer(key, value, 0, highest_level));
  else if (key == "workspace_mib")
    settings.workspace = static_cast<std::size_t>(integer(key, value, 1, most_mib)) << 20;
  else
    throw WrongSetting("there is no option '" + std::string(key) +
                       "'; there are gpu, level, parser and workspace_mib");
}

}  // namespace

Settings read_settings(const MillraceOpening& opening) {
  Settings settings;
  if (opening.library != nullptr) settings.library = opening.library;
  for (std::size_t i = 0; i < opening.option_count; ++i)
    take(settings, opening.options[i].key, opening.options[i].value);
  return settings;
}

}  // namespace millrace_tensorrt
