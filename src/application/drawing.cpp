#include "application/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace millrace::application {
namespace {

constexpr double least_keypoint = 0.5;  // probability of those that are drawn

/// Far apart for labels that follow each other.
cv::Scalar colour_of(std::int64_t label) {
  constexpr std::int64_t step = 67;  // of 180 degrees
  const auto hue = static_cast<std::uint8_t>(((label % 180) * step) % 180);
  cv::Mat pixel(1, 1, CV_8UC3, cv::Scalar(hue, 200, 255));
  cv::cvtColor(pixel, pixel, cv::COLOR_HSV2BGR);
  const auto bgr = pixel.at<cv::Vec3b>(0, 0);
  return {static_cast<double>(bgr[0]), static_cast<double>(bgr[1]), static_cast<double>(bgr[2])};
}

std::string name_of(std::int64_t label, const std::vector<std::string>& labels) {
  const bool has_name = label >= 0 && label < static_cast<std::int64_t>(labels.size());
  return has_name ? labels[static_cast<std::size_t>(label)] : fmt::format("class {}", label);
}

void write_text(cv::Mat& image, const std::string& text, cv::Point at, const cv::Scalar& colour) {
  constexpr double scale = 0.5;
  int below = 0;
  const cv::Size size = cv::getTextSize(text, cv::FONT_HERSHEY_SIMPLEX, scale, 1, &below);
  at.x = std::clamp(at.x, 0, std::max(0, image.cols - size.width));
  at.y = std::clamp(at.y, size.height, std::max(size.height, image.rows - below));
  cv::rectangle(image, {at.x, at.y - size.height - 1, size.width, size.height + below + 1}, colour,
                cv::FILLED);
  cv::putText(image, text, at, cv::FONT_HERSHEY_SIMPLEX, scale, {0, 0, 0}, 1, cv::LINE_AA);
}

/// Within what a picture can show; what is not a number at its border.
int pixel(double value) {
  return std::isnan(value) ? 0 : static_cast<int>(std::lround(std::clamp(value, -1e6, 1e6)));
}
cv::Point pixel(const Point& point) { return {pixel(point.x), pixel(point.y)}; }

void tint(cv::Vec3b& pixel, const cv::Scalar& colour) {
  for (int i = 0; i < 3; ++i)
    pixel[i] = static_cast<std::uint8_t>((pixel[i] + static_cast<int>(colour[i])) / 2);
}

void draw_mask(cv::Mat& image, const Mask& mask, const cv::Scalar& colour) {
  auto inside = mask.inside.begin();
  for (std::int64_t y = mask.top; y < mask.top + mask.height; ++y)
    for (std::int64_t x = mask.left; x < mask.left + mask.width; ++x)
      if (*inside++ != 0)
        tint(image.at<cv::Vec3b>(static_cast<int>(y), static_cast<int>(x)), colour);
}

void draw_keypoints(cv::Mat& image, const std::vector<Keypoint>& keypoints,
                    const Skeleton& skeleton, const cv::Scalar& colour) {
  const auto is_seen = [&](std::size_t i) {
    return i < keypoints.size() && keypoints[i].probability > least_keypoint;
  };
  for (const auto& [from, to] : skeleton)
    if (is_seen(from) && is_seen(to))
      cv::line(image, pixel(keypoints[from].at), pixel(keypoints[to].at), colour, 2);
  for (std::size_t i = 0; i < keypoints.size(); ++i)
    if (is_seen(i)) cv::circle(image, pixel(keypoints[i].at), 3, colour, cv::FILLED);
}

void draw_detection(cv::Mat& image, const Detection& d, const Findings& findings,
                    const std::vector<std::string>& labels) {
  const cv::Scalar colour = colour_of(d.label);
  if (d.mask) draw_mask(image, *d.mask, colour);
  const cv::Point corner(pixel(d.left), pixel(d.top));
  const cv::Point other(pixel(d.left + d.width), pixel(d.top + d.height));
  if (d.corners.empty()) cv::rectangle(image, corner, other, colour, 2);
  for (std::size_t i = 0; i < d.corners.size(); ++i)
    cv::line(image, pixel(d.corners[i]), pixel(d.corners[(i + 1) % d.corners.size()]), colour, 2);
  draw_keypoints(image, d.keypoints, findings.skeleton, colour);
  write_text(image, fmt::format("{} {:.2f}", name_of(d.label, labels), d.probability), corner,
             colour);
}

/// Class 0 is the background in many networks, and stays as it is.
void draw_map(cv::Mat& image, const ClassMap& map) {
  if (image.cols != map.width || image.rows != map.height) return;
  std::vector<cv::Scalar> colours;
  for (std::int64_t label = 0; label < 256; ++label) colours.push_back(colour_of(label));
  auto label = map.classes.begin();
  for (int y = 0; y < image.rows; ++y)
    for (int x = 0; x < image.cols; ++x, ++label)
      if (*label != 0) tint(image.at<cv::Vec3b>(y, x), colours[*label]);
}

}  // namespace

void draw(cv::Mat& image, const Findings& findings, const std::vector<std::string>& labels) {
  if (findings.map) draw_map(image, *findings.map);
  if (findings.detections)
    for (const Detection& detection : *findings.detections)
      draw_detection(image, detection, findings, labels);
  int line = 20;
  const auto write = [&](const std::string& text) {
    write_text(image, text, {0, line}, {255, 255, 255});
    line += 20;
  };
  if (findings.classes)
    for (const Ranked& ranked : *findings.classes)
      write(fmt::format("{} {:.3g}", name_of(ranked.label, labels), ranked.value));
  if (findings.text) write(findings.text->text);
}

}  // namespace millrace::application
