#include "application/heads/keypoints.h"

#include <fmt/format.h>

#include <algorithm>

#include "application/heads/as_float.h"
#include "application/heads/view.h"
#include "application/preprocess.h"
#include "base/error.h"

namespace millrace::application {
namespace {

/// Lines between the 17 keypoints of a person in COCO: face, arms, trunk, legs.
const Skeleton person{{0, 1},  {0, 2},  {1, 3},  {2, 4},   {5, 6},   {5, 7},   {7, 9},   {6, 8},
                      {8, 10}, {5, 11}, {6, 12}, {11, 12}, {11, 13}, {13, 15}, {12, 14}, {14, 16}};
constexpr std::int64_t keypoints_of_person = 17;

/// The values of one keypoint in an output.
std::span<const float> part_of(const network::Array& output, std::size_t keypoint) {
  const std::span<const float> values = output.values<float>();
  const std::size_t each = values.size() / static_cast<std::size_t>(output.shape[1]);
  return values.subspan(keypoint * each, each);
}

std::size_t largest_in(std::span<const float> values) {
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

/// A quarter of a cell towards the larger neighbour, as published with these networks.
double shift(double before, double after) {
  return after == before ? 0 : after > before ? 0.25 : -0.25;
}

/// In shares of the input.
Keypoint in_heat_map(const network::Array& output, std::size_t keypoint) {
  const std::span<const float> heat = part_of(output, keypoint);
  const auto rows = static_cast<std::size_t>(output.shape[2]);
  const auto columns = static_cast<std::size_t>(output.shape[3]);
  const std::size_t best = largest_in(heat), x = best % columns, y = best / columns;
  Point place{static_cast<double>(x), static_cast<double>(y)};
  if (x > 0 && x + 1 < columns) place.x += shift(heat[best - 1], heat[best + 1]);
  if (y > 0 && y + 1 < rows) place.y += shift(heat[best - columns], heat[best + columns]);
  return {{place.x / static_cast<double>(columns), place.y / static_cast<double>(rows)},
          heat[best]};
}

Keypoint along_axes(const network::Array& across, const network::Array& down,
                    std::size_t keypoint) {
  const std::span<const float> x = part_of(across, keypoint), y = part_of(down, keypoint);
  const std::size_t best_x = largest_in(x), best_y = largest_in(y);
  return {{static_cast<double>(best_x) / static_cast<double>(x.size()),
           static_cast<double>(best_y) / static_cast<double>(y.size())},
          std::min(x[best_x], y[best_y])};
}

class Keypoints : public Processing {
 public:
  Keypoints(const Application& application, const Size& input, std::int64_t keypoints)
      : input_(input),
        keypoints_(keypoints),
        skeleton_(skeleton_of(application.postprocess.detection, keypoints)) {
    if (application.preprocess.kind == "image") fit_ = application.preprocess.image.fit;
  }

  Findings after(const Picture& picture, std::span<const network::Array> outputs) const override {
    const Size size =
        picture.image.empty() ? input_ : Size{picture.image.width, picture.image.height};
    const View view{input_, place(size, input_, fit_), size};
    Detection whole{0, 0, 0, 0, static_cast<double>(size.width), static_cast<double>(size.height)};
    const network::Array first = as_float(outputs.front()), last = as_float(outputs.back());
    for (std::size_t i = 0; i < static_cast<std::size_t>(keypoints_); ++i) {
      Keypoint keypoint = outputs.size() == 1 ? in_heat_map(first, i) : along_axes(first, last, i);
      keypoint.at = view.to_picture(keypoint.at);
      whole.probability += keypoint.probability / static_cast<double>(keypoints_);
      whole.keypoints.push_back(keypoint);
    }
    Findings findings;
    findings.detections = {{whole}};
    findings.skeleton = skeleton_;
    return findings;
  }

 private:
  Size input_;
  std::int64_t keypoints_;
  Fit fit_ = Fit::stretch;
  Skeleton skeleton_;
};

bool has_rank(const network::Shape& shape, std::size_t rank) {
  return shape.size() == rank && shape[0] == 1 &&
         std::ranges::all_of(shape, [](std::int64_t size) { return size > 0; });
}

}  // namespace

Skeleton skeleton_of(const DetectionSettings& settings, std::int64_t keypoints) {
  if (settings.skeleton) return *settings.skeleton;
  return keypoints == keypoints_of_person ? person : Skeleton{};
}

std::unique_ptr<Processing> make_keypoints(const Application& application,
                                           const network::Network& network) {
  const std::string& place = application.postprocess.place;
  const Size input = input_size(network, application.preprocess.image, place);
  if (network.outputs.empty()) throw InputError(place, "the network has no outputs");
  const network::Shape& first = network[network.outputs.front()].shape;
  const network::Shape& last = network[network.outputs.back()].shape;
  const bool has_maps = network.outputs.size() == 1 && has_rank(first, 4);
  const bool has_axes =
      network.outputs.size() == 2 && has_rank(first, 3) && has_rank(last, 3) && first[1] == last[1];
  if (!has_maps && !has_axes)
    throw InputError(
        place, fmt::format("keypoints need one output of 1 x keypoints x rows x columns, or two of "
                           "1 x keypoints x bins, but the network has {}, the first of {}; use "
                           "detect or raw",
                           network.outputs.size(), network::to_text(first)));
  return std::make_unique<Keypoints>(application, input, first[1]);
}

}  // namespace millrace::application
