#include "application/checked_processing.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/error.h"
#include "network/frame.h"

namespace millrace::application {
namespace {

/// What `call` throws, said to be of the place.
template <class Call>
auto of_place(const std::string& place, const Call& call) {
  try {
    return call();
  } catch (const InputError& error) {
    throw InputError(place, error.what());
  } catch (const std::exception& error) {
    throw EngineError(fmt::format("{}: {}", place, error.what()));
  } catch (...) {
    throw EngineError(place + " threw something that is no std::exception");
  }
}

/// One part of the findings, such as "detection 3".
class Part {
 public:
  Part(const std::string& place, std::string name) : place_(place), name_(std::move(name)) {}

  [[noreturn]] void fail(const std::string& text) const {
    throw InputError(place_, fmt::format("{} {}", name_, text));
  }
  void check_finite(std::initializer_list<double> values) const {
    for (const double value : values)
      if (!std::isfinite(value)) fail(fmt::format("has the value {}, expected a number", value));
  }
  /// Checks a rectangle that has one value for each pixel.
  void check_pixels(std::int64_t width, std::int64_t height, std::size_t count) const {
    constexpr std::int64_t longest = std::int64_t{1} << 30;
    const bool is_size = width >= 0 && height >= 0 && width <= longest && height <= longest;
    if (!is_size || static_cast<std::uint64_t>(width * height) != count)
      fail(fmt::format("has {} values for {} x {} pixels, expected one for each", count, width,
                       height));
  }

 private:
  const std::string& place_;
  std::string name_;
};

void check_mask(const Mask& mask, const Picture& picture, const Part& part) {
  part.check_pixels(mask.width, mask.height, mask.inside.size());
  for (const std::uint8_t pixel : mask.inside)
    if (pixel > 1) part.fail(fmt::format("has a mask with the value {}, expected 0 or 1", pixel));
  if (picture.image.empty() || mask.inside.empty()) return;
  const std::int64_t wide = picture.image.width, high = picture.image.height;
  const bool is_inside = mask.left >= 0 && mask.top >= 0 && mask.width <= wide &&
                         mask.height <= high && mask.left <= wide - mask.width &&
                         mask.top <= high - mask.height;
  if (!is_inside)
    part.fail(fmt::format("has a mask of {} x {} pixels at {}, {}, outside of the picture of {} x "
                          "{}; cut it at the border",
                          mask.width, mask.height, mask.left, mask.top, wide, high));
}

void check_detections(const std::vector<Detection>& detections, const Picture& picture,
                      const std::string& place) {
  for (std::size_t i = 0; i < detections.size(); ++i) {
    const Detection& each = detections[i];
    const Part part(place, fmt::format("detection {}", i));
    part.check_finite({each.probability, each.left, each.top, each.width, each.height});
    for (const Point& corner : each.corners) part.check_finite({corner.x, corner.y});
    for (const Keypoint& keypoint : each.keypoints)
      part.check_finite({keypoint.at.x, keypoint.at.y, keypoint.probability});
    if (each.mask) check_mask(*each.mask, picture, part);
  }
}

void check_map(const ClassMap& map, const Picture& picture, const std::string& place) {
  const Part part(place, "the class map");
  part.check_pixels(map.width, map.height, map.classes.size());
  const Image& image = picture.image;
  if (!image.empty() && (map.width != image.width || map.height != image.height))
    part.fail(fmt::format("has {} x {} pixels, expected {} x {}, as the picture", map.width,
                          map.height, image.width, image.height));
}

void check_json(const std::string& text, const std::string& place) {
  constexpr int deepest = 500;  // what writes it calls itself for each level
  if (text.empty()) return;
  bool is_deep = false;
  const auto watch = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    is_deep = is_deep || depth > deepest;
    return !is_deep;
  };
  const bool is_json = !nlohmann::json::parse(text, watch, false).is_discarded();
  if (is_deep)
    throw InputError(place, fmt::format("'json' has more than {} levels of lists and objects",
                                        deepest));
  if (!is_json) throw InputError(place, "the findings' 'json' is no JSON; expected one value");
}

class CheckedProcessing final : public Processing {
 public:
  CheckedProcessing(std::unique_ptr<Processing> made, const network::Network& network,
                    const std::string& origin)
      : made_(std::move(made)),
        network_(network),
        before_(origin + ": before()"),
        after_(origin + ": after()") {}

  std::vector<network::Array> before(const Picture& picture) const override {
    return of_place(before_, [&] {
      std::vector<network::Array> inputs = made_->before(picture);
      network::check_frame(network_, inputs);
      return inputs;
    });
  }
  Findings after(const Picture& picture, std::span<const network::Array> outputs) const override {
    Findings findings = of_place(after_, [&] { return made_->after(picture, outputs); });
    check_findings(findings, picture, after_);
    return findings;
  }

 private:
  const std::unique_ptr<Processing> made_;
  const network::Network& network_;
  const std::string before_, after_;
};

}  // namespace

void check_findings(const Findings& findings, const Picture& picture, const std::string& place) {
  if (findings.detections) check_detections(*findings.detections, picture, place);
  if (findings.improbable) check_detections(*findings.improbable, picture, place);
  if (findings.left_out < 0)
    Part(place, "'left_out'").fail(fmt::format("is {}, expected 0 or more", findings.left_out));
  if (findings.classes)
    for (std::size_t i = 0; i < findings.classes->size(); ++i)
      Part(place, fmt::format("class {}", i)).check_finite({(*findings.classes)[i].value});
  if (findings.map) check_map(*findings.map, picture, place);
  if (findings.embedding) {
    const Part part(place, "the embedding");
    for (const float value : *findings.embedding) part.check_finite({static_cast<double>(value)});
  }
  if (findings.text) Part(place, "the text").check_finite({findings.text->probability});
  check_json(findings.json, place);
}

std::unique_ptr<Processing> checked_processing(std::unique_ptr<Processing> made,
                                               const network::Network& network,
                                               const std::string& origin) {
  return std::make_unique<CheckedProcessing>(std::move(made), network, origin);
}

}  // namespace millrace::application
