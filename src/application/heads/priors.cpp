// Heads of many boxes with scores beside them: decoded in the network (SSD), or relative to boxes
// of usual sizes (RetinaFace, UltraFace).
#include <algorithm>
#include <array>
#include <cmath>

#include "application/heads/cells.h"
#include "application/heads/heads.h"

namespace millrace::application {
namespace {

constexpr std::int64_t fewest_boxes = 1000;
constexpr double place_variance = 0.1, size_variance = 0.2;

/// The outputs that are 1 x boxes x values, by the number of values; nothing if there are others.
std::optional<std::vector<std::size_t>> with_values(const Outputs& outputs,
                                                    const std::vector<std::int64_t>& values) {
  if (outputs.list.size() != values.size()) return std::nullopt;
  std::vector<std::size_t> result;
  for (const std::int64_t wanted : values)
    for (std::size_t i = 0; i < outputs.list.size(); ++i) {
      const network::Shape& shape = outputs.list[i].shape;
      const bool fits = shape.size() == 3 && shape[0] == 1 && shape[2] == wanted &&
                        shape[1] == outputs.list.front().shape[1];
      if (!fits || std::ranges::find(result, i) != result.end()) continue;
      result.push_back(i);
      break;
    }
  return result.size() == values.size() ? std::optional(result) : std::nullopt;
}

std::int64_t rows_of(const Outputs& outputs) {
  const network::Shape& shape = outputs.list.front().shape;
  return shape.size() == 3 ? shape[1] : 0;
}

void judge_classes(const Outputs& outputs, BoxLayout& layout) {
  layout.has_known_classes = !outputs.facts.classes || *outputs.facts.classes == layout.classes;
}

/// Sides of the usual boxes of each grid, in pixels of the input.
using PriorSizes = std::vector<std::vector<double>>;
const PriorSizes sizes_of_retinaface{{16, 32}, {64, 128}, {256, 512}};
const PriorSizes sizes_of_ultraface{{10, 16, 24}, {32, 48}, {64, 96}, {128, 192, 256}};
const std::vector<std::int64_t> strides_of_retinaface{8, 16, 32};
const std::vector<std::int64_t> strides_of_ultraface{8, 16, 32, 64};

/// Squares around the centres of the cells, in shares of the input.
std::vector<Candidate> priors_of(const PriorSizes& sizes, const std::vector<std::int64_t>& strides,
                                 const Size& input) {
  const auto wide = static_cast<double>(input.width), high = static_cast<double>(input.height);
  std::vector<Candidate> priors;
  for (std::size_t grid = 0; grid < strides.size(); ++grid)
    for (const Cell& cell : cells_in({strides[grid]}, input))
      for (const double side : sizes[grid]) {
        Candidate prior;
        prior.x = (cell.column + 0.5) * cell.stride / wide;
        prior.y = (cell.row + 0.5) * cell.stride / high;
        prior.width = side / wide;
        prior.height = side / high;
        priors.push_back(prior);
      }
  return priors;
}

std::int64_t count_of(const PriorSizes& sizes, const std::vector<std::int64_t>& strides,
                      const Size& input) {
  std::int64_t count = 0;
  for (std::size_t grid = 0; grid < strides.size(); ++grid)
    count += cells_of(input, strides[grid]) * static_cast<std::int64_t>(sizes[grid].size());
  return count;
}

Candidate moved(const Candidate& prior, const Table& boxes, std::int64_t row) {
  Candidate box;
  box.x = prior.x + boxes.at(row, 0) * place_variance * prior.width;
  box.y = prior.y + boxes.at(row, 1) * place_variance * prior.height;
  box.width = prior.width * std::exp(boxes.at(row, 2) * size_variance);
  box.height = prior.height * std::exp(boxes.at(row, 3) * size_variance);
  return box;
}

/// The second of two scores is that of a face.
void decode_faces(const BoxLayout& layout, Frame frame, const std::vector<Candidate>& priors,
                  MostProbable& found) {
  const Table scores = table_of(frame[layout.outputs[0]], false);
  const Table boxes = table_of(frame[layout.outputs[1]], false);
  for (std::int64_t row = 0; row < layout.boxes; ++row) {
    if (!(scores.at(row, 1) > found.threshold())) continue;
    Candidate box = moved(priors[static_cast<std::size_t>(row)], boxes, row);
    box.probability = scores.at(row, 1);
    box.row = row;
    add_finite(box, found);
  }
}

/// The outputs 1 x boxes x classes and 1 x boxes x 4, in this order. Where both have four columns,
/// the name decides, else the second has the boxes.
std::optional<BoxLayout> scores_beside_corners(const Outputs& outputs) {
  if (outputs.list.size() != 2) return std::nullopt;
  const std::string& name = outputs.list[0].name;
  const bool is_first = name.find("box") != std::string::npos || name.starts_with("loc");
  for (const bool first : {is_first, !is_first}) {
    const std::size_t boxes = first ? 0 : 1;
    const network::Shape& shape = outputs.list[boxes].shape;
    const network::Shape& other = outputs.list[1 - boxes].shape;
    const bool is_table = shape.size() == 3 && other.size() == 3 && shape[0] == 1 && other[0] == 1;
    if (!is_table || shape[2] != box_columns || shape[1] != other[1]) continue;
    BoxLayout layout{{1 - boxes, boxes}};
    layout.boxes = shape[1];
    layout.classes = other[2];
    return layout;
  }
  return std::nullopt;
}

/// Left, top, right, bottom in units of which the input has `units`; classes from column `first`.
struct Corners {
  std::int64_t first = 0;
  Size units = {1, 1};
};
void decode_corners(const BoxLayout& layout, Frame frame, const Corners& how, MostProbable& found) {
  const Table scores = table_of(frame[layout.outputs[0]], false);
  const Table boxes = table_of(frame[layout.outputs[1]], false);
  const auto wide = static_cast<double>(how.units.width);
  const auto high = static_cast<double>(how.units.height);
  const std::vector<BestClass> best = best_classes(scores, how.first, layout.classes);
  for (std::int64_t row = 0; row < layout.boxes; ++row) {
    const BestClass& of_row = best[static_cast<std::size_t>(row)];
    if (!(of_row.score > found.threshold())) continue;
    Candidate box{of_row.label, of_row.score};
    box.x = (boxes.at(row, 0) + boxes.at(row, 2)) / 2 / wide;
    box.y = (boxes.at(row, 1) + boxes.at(row, 3)) / 2 / high;
    box.width = (boxes.at(row, 2) - boxes.at(row, 0)) / wide;
    box.height = (boxes.at(row, 3) - boxes.at(row, 1)) / high;
    box.row = row;
    add_finite(box, found);
  }
}

}  // namespace

std::optional<BoxLayout> fit_ssd(const Outputs& outputs, bool named) {
  std::optional<BoxLayout> layout = scores_beside_corners(outputs);
  if (!layout || layout->classes < 2) return std::nullopt;
  layout->classes -= 1;  // the first says that there is nothing
  judge_classes(outputs, *layout);
  const bool is_usual =
      layout->boxes > fewest_boxes && strides_of(outputs.input, layout->boxes, 1).empty();
  return named || is_usual ? layout : std::nullopt;
}

void decode_ssd(const BoxLayout& layout, Frame frame, const Size&, MostProbable& found) {
  decode_corners(layout, frame, {1, {1, 1}}, found);
}

std::optional<BoxLayout> fit_yolo_nas(const Outputs& outputs, bool named) {
  std::optional<BoxLayout> layout = scores_beside_corners(outputs);
  if (!layout || layout->classes < 1) return std::nullopt;
  judge_classes(outputs, *layout);
  layout->is_certain = !strides_of(outputs.input, layout->boxes, 1).empty();
  return named || layout->is_certain ? layout : std::nullopt;
}

void decode_yolo_nas(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found) {
  decode_corners(layout, frame, {0, input}, found);
}

std::optional<BoxLayout> fit_ultraface(const Outputs& outputs, bool) {
  const auto order = with_values(outputs, {2, box_columns});
  if (!order) return std::nullopt;
  BoxLayout layout{*order};
  layout.boxes = rows_of(outputs);
  layout.classes = 1;
  judge_classes(outputs, layout);
  const bool fits =
      layout.boxes == count_of(sizes_of_ultraface, strides_of_ultraface, outputs.input);
  return fits ? std::optional(layout) : std::nullopt;
}

void decode_ultraface(const BoxLayout& layout, Frame frame, const Size& input,
                      MostProbable& found) {
  decode_faces(layout, frame, priors_of(sizes_of_ultraface, strides_of_ultraface, input), found);
}

std::optional<BoxLayout> fit_retinaface(const Outputs& outputs, bool) {
  const auto order = with_values(outputs, {2, box_columns, 2 * face_keypoints});
  if (!order) return std::nullopt;
  BoxLayout layout{*order};
  layout.boxes = rows_of(outputs);
  layout.classes = 1;
  layout.is_certain = true;
  judge_classes(outputs, layout);
  const bool fits =
      layout.boxes == count_of(sizes_of_retinaface, strides_of_retinaface, outputs.input);
  return fits ? std::optional(layout) : std::nullopt;
}

void decode_retinaface(const BoxLayout& layout, Frame frame, const Size& input,
                       MostProbable& found) {
  decode_faces(layout, frame, priors_of(sizes_of_retinaface, strides_of_retinaface, input), found);
}

std::vector<Keypoint> keypoints_of_retinaface(const BoxLayout& layout, Frame frame,
                                              const Size& input, std::int64_t row) {
  const Table points = table_of(frame[layout.outputs[2]], false);
  const std::vector<Candidate> priors =
      priors_of(sizes_of_retinaface, strides_of_retinaface, input);
  const Candidate& prior = priors[static_cast<std::size_t>(row)];
  std::vector<Keypoint> result;
  for (std::int64_t i = 0; i < face_keypoints; ++i)
    result.push_back({{prior.x + points.at(row, 2 * i) * place_variance * prior.width,
                       prior.y + points.at(row, 2 * i + 1) * place_variance * prior.height}});
  return result;
}

}  // namespace millrace::application
