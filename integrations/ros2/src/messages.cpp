#include "millrace_ros/messages.hpp"

#include <cstdint>

namespace millrace_ros {
namespace {

/// Without the fourth byte of each pixel.
std::vector<std::uint8_t> without_alpha(const sensor_msgs::msg::Image& message) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(std::size_t{3} * message.width * message.height);
  for (std::uint32_t y = 0; y < message.height; ++y) {
    const std::uint8_t* pixel = message.data.data() + std::size_t{y} * message.step;
    for (std::uint32_t x = 0; x < message.width; ++x, pixel += 4)
      pixels.insert(pixels.end(), pixel, pixel + 3);
  }
  return pixels;
}

millrace::Image copy_of(const sensor_msgs::msg::Image& message, const void* data,
                        millrace::PixelFormat format, std::int64_t stride) {
  return millrace::Image::copy_of({static_cast<int>(message.width),
                                   static_cast<int>(message.height), data, format, stride});
}

vision_msgs::msg::Detection2D detection_of(const std_msgs::msg::Header& header,
                                           const millrace::Detection& from,
                                           const std::vector<std::string>& labels) {
  vision_msgs::msg::Detection2D to;
  to.header = header;
  to.bbox.center.position.x = from.left + from.width / 2;
  to.bbox.center.position.y = from.top + from.height / 2;
  to.bbox.size_x = from.width;
  to.bbox.size_y = from.height;
  vision_msgs::msg::ObjectHypothesisWithPose hypothesis;
  const auto index = static_cast<std::size_t>(from.label);
  hypothesis.hypothesis.class_id =
      from.label >= 0 && index < labels.size() ? labels[index] : std::to_string(from.label);
  hypothesis.hypothesis.score = from.probability;
  to.results.push_back(hypothesis);
  return to;
}

}  // namespace

std::optional<millrace::Image> image_of(const sensor_msgs::msg::Image& message) {
  const std::string& encoding = message.encoding;
  const bool is_rgb = encoding == "rgb8" || encoding == "rgba8";
  const bool is_bgr = encoding == "bgr8" || encoding == "bgra8";
  if (!is_rgb && !is_bgr && encoding != "mono8") return std::nullopt;
  const std::size_t bytes = encoding == "mono8" ? 1 : encoding.size() == 5 ? 4 : 3;
  const bool is_short = std::size_t{message.step} < bytes * message.width ||
                        message.data.size() < std::size_t{message.step} * message.height;
  if (is_short || message.width == 0 || message.height == 0) return std::nullopt;
  const millrace::PixelFormat format = is_rgb   ? millrace::PixelFormat::rgb
                                       : is_bgr ? millrace::PixelFormat::bgr
                                                : millrace::PixelFormat::grey;
  if (bytes != 4) return copy_of(message, message.data.data(), format, message.step);
  return copy_of(message, without_alpha(message).data(), format, std::int64_t{3} * message.width);
}

vision_msgs::msg::Detection2DArray detections_of(const std_msgs::msg::Header& header,
                                                 const millrace::Findings& findings,
                                                 const std::vector<std::string>& labels) {
  vision_msgs::msg::Detection2DArray array;
  array.header = header;
  if (!findings.detections) return array;
  for (const millrace::Detection& each : *findings.detections)
    array.detections.push_back(detection_of(header, each, labels));
  return array;
}

}  // namespace millrace_ros
