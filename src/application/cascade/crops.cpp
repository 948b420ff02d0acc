#include "application/cascade/crops.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"

namespace millrace::application {
namespace {

std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Along one axis of a picture of so many pixels: the first pixel, and how many.
std::pair<std::int64_t, std::int64_t> pixels_of(double begin, double length, double margin,
                                                std::int64_t size) {
  const double whole = static_cast<double>(size);
  const double first = std::floor(begin - margin * length);
  const double end = std::ceil(begin + length + margin * length);
  const auto from = static_cast<std::int64_t>(std::clamp(first, 0.0, whole));
  const auto to = static_cast<std::int64_t>(std::clamp(end, 0.0, whole));
  return {from, length > 0 ? to - from : 0};
}

CropFindings crop_of(const Detection& box, double margin, const Image& image) {
  CropFindings crop;
  std::tie(crop.left, crop.width) =
      pixels_of(rounded(box.left), rounded(box.width), margin, image.width);
  std::tie(crop.top, crop.height) =
      pixels_of(rounded(box.top), rounded(box.height), margin, image.height);
  return crop;
}

}  // namespace

Application application_of_crops(const Application& application) {
  const Crops& crops = *application.crops;
  Application result;
  result.name = application.name + " (crops)";
  result.file = application.file;
  result.model = crops.model;
  result.input.place = crops.place;
  result.preprocess = crops.preprocess;
  result.postprocess = crops.postprocess;
  result.labels = crops.labels;
  result.labels_file = crops.labels_file;
  result.mapping.plan = crops.plan;
  return result;
}

std::vector<std::int64_t> wanted_classes(const Application& application) {
  const Crops& crops = *application.crops;
  const std::vector<std::string>& labels = application.labels;
  std::vector<std::int64_t> wanted;
  for (const std::string& name : crops.classes) {
    const auto label = std::ranges::find(labels, name);
    const auto number = number_in(name);
    if (label == labels.end() && !number) {
      const std::vector<std::string_view> known(labels.begin(), labels.end());
      if (!labels.empty())
        throw InputError(crops.classes_place, fmt::format("the boxes have no label '{}'{}", name,
                                                          did_you_mean(name, known)));
      throw InputError(crops.classes_place,
                       fmt::format("found '{}', but the boxes have no labels; add 'labels' to the "
                                   "application, or give the number of the class",
                                   name));
    }
    wanted.push_back(label != labels.end() ? label - labels.begin() : *number);
  }
  return wanted;
}

void choose_crops(const CropParts& parts, const Picture& picture, Findings& findings) {
  if (!findings.detections)
    throw InputError("detections", "the post-processing gave none; crops need its boxes");
  if (picture.image.empty())
    throw InputError("picture", "the frame is an array, and crops are cut from pictures");
  const std::vector<Detection>& boxes = *findings.detections;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const bool is_wanted = parts.classes.empty() ||
                           std::ranges::find(parts.classes, boxes[i].label) != parts.classes.end();
    if (!is_wanted) continue;
    CropFindings crop = crop_of(boxes[i], parts.crops->margin, picture.image);
    crop.detection = i;
    if (crop.width <= 0 || crop.height <= 0)
      ++findings.outside;
    else if (static_cast<std::int64_t>(findings.crops.size()) == parts.crops->most)
      ++findings.not_cropped;
    else
      findings.crops.push_back(std::move(crop));
  }
}

Picture cut(const Picture& picture, const CropFindings& crop) {
  constexpr std::int64_t channels = 3;
  const std::int64_t row = crop.width * channels;
  auto pixels = std::make_shared<network::Buffer>(
      network::Buffer::uninitialized(Bytes{row * crop.height}));
  const std::uint8_t* from = picture.image.bytes().data();
  for (std::int64_t y = 0; y < crop.height; ++y)
    std::memcpy(pixels->data() + y * row,
                from + ((crop.top + y) * picture.image.width + crop.left) * channels,
                static_cast<std::size_t>(row));
  Picture result = picture;
  result.image = {static_cast<int>(crop.width), static_cast<int>(crop.height), std::move(pixels)};
  return result;
}

void add_findings(Findings found, std::size_t index, Findings& all) {
  CropFindings& crop = all.crops[index];
  const bool is_point_set = found.detections && found.detections->size() == 1 &&
                            !found.detections->front().keypoints.empty();
  if ((found.detections && !is_point_set) || found.map)
    throw InputError("findings",
                     "found boxes or a map in a crop; expected classes, keypoints of one object, "
                     "an embedding, text or JSON");
  crop.classes = std::move(found.classes);
  crop.embedding = std::move(found.embedding);
  crop.text = std::move(found.text);
  crop.json = std::move(found.json);
  if (!is_point_set) return;
  std::vector<Keypoint>& keypoints = found.detections->front().keypoints;
  for (Keypoint& keypoint : keypoints) {
    keypoint.at.x += static_cast<double>(crop.left);
    keypoint.at.y += static_cast<double>(crop.top);
  }
  (*all.detections)[crop.detection].keypoints = std::move(keypoints);
  all.skeleton = std::move(found.skeleton);
}

}  // namespace millrace::application
