#include "application/heads/training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "application/heads/detect.h"

namespace millrace::application {
namespace {

constexpr double grey_fill = 114.0 / 255;  // Ultralytics, YOLOX: beside the picture

ImageSettings scaled(Colours colours, std::vector<double> mean, std::vector<double> deviation) {
  ImageSettings image;
  image.colours = colours;
  image.scale = 1;
  image.mean = std::move(mean);
  image.deviation = std::move(deviation);
  return image;
}

ImageSettings boxed(Fit fit, double fill, ImageSettings image = {}) {
  image.fit = fit;
  image.fill = fill;
  return image;
}

/// Nothing: its networks are trained in several ways, or as the default is.
std::optional<ImageSettings> training_of(std::string_view head) {
  const auto same = [](double value) { return std::vector<double>(3, value); };
  if (head == "yolox") return boxed(Fit::corner, grey_fill, scaled(Colours::bgr, same(0), same(1)));
  if (head.starts_with("yolov") || head.starts_with("yolo1") || head.starts_with("yolo2") ||
      head == "end_to_end")
    return boxed(Fit::letterbox, grey_fill);
  if (head == "nanodet")
    return scaled(Colours::bgr, {103.53, 116.28, 123.675}, {57.375, 57.12, 58.395});
  if (head == "detr") {
    ImageSettings image;
    image.mean = {0.485, 0.456, 0.406};
    image.deviation = {0.229, 0.224, 0.225};
    return image;
  }
  if (head == "ultraface") return scaled(Colours::rgb, same(127), same(128));
  if (head == "retinaface") return scaled(Colours::bgr, {104, 117, 123}, same(1));
  if (head == "scrfd") return boxed(Fit::corner, 0, scaled(Colours::rgb, same(127.5), same(128)));
  return std::nullopt;
}

}  // namespace

bool take_training(Application& application, const network::Network& network) {
  if (!application.preprocess.as_trained || application.postprocess.kind != "detect") return false;
  const std::optional<ImageSettings> image = training_of(head_of(application, network));
  if (!image) return false;
  const std::optional<Layout> layout = application.preprocess.image.layout;
  application.preprocess.image = *image;
  application.preprocess.image.layout = layout;
  return true;
}

std::string pixels_text(const ImageSettings& image) {
  constexpr std::string_view fits[] = {"stretch", "letterbox", "corner"};
  constexpr std::string_view colours[] = {"rgb", "bgr", "grey"};
  const ImageSettings usual;
  std::vector<std::string> said;
  if (image.fit != usual.fit)
    said.push_back(
        fmt::format("fit: {}, fill: {:.3g}", fits[static_cast<int>(image.fit)], image.fill));
  if (image.colours != usual.colours)
    said.push_back(fmt::format("colours: {}", colours[static_cast<int>(image.colours)]));
  if (image.scale != usual.scale) said.push_back(fmt::format("scale: {:.6g}", image.scale));
  if (image.mean != usual.mean)
    said.push_back(fmt::format("mean: [{}]", fmt::join(image.mean, ", ")));
  if (image.deviation != usual.deviation)
    said.push_back(fmt::format("deviation: [{}]", fmt::join(image.deviation, ", ")));
  return fmt::format("{}", fmt::join(said, ", "));
}

}  // namespace millrace::application
