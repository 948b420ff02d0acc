#include <array>
#include <cmath>

#include "application/heads/cells.h"
#include "application/heads/heads.h"

namespace millrace::application {
namespace {

constexpr std::int64_t objectness_columns = 5;  // and objectness

/// `each`: boxes of a cell; 0: whatever their number.
std::optional<BoxLayout> fit_with_objectness(const Outputs& outputs, std::int64_t each) {
  const std::optional<TableOutputs> found = table_outputs(outputs);
  if (!found) return std::nullopt;
  BoxLayout layout{{found->table}};
  layout.boxes = found->outer;
  layout.strides = strides_of(outputs.input, found->outer, each > 0 ? each : 1);
  if (each > 0 && layout.strides.empty()) return std::nullopt;
  if (!divide(outputs, *found, objectness_columns, layout)) return std::nullopt;
  return layout;
}

/// x and y of the centre, width, height in pixels of the input.
using Box = std::array<double, box_columns>;

Candidate in_shares(const Box& pixels, const Size& input) {
  const auto wide = static_cast<double>(input.width), high = static_cast<double>(input.height);
  Candidate box;
  box.x = pixels[0] / wide;
  box.y = pixels[1] / high;
  box.width = pixels[2] / wide;
  box.height = pixels[3] / high;
  return box;
}

Box box_at(const Table& table, std::int64_t row) {
  return {table.at(row, 0), table.at(row, 1), table.at(row, 2), table.at(row, 3)};
}

struct TableOfInput {
  Table table;
  Size input;
};

/// `pixels_at`: the box of a row of which a class may be.
template <class PixelsAt>
void decode_with_objectness(const BoxLayout& layout, const TableOfInput& of, MostProbable& found,
                            const PixelsAt& pixels_at) {
  for (std::int64_t row = 0; row < layout.boxes; ++row) {
    const double objectness = of.table.at(row, box_columns);
    if (!(objectness > found.threshold())) continue;  // nor what is not a number
    Table one = of.table;
    one.values = of.table.values.subspan(static_cast<std::size_t>(row * one.row_step));
    one.rows = 1;
    const BestClass best = best_classes(one, objectness_columns, layout.classes).front();
    Candidate box = in_shares(pixels_at(row), of.input);
    box.row = row;
    box.label = best.label;
    box.probability = objectness * best.score;
    add_finite(box, found);
  }
}

/// Whether a row is 1 x boxes x columns or 1 x columns x boxes: by the cells of the grids, else
/// there are more boxes than columns.
bool has_columns_first(const Outputs& outputs, const TableOutputs& found) {
  if (!strides_of(outputs.input, found.inner, 1).empty()) return true;
  if (!strides_of(outputs.input, found.outer, 1).empty()) return false;
  return found.outer < found.inner;
}

}  // namespace

std::optional<BoxLayout> fit_yolov5(const Outputs& outputs, bool named) {
  constexpr std::int64_t anchors = 3;
  std::optional<BoxLayout> layout = fit_with_objectness(outputs, anchors);
  if (layout) layout->is_certain = true;
  if (!layout && named) layout = fit_with_objectness(outputs, 0);
  return layout;
}

std::optional<BoxLayout> fit_yolov6(const Outputs& outputs, bool named) {
  return fit_with_objectness(outputs, named ? 0 : 1);
}

void decode_yolov5(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found) {
  const Table table = table_of(frame[layout.outputs[0]], false);
  decode_with_objectness(layout, {table, input}, found,
                         [&](std::int64_t row) { return box_at(table, row); });
}

std::optional<BoxLayout> fit_yolox(const Outputs& outputs, bool) {
  return fit_with_objectness(outputs, 1);
}

void decode_yolox(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found) {
  const Table table = table_of(frame[layout.outputs[0]], false);
  const std::vector<Cell> cells = cells_in(layout.strides, input);
  decode_with_objectness(layout, {table, input}, found, [&](std::int64_t row) {
    const Cell& cell = cells[static_cast<std::size_t>(row)];
    return Box{(table.at(row, 0) + cell.column) * cell.stride,
               (table.at(row, 1) + cell.row) * cell.stride,
               std::exp(table.at(row, 2)) * cell.stride, std::exp(table.at(row, 3)) * cell.stride};
  });
}

std::optional<BoxLayout> fit_yolov8(const Outputs& outputs, bool named) {
  const std::optional<TableOutputs> found = table_outputs(outputs);
  if (!found) return std::nullopt;
  BoxLayout layout{{found->table}};
  layout.columns_first = has_columns_first(outputs, *found);
  layout.boxes = layout.columns_first ? found->inner : found->outer;
  layout.strides = strides_of(outputs.input, layout.boxes, 1);
  if (!divide(outputs, *found, box_columns, layout)) return std::nullopt;
  layout.is_certain = !layout.strides.empty() && layout.columns_first;
  // Turned by hand: only the number of classes tells it from those with objectness.
  const bool is_known =
      outputs.facts.classes && layout.has_known_classes && !layout.strides.empty();
  if (!named && !layout.columns_first && !is_known) return std::nullopt;
  return layout;
}

void decode_yolov8(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found) {
  const Table table = table_of(frame[layout.outputs[0]], layout.columns_first);
  const std::vector<BestClass> best = best_classes(table, box_columns, layout.classes);
  for (std::int64_t row = 0; row < layout.boxes; ++row) {
    const BestClass& of_row = best[static_cast<std::size_t>(row)];
    if (!(of_row.score > found.threshold())) continue;
    Candidate box = in_shares(box_at(table, row), input);
    box.row = row;
    if (layout.has_angle) box.angle = table.at(row, layout.extras);
    box.label = of_row.label;
    box.probability = of_row.score;
    add_finite(box, found);
  }
}

}  // namespace millrace::application
