// Heads whose boxes are distances from the cells of grids, or lie where a map is brightest.
#include <algorithm>
#include <array>
#include <cmath>

#include "application/heads/cells.h"
#include "application/heads/heads.h"

namespace millrace::application {
namespace {

constexpr std::int64_t sides = 4;  // left, top, right, bottom
constexpr std::int64_t bins = 8;   // of the distribution of each distance

/// The mean of the numbers 0 to 7, weighted by the softmax of these values.
double mean_of_distribution(const Table& table, std::int64_t row, std::int64_t first) {
  double largest = table.at(row, first), total = 0, sum = 0;
  for (std::int64_t i = 1; i < bins; ++i) largest = std::max(largest, table.at(row, first + i));
  for (std::int64_t i = 0; i < bins; ++i) {
    const double weight = std::exp(table.at(row, first + i) - largest);
    total += weight;
    sum += weight * static_cast<double>(i);
  }
  return sum / total;
}

/// Planes of rows x columns.
struct Planes {
  std::span<const float> values;
  std::int64_t rows = 0, columns = 0;

  explicit Planes(const network::Array& output)
      : values(output.values<float>()), rows(output.shape[2]), columns(output.shape[3]) {}
  double at(std::int64_t plane, std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>((plane * rows + row) * columns + column)];
  }
  /// Whether none of its eight neighbours is larger, and those before it are smaller.
  bool is_peak(std::int64_t plane, std::int64_t row, std::int64_t column) const {
    const double here = at(plane, row, column);
    for (std::int64_t y = std::max<std::int64_t>(row - 1, 0); y <= std::min(row + 1, rows - 1); ++y)
      for (std::int64_t x = std::max<std::int64_t>(column - 1, 0);
           x <= std::min(column + 1, columns - 1); ++x)
        if (at(plane, y, x) > here) return false;
    return true;
  }
};

bool has_word(const std::string& name, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

/// Heat map, sizes and offsets: by their names, then by their planes, then as they stand.
std::optional<std::vector<std::size_t>> centernet_order(const Outputs& outputs) {
  constexpr std::string_view heat_words[] = {"hm", "heat"}, size_words[] = {"wh", "size"},
                             offset_words[] = {"reg", "off"};
  if (outputs.list.size() != 3) return std::nullopt;
  for (const Outputs::Output& output : outputs.list)
    if (output.shape.size() != 4 || output.shape[0] != 1) return std::nullopt;
  std::vector<std::size_t> order{0, 1, 2};
  const auto is_heat = [&](std::size_t i) {
    return has_word(outputs.list[i].name, heat_words) || outputs.list[i].shape[1] != 2;
  };
  const auto heat = std::ranges::find_if(order, is_heat);
  if (heat != order.end()) std::rotate(order.begin(), heat, heat + 1);
  if (has_word(outputs.list[order[1]].name, offset_words) ||
      has_word(outputs.list[order[2]].name, size_words))
    std::swap(order[1], order[2]);
  const auto is_pair = [&](std::size_t i) { return outputs.list[i].shape[1] == 2; };
  return is_pair(order[1]) && is_pair(order[2]) ? std::optional(order) : std::nullopt;
}

}  // namespace

std::optional<BoxLayout> fit_nanodet(const Outputs& outputs, bool named) {
  const std::optional<TableOutputs> found = table_outputs(outputs);
  if (!found || found->prototypes) return std::nullopt;
  BoxLayout layout{{found->table}};
  layout.boxes = found->outer;
  layout.strides = strides_of(outputs.input, found->outer, 1);
  layout.classes = found->inner - sides * bins;
  if (layout.strides.size() < 3 || layout.strides.front() != 8 || layout.classes < 1)
    return std::nullopt;
  layout.has_known_classes = !outputs.facts.classes || *outputs.facts.classes == layout.classes;
  constexpr std::int64_t classes_of_coco = 80;
  const bool is_usual = outputs.facts.classes || layout.classes == classes_of_coco;
  layout.is_certain = is_usual && layout.has_known_classes;
  return named || is_usual ? std::optional(layout) : std::nullopt;
}

/// NanoDet-Plus has a fourth grid, and its cells are looked at from their corner, not their centre.
void decode_nanodet(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found) {
  const Table table = table_of(frame[layout.outputs[0]], false);
  const double inside = layout.strides.size() > 3 ? 0 : 0.5;
  const std::vector<Cell> cells = cells_in(layout.strides, input);
  const std::vector<BestClass> best = best_classes(table, 0, layout.classes);
  for (std::int64_t row = 0; row < layout.boxes; ++row) {
    const BestClass& of_row = best[static_cast<std::size_t>(row)];
    if (!(of_row.score > found.threshold())) continue;
    const Cell& cell = cells[static_cast<std::size_t>(row)];
    Sides distances;
    for (std::int64_t i = 0; i < sides; ++i)
      distances[static_cast<std::size_t>(i)] =
          mean_of_distribution(table, row, layout.classes + i * bins) * cell.stride;
    const Point centre{(cell.column + inside) * cell.stride, (cell.row + inside) * cell.stride};
    Candidate box = around(centre, distances, input);
    box.label = of_row.label;
    box.probability = of_row.score;
    box.row = row;
    add_finite(box, found);
  }
}

std::optional<BoxLayout> fit_centernet(const Outputs& outputs, bool) {
  const std::optional<std::vector<std::size_t>> order = centernet_order(outputs);
  if (!order) return std::nullopt;
  const network::Shape& shape = outputs.list[order->front()].shape;
  for (const std::size_t i : *order) {
    const network::Shape& other = outputs.list[i].shape;
    if (shape[2] != other[2] || shape[3] != other[3]) return std::nullopt;
  }
  if (shape[2] < 1 || shape[3] < 1 || outputs.input.width < shape[3]) return std::nullopt;
  BoxLayout layout{*order};
  layout.classes = shape[1];
  layout.strides = {outputs.input.width / shape[3]};
  layout.has_known_classes = !outputs.facts.classes || *outputs.facts.classes == layout.classes;
  layout.is_certain = true;
  return layout;
}

/// Peaks of the heat map are centres; then sizes and offsets, in cells. A map with values below 0
/// has not gone through the logistic function.
void decode_centernet(const BoxLayout& layout, Frame frame, const Size& input,
                      MostProbable& found) {
  const Planes heat(frame[layout.outputs[0]]), sizes(frame[layout.outputs[1]]),
      offsets(frame[layout.outputs[2]]);
  const bool is_raw = std::ranges::any_of(heat.values, [](float value) { return value < 0; });
  const auto stride = static_cast<double>(layout.strides.front());
  for (std::int64_t label = 0; label < layout.classes; ++label)
    for (std::int64_t cell = 0; cell < heat.rows * heat.columns; ++cell) {
      const std::int64_t y = cell / heat.columns, x = cell % heat.columns;
      const double value = heat.at(label, y, x);
      const double probability = is_raw ? 1 / (1 + std::exp(-value)) : value;
      if (!(probability > found.threshold()) || !heat.is_peak(label, y, x)) continue;
      const double wide = sizes.at(0, y, x) * stride, high = sizes.at(1, y, x) * stride;
      const Point centre{(static_cast<double>(x) + offsets.at(0, y, x)) * stride,
                         (static_cast<double>(y) + offsets.at(1, y, x)) * stride};
      Candidate box = around(centre, {wide / 2, high / 2, wide / 2, high / 2}, input);
      box.label = label;
      box.probability = probability;
      box.row = cell;
      add_finite(box, found);
    }
}

}  // namespace millrace::application
