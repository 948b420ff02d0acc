#include "face/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <opencv2/core.hpp>
#include <utility>

#include "application/image_file.h"
#include "application/sink.h"
#include "base/error.h"
#include "face/access.h"
#include "face/call.h"

namespace millrace {
namespace {

/// Between Ranked and application::Ranked.
template <class To, class From>
std::vector<To> ranked_of(const std::vector<From>& from) {
  std::vector<To> to;
  for (const From& each : from) to.push_back({each.label, each.value});
  return to;
}

}  // namespace

inline namespace v1 {
namespace {

/// Where red, green and blue of a pixel are.
struct Offsets {
  std::size_t bytes, red, green, blue;
};

Offsets offsets_of(PixelFormat format) {
  switch (format) {
    case PixelFormat::bgr:
      return {3, 2, 1, 0};
    case PixelFormat::grey:
      return {1, 0, 0, 0};
    case PixelFormat::rgb:
      break;
  }
  return {3, 0, 1, 2};
}

void check_size(const Pixels& of) {
  if (of.width <= 0 || of.height <= 0)
    throw InputError("image", fmt::format("found {} x {} pixels, expected one at least", of.width,
                                          of.height));
}

}  // namespace

Image Image::copy_of(const Pixels& from) {
  return face::guarded([&] {
    check_size(from);
    const auto [width, height, pixels, format, stride] = from;
    const Offsets at = offsets_of(format);
    const auto columns = static_cast<std::size_t>(width), rows = static_cast<std::size_t>(height);
    const std::size_t step = stride > 0 ? static_cast<std::size_t>(stride) : columns * at.bytes;
    auto memory = network::Buffer::uninitialized(Bytes{std::int64_t{3} * width * height});
    auto* out = reinterpret_cast<std::uint8_t*>(memory.data());
    for (std::size_t y = 0; y < rows; ++y) {
      const auto* pixel = static_cast<const std::uint8_t*>(pixels) + y * step;
      if (format == PixelFormat::rgb) {  // as it is stored
        out = std::copy_n(pixel, columns * at.bytes, out);
        continue;
      }
      for (std::size_t x = 0; x < columns; ++x, pixel += at.bytes) {
        *out++ = pixel[at.red];
        *out++ = pixel[at.green];
        *out++ = pixel[at.blue];
      }
    }
    return face::image_of(
        {width, height, std::make_shared<const network::Buffer>(std::move(memory))});
  });
}

Image Image::view_of(const Pixels& from, std::shared_ptr<const void> owner) {
  const std::int64_t row = std::int64_t{3} * from.width;
  if (from.format != PixelFormat::rgb || (from.stride > 0 && from.stride != row))
    return copy_of(from);
  return face::guarded([&] {
    check_size(from);
    struct Shared {
      std::shared_ptr<const void> owner;
      network::Buffer buffer;
    };
    const auto shared = std::make_shared<const Shared>(
        Shared{std::move(owner), network::Buffer::borrowed(from.data, Bytes{row * from.height})});
    return face::image_of({from.width, from.height, {shared, &shared->buffer}});
  });
}

Image Image::from_file(const std::string& path) {
  return face::guarded([&] {
    const cv::Mat decoded = application::decode_image(path, false);
    return copy_of({decoded.cols, decoded.rows, decoded.data, PixelFormat::bgr,
                    static_cast<std::int64_t>(decoded.step[0])});
  });
}

int Image::width() const { return impl() != nullptr ? impl()->image.width : 0; }
int Image::height() const { return impl() != nullptr ? impl()->image.height : 0; }
const std::uint8_t* Image::rgb() const {
  return impl() != nullptr ? impl()->image.bytes().data() : nullptr;
}

namespace {

application::Detection detection_of(const Detection& from) {
  application::Detection to;
  to.label = from.label;
  to.probability = from.probability;
  to.left = from.left;
  to.top = from.top;
  to.width = from.width;
  to.height = from.height;
  for (const Point& corner : from.corners) to.corners.push_back({corner.x, corner.y});
  for (const Keypoint& point : from.keypoints)
    to.keypoints.push_back({{point.at.x, point.at.y}, point.probability});
  if (const auto& mask = from.mask)
    to.mask = application::Mask{mask->left, mask->top, mask->width, mask->height, mask->inside};
  return to;
}

application::CropFindings crop_of(const CropFindings& from) {
  application::CropFindings to;
  to.detection = from.detection;
  to.left = from.left;
  to.top = from.top;
  to.width = from.width;
  to.height = from.height;
  if (from.classes) to.classes = ranked_of<application::Ranked>(*from.classes);
  to.embedding = from.embedding;
  if (from.text) to.text = application::ReadText{from.text->text, from.text->probability};
  to.json = from.json;
  return to;
}

application::Findings findings_from(const Findings& from) {
  application::Findings to;
  if (from.detections) {
    to.detections.emplace();
    for (const Detection& each : *from.detections) to.detections->push_back(detection_of(each));
  }
  if (from.classes) to.classes = ranked_of<application::Ranked>(*from.classes);
  if (from.map)
    to.map = application::ClassMap{from.map->width, from.map->height, from.map->classes};
  to.embedding = from.embedding;
  if (from.text) to.text = application::ReadText{from.text->text, from.text->probability};
  to.json = from.json;
  for (const CropFindings& crop : from.crops) to.crops.push_back(crop_of(crop));
  to.not_cropped = from.not_cropped;
  to.outside = from.outside;
  return to;
}

}  // namespace

std::string to_json(const Findings& findings, const std::vector<std::string>& labels,
                    const std::vector<std::string>& labels_of_crops) {
  return face::guarded([&] {
    return application::findings_json(findings_from(findings), {labels, labels_of_crops});
  });
}

Image draw(const Image& image, const Findings& findings, const std::vector<std::string>& labels) {
  return draw(image, findings, labels, {});
}

Image draw(const Image& image, const Findings& findings, const std::vector<std::string>& labels,
           const std::vector<std::string>& labels_of_crops) {
  return face::guarded([&] {
    application::Outcome outcome;
    outcome.picture = face::picture_of(image, 0);
    outcome.findings = findings_from(findings);
    return face::image_of(application::drawn(outcome, {labels, labels_of_crops}));
  });
}

}  // namespace v1

namespace face {
namespace {

Detection detection_of(application::Detection from) {
  Detection to;
  to.label = from.label;
  to.probability = from.probability;
  to.left = from.left;
  to.top = from.top;
  to.width = from.width;
  to.height = from.height;
  for (const application::Point& corner : from.corners) to.corners.push_back({corner.x, corner.y});
  for (const application::Keypoint& point : from.keypoints)
    to.keypoints.push_back({{point.at.x, point.at.y}, point.probability});
  if (from.mask)
    to.mask = Mask{from.mask->left, from.mask->top, from.mask->width, from.mask->height,
                   std::move(from.mask->inside)};
  return to;
}

CropFindings crop_of(application::CropFindings from) {
  CropFindings to;
  to.detection = from.detection;
  to.left = from.left;
  to.top = from.top;
  to.width = from.width;
  to.height = from.height;
  if (from.classes) to.classes = ranked_of<Ranked>(*from.classes);
  to.embedding = std::move(from.embedding);
  if (from.text) to.text = ReadText{std::move(from.text->text), from.text->probability};
  to.json = std::move(from.json);
  return to;
}

}  // namespace

Image image_of(application::Image image) {
  if (image.empty()) return {};
  return Access::make<Image>(std::move(image));
}

application::Picture picture_of(const Image& image, std::int64_t number) {
  if (image.rgb() == nullptr) throw InputError("image", "is empty, expected a picture");
  application::Picture picture;
  picture.frame = number;
  picture.name = fmt::format("{}", number);
  picture.image = Access::of(image).image;
  picture.taken = std::chrono::steady_clock::now();
  return picture;
}

Findings findings_of(application::Findings from) {
  Findings to;
  if (from.detections) {
    to.detections.emplace();
    for (application::Detection& each : *from.detections)
      to.detections->push_back(detection_of(std::move(each)));
  }
  if (from.classes) to.classes = ranked_of<Ranked>(*from.classes);
  if (from.map) to.map = ClassMap{from.map->width, from.map->height, std::move(from.map->classes)};
  to.embedding = std::move(from.embedding);
  if (from.text) to.text = ReadText{std::move(from.text->text), from.text->probability};
  to.json = std::move(from.json);
  for (application::CropFindings& crop : from.crops) to.crops.push_back(crop_of(std::move(crop)));
  to.not_cropped = from.not_cropped;
  to.outside = from.outside;
  return to;
}

Outcome outcome_of(application::Outcome outcome) {
  return {outcome.picture.frame, std::move(outcome.picture.name),
          image_of(std::move(outcome.picture.image)), findings_of(std::move(outcome.findings)),
          outcome.latency};
}

}  // namespace face
}  // namespace millrace
