#include "application/codecs/pnm.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <opencv2/imgproc.hpp>
#include <optional>

namespace millrace::application {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";
constexpr int highest_value = 65535;
constexpr std::size_t most_samples = std::size_t{1} << 30;

struct PnmHeader {
  int width = 0, height = 0, highest = 0;
  bool is_text = false;
  int channels = 1;

  std::size_t samples() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(channels);
  }
};

/// After blanks and comments; nothing if there is none within the bounds.
std::optional<int> take_number(std::string_view& rest, int lowest, int highest) {
  while (!rest.empty()) {
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    if (!rest.starts_with('#')) break;
    rest.remove_prefix(std::min(rest.find_first_of("\r\n"), rest.size()));
  }
  int number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc{} || number < lowest || number > highest) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return number;
}

/// `rest`: what follows the header.
std::optional<PnmHeader> take_header(std::string_view& rest) {
  PnmHeader header;
  header.is_text = rest[1] == '2' || rest[1] == '3';
  header.channels = rest[1] == '3' || rest[1] == '6' ? 3 : 1;
  rest.remove_prefix(2);
  constexpr int longest = 1 << 20;
  const auto width = take_number(rest, 1, longest), height = take_number(rest, 1, longest);
  const auto highest = take_number(rest, 1, highest_value);
  if (!width || !height || !highest || rest.empty()) return std::nullopt;
  header.width = *width;
  header.height = *height;
  header.highest = *highest;
  rest.remove_prefix(1);
  return header;
}

/// The next one, 0 to 255; nothing if it is missing.
std::optional<std::uint8_t> take_sample(std::string_view& rest, const PnmHeader& header) {
  int value = 0;
  if (header.is_text) {
    const auto number = take_number(rest, 0, highest_value);
    if (!number) return std::nullopt;
    value = *number;
  } else {
    const std::size_t bytes = header.highest > 255 ? 2 : 1;
    if (rest.size() < bytes) return std::nullopt;
    for (std::size_t i = 0; i < bytes; ++i)
      value = value * 256 + static_cast<unsigned char>(rest[i]);
    rest.remove_prefix(bytes);
  }
  value = std::min(value, header.highest);
  return static_cast<std::uint8_t>((value * 255 + header.highest / 2) / header.highest);
}

}  // namespace

bool is_pnm(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' &&
         std::string_view("2356").find(bytes[1]) != std::string_view::npos &&
         (blanks.find(bytes[2]) != std::string_view::npos || bytes[2] == '#');
}

cv::Mat read_pnm(std::string_view bytes, bool grey) {
  const auto header = take_header(bytes);
  if (!header || header->samples() > most_samples || bytes.size() < header->samples()) return {};
  const bool is_colour = header->channels == 3;
  cv::Mat image(header->height, header->width, is_colour ? CV_8UC3 : CV_8UC1);
  for (std::size_t i = 0; i < header->samples(); ++i) {
    const auto sample = take_sample(bytes, *header);
    if (!sample) return {};
    image.data[i] = *sample;
  }
  if (is_colour) cv::cvtColor(image, image, grey ? cv::COLOR_RGB2GRAY : cv::COLOR_RGB2BGR);
  if (!is_colour && !grey) cv::cvtColor(image, image, cv::COLOR_GRAY2BGR);
  return image;
}

}  // namespace millrace::application
