// SCRFD: for each of three grids, with two boxes for each cell, the scores, then for each the
// distances of the sides, then the keypoints; all by the strides.

#include "application/heads/cells.h"
#include "application/heads/heads.h"

namespace millrace::application {
namespace {

constexpr std::int64_t boxes_of_cell = 2;
const std::vector<std::int64_t> strides_of_scrfd{8, 16, 32};

/// Boxes x values, or 1 x boxes x values.
bool is_table_of(const network::Shape& shape, std::int64_t boxes, std::int64_t values) {
  const std::size_t rank = shape.size();
  return (rank == 2 || (rank == 3 && shape[0] == 1)) && shape[rank - 2] == boxes &&
         shape[rank - 1] == values;
}

std::optional<std::size_t> output_of(const Outputs& outputs, std::int64_t boxes,
                                     std::int64_t values) {
  for (std::size_t i = 0; i < outputs.list.size(); ++i)
    if (is_table_of(outputs.list[i].shape, boxes, values)) return i;
  return std::nullopt;
}

/// The grid of a box and its number in it.
struct InGrid {
  std::size_t grid = 0;
  std::int64_t row = 0;
};
InGrid in_grid(std::int64_t row, const Size& input) {
  InGrid place{0, row};
  for (; place.grid + 1 < strides_of_scrfd.size(); ++place.grid) {
    const std::int64_t boxes = cells_of(input, strides_of_scrfd[place.grid]) * boxes_of_cell;
    if (place.row < boxes) break;
    place.row -= boxes;
  }
  return place;
}

/// The top left corner of a box's cell, in pixels of the input.
Point corner_of(const InGrid& place, const Size& input) {
  const std::int64_t stride = strides_of_scrfd[place.grid];
  const std::int64_t columns = (input.width + stride - 1) / stride;
  const std::int64_t cell = place.row / boxes_of_cell;
  return {static_cast<double>(cell % columns * stride),
          static_cast<double>(cell / columns * stride)};
}

}  // namespace

std::optional<BoxLayout> fit_scrfd(const Outputs& outputs, bool) {
  const std::size_t grids = strides_of_scrfd.size();
  const bool has_keypoints = outputs.list.size() == 3 * grids;
  if (!has_keypoints && outputs.list.size() != 2 * grids) return std::nullopt;
  BoxLayout layout;
  for (const std::int64_t values : {std::int64_t{1}, box_columns, 2 * face_keypoints}) {
    if (values == 2 * face_keypoints && !has_keypoints) continue;
    for (const std::int64_t stride : strides_of_scrfd) {
      const auto output =
          output_of(outputs, cells_of(outputs.input, stride) * boxes_of_cell, values);
      if (!output) return std::nullopt;
      layout.outputs.push_back(*output);
    }
  }
  for (const std::int64_t stride : strides_of_scrfd)
    layout.boxes += cells_of(outputs.input, stride) * boxes_of_cell;
  layout.classes = 1;
  layout.is_certain = true;
  layout.has_known_classes = !outputs.facts.classes || *outputs.facts.classes == 1;
  return layout;
}

void decode_scrfd(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found) {
  const std::size_t grids = strides_of_scrfd.size();
  for (std::int64_t row = 0; row < layout.boxes; ++row) {
    const InGrid place = in_grid(row, input);
    const double probability = table_of(frame[layout.outputs[place.grid]], false).at(place.row, 0);
    if (!(probability > found.threshold())) continue;
    const Table boxes = table_of(frame[layout.outputs[grids + place.grid]], false);
    const auto stride = static_cast<double>(strides_of_scrfd[place.grid]);
    Sides distances;
    for (std::size_t i = 0; i < distances.size(); ++i)
      distances[i] = boxes.at(place.row, static_cast<std::int64_t>(i)) * stride;
    Candidate box = around(corner_of(place, input), distances, input);
    box.probability = probability;
    box.row = row;
    add_finite(box, found);
  }
}

std::vector<Keypoint> keypoints_of_scrfd(const BoxLayout& layout, Frame frame, const Size& input,
                                         std::int64_t row) {
  const std::size_t grids = strides_of_scrfd.size();
  if (layout.outputs.size() < 3 * grids) return {};
  const InGrid place = in_grid(row, input);
  const Table points = table_of(frame[layout.outputs[2 * grids + place.grid]], false);
  const Point corner = corner_of(place, input);
  const auto stride = static_cast<double>(strides_of_scrfd[place.grid]);
  std::vector<Keypoint> result;
  for (std::int64_t i = 0; i < face_keypoints; ++i)
    result.push_back(
        {{(corner.x + points.at(place.row, 2 * i) * stride) / static_cast<double>(input.width),
          (corner.y + points.at(place.row, 2 * i + 1) * stride) /
              static_cast<double>(input.height)}});
  return result;
}

}  // namespace millrace::application
