#include "application/drawing/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "application/heads/summary.h"
#include "application/drawing/label_places.h"

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

constexpr double text_scale = 0.5;

struct TextSize {
  cv::Size all;
  int below = 0;  // the line on which the letters stand
};
TextSize text_size(const std::string& text) {
  int below = 0;
  const cv::Size size = cv::getTextSize(text, cv::FONT_HERSHEY_SIMPLEX, text_scale, 1, &below);
  return {{size.width, size.height + below + 1}, below};
}

/// A picture with the places of its texts.
struct Canvas {
  cv::Mat& image;
  LabelPlaces places;
};

/// Beside the box, where no other text is; left out if there is no room.
void write_text(Canvas& canvas, const std::string& text, const cv::Rect& box,
                const cv::Scalar& colour) {
  const TextSize size = text_size(text);
  const auto place = canvas.places.take(box, size.all);
  if (!place) return;
  cv::rectangle(canvas.image, *place, colour, cv::FILLED);
  cv::putText(canvas.image, text, {place->x, place->y + place->height - size.below},
              cv::FONT_HERSHEY_SIMPLEX, text_scale, {0, 0, 0}, 1, cv::LINE_AA);
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

/// What was found in its crop, in a word or two; empty: nothing.
std::string text_of_crop(const Findings& findings, std::size_t detection, const Labels& labels) {
  for (const CropFindings& crop : findings.crops) {
    if (crop.detection != detection) continue;
    if (crop.classes && !crop.classes->empty())
      return fmt::format(": {} {:.2f}", class_name(crop.classes->front().label, labels.of_crops),
                         crop.classes->front().value);
    if (crop.text) return ": " + crop.text->text;
  }
  return {};
}

void draw_detection(cv::Mat& image, const Detection& d, const Skeleton& skeleton) {
  const cv::Scalar colour = colour_of(d.label);
  if (d.mask) draw_mask(image, *d.mask, colour);
  const cv::Point corner(pixel(d.left), pixel(d.top));
  const cv::Point other(pixel(d.left + d.width), pixel(d.top + d.height));
  if (d.corners.empty()) cv::rectangle(image, corner, other, colour, 2);
  for (std::size_t i = 0; i < d.corners.size(); ++i)
    cv::line(image, pixel(d.corners[i]), pixel(d.corners[(i + 1) % d.corners.size()]), colour, 2);
  draw_keypoints(image, d.keypoints, skeleton, colour);
}

void write_label(Canvas& canvas, std::size_t index, const Findings& findings,
                 const Labels& labels) {
  const Detection& d = (*findings.detections)[index];
  const cv::Rect box(pixel(d.left), pixel(d.top), pixel(d.width), pixel(d.height));
  write_text(canvas,
             fmt::format("{} {:.2f}{}", class_name(d.label, labels.own), d.probability,
                         text_of_crop(findings, index, labels)),
             box, colour_of(d.label));
}

/// All labels above all boxes, the most probable first.
void draw_detections(Canvas& canvas, const Findings& findings, const Labels& labels) {
  const std::vector<Detection>& detections = *findings.detections;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < detections.size(); ++i) {
    draw_detection(canvas.image, detections[i], findings.skeleton);
    order.push_back(i);
  }
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return detections[i].probability; });
  for (const std::size_t i : order) write_label(canvas, i, findings, labels);
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

void draw(cv::Mat& image, const Findings& findings, const Labels& labels) {
  if (findings.map) draw_map(image, *findings.map);
  Canvas canvas{image, LabelPlaces(image.size())};
  int line = 0;
  const auto write = [&](const std::string& text) {
    write_text(canvas, text, {0, line, 0, 0}, {255, 255, 255});
    line += 20;
  };
  if (findings.classes)
    for (const Ranked& ranked : *findings.classes)
      write(fmt::format("{} {:.3g}", class_name(ranked.label, labels.own), ranked.value));
  if (findings.text) write(findings.text->text);
  if (findings.detections) draw_detections(canvas, findings, labels);
}

}  // namespace millrace::application
