#include "base/text/log.h"

#include <fmt/chrono.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>

namespace millrace {
namespace {

/// Standard error is one for the process, and so is its form.
std::atomic<bool>& log_form() {
  static std::atomic<bool> is_json{false};
  return is_json;
}

}  // namespace

void write_log_as_json() { log_form() = true; }
bool is_log_json() { return log_form(); }

std::string json_log_line(std::string_view level, std::string_view text) {
  constexpr std::string_view warning = "warning: ";
  const auto now = std::chrono::system_clock::now();
  const auto whole = std::chrono::floor<std::chrono::seconds>(now);
  const auto rest = std::chrono::floor<std::chrono::milliseconds>(now - whole);
  nlohmann::json line = {
      {"level", level},
      {"text", text},
      {"time_utc", fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                               fmt::gmtime(std::chrono::system_clock::to_time_t(whole)),
                               rest.count())}};
  if (text.starts_with(warning)) {
    line["level"] = "warning";
    line["text"] = text.substr(warning.size());
  }
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace millrace
