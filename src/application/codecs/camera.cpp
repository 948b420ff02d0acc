#include "application/codecs/camera.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/error.h"
#include "base/text/masked.h"

namespace millrace::application {
namespace {

constexpr std::array<std::string_view, 10> camera_schemes{"rtsp", "rtsps", "rtmp", "rtmps", "rtp",
                                                          "http", "https", "tcp",  "udp",   "srt"};

std::optional<int> device_number(std::string_view text) {
  constexpr std::string_view folder = "/dev/video";
  if (text.starts_with(folder)) text.remove_prefix(folder.size());
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// Visible ASCII without what separates the parts of a pipeline.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c <= '~' && c != '!' && c != '|'; });
}

bool is_address(std::string_view text) {
  const std::size_t end = text.find("://");
  if (end == std::string_view::npos || text.size() == end + 3 || !is_plain(text)) return false;
  const auto found = std::find(camera_schemes.begin(), camera_schemes.end(), text.substr(0, end));
  return found != camera_schemes.end();
}

}  // namespace

Camera camera_of(const std::string& text, const std::string& place) {
  if (const auto number = device_number(text)) return {number, {}};
  if (is_address(text)) return {std::nullopt, text};
  throw InputError(place, fmt::format("found the camera '{}', expected a number, a device such as "
                                      "/dev/video0, or an address without blanks, '!' and '|' that "
                                      "begins with one of {}, followed by ://",
                                      masked_address(text), fmt::join(camera_schemes, ", ")));
}

}  // namespace millrace::application
