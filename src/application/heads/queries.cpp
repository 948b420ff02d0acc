#include <algorithm>
#include <cmath>

#include "application/heads/heads.h"

namespace millrace::application {
namespace {

constexpr std::int64_t most_queries = 1000;
// Left, top, right, bottom (of turned boxes centre, width, height), probability, class.
constexpr std::int64_t listed_columns = 6;

bool is_number(const Candidate& box) {
  return std::isfinite(box.x * box.y * box.width * box.height) && std::isfinite(box.angle);
}

/// The outputs that are 1 x boxes x classes and 1 x boxes x 4, in this order.
std::optional<BoxLayout> scores_and_boxes(const Outputs& outputs) {
  std::vector<std::size_t> tables;
  for (std::size_t i = 0; i < outputs.list.size(); ++i) {
    const Outputs::Output& output = outputs.list[i];
    const bool is_inside = output.name.find("hidden") != std::string::npos;
    if (!is_inside && output.shape.size() == 3 && output.shape[0] == 1) tables.push_back(i);
  }
  if (tables.size() != 2) return std::nullopt;
  const auto is_boxes = [&](std::size_t i) {
    return outputs.list[i].shape[2] == box_columns &&
           outputs.list[i].name.find("logits") == std::string::npos;
  };
  if (!is_boxes(tables[1])) std::swap(tables[0], tables[1]);
  const network::Shape& scores = outputs.list[tables[0]].shape;
  if (!is_boxes(tables[1]) || scores[1] != outputs.list[tables[1]].shape[1]) return std::nullopt;
  BoxLayout layout{tables};
  layout.boxes = scores[1];
  layout.classes = scores[2];
  return layout;
}

/// Rather than the cells of grids.
bool is_short_list(const Outputs& outputs, const TableOutputs& table) {
  const auto is_grid = [&](std::int64_t boxes) {
    return !strides_of(outputs.input, boxes, 1).empty() ||
           !strides_of(outputs.input, boxes, 3).empty();
  };
  return table.outer > 1 && table.outer <= most_queries && table.inner <= most_queries &&
         !is_grid(table.outer) && !is_grid(table.inner);
}

/// Without what is known of the classes: whether that many scores are usual for such a network.
template <std::size_t count>
void judge(const Outputs& outputs, std::int64_t scores, const std::int64_t (&usual)[count],
           BoxLayout& layout) {
  const std::optional<std::int64_t>& known = outputs.facts.classes;
  layout.has_known_classes = !known || *known == layout.classes;
  const bool is_usual = std::ranges::find(usual, scores) != std::end(usual);
  layout.is_certain = known ? layout.has_known_classes : is_usual;
}

/// Centre and lengths, in shares of the input.
Candidate query_at(const Table& table, std::int64_t row) {
  Candidate box;
  box.x = table.at(row, 0);
  box.y = table.at(row, 1);
  box.width = table.at(row, 2);
  box.height = table.at(row, 3);
  box.row = row;
  return box;
}

void take(Candidate box, std::int64_t label, double probability, MostProbable& found) {
  box.label = label;
  box.probability = probability;
  if (is_number(box) && found.takes(probability)) found.add(box);
}

}  // namespace

std::optional<BoxLayout> fit_end_to_end(const Outputs& outputs, bool named) {
  const std::optional<TableOutputs> table = table_outputs(outputs);
  if (!table) return std::nullopt;
  BoxLayout layout{{table->table}};
  layout.boxes = table->outer;
  // The class is a number: after the six columns only what belongs to masks and the like follows.
  Outputs without_classes = outputs;
  without_classes.facts.classes = 1;
  if (!divide(without_classes, *table, listed_columns - 1, layout) || layout.classes != 1)
    return std::nullopt;
  layout.classes = outputs.facts.classes.value_or(0);
  layout.is_certain = is_short_list(outputs, *table);
  return named || layout.is_certain ? std::optional(layout) : std::nullopt;
}

void decode_end_to_end(const BoxLayout& layout, Frame frame, const Size& input,
                       MostProbable& found) {
  const Table table = table_of(frame[layout.outputs[0]], false);
  const auto wide = static_cast<double>(input.width), high = static_cast<double>(input.height);
  for (std::int64_t row = 0; row < layout.boxes; ++row) {
    const double probability = table.at(row, box_columns), label = table.at(row, box_columns + 1);
    const bool is_class = label >= 0 && label < 1e9;
    if (!(probability > found.threshold()) || !is_class) continue;
    Candidate box = query_at(table, row);
    if (layout.has_angle) {
      box.angle = table.at(row, layout.extras);
    } else {
      const double left = box.x, top = box.y, right = box.width, bottom = box.height;
      box.x = (left + right) / 2;
      box.y = (top + bottom) / 2;
      box.width = right - left;
      box.height = bottom - top;
    }
    box.x /= wide;
    box.width /= wide;
    box.y /= high;
    box.height /= high;
    take(box, std::lround(label), probability, found);
  }
}

std::optional<BoxLayout> fit_rtdetr(const Outputs& outputs, bool named) {
  constexpr std::int64_t usual[] = {80, 91, 365, 366};  // classes of COCO and Objects365
  if (std::optional<BoxLayout> pair = scores_and_boxes(outputs)) {
    judge(outputs, pair->classes, usual, *pair);
    return named || pair->boxes <= most_queries ? pair : std::nullopt;
  }
  const std::optional<TableOutputs> table = table_outputs(outputs);
  if (!table || table->prototypes) return std::nullopt;
  BoxLayout layout{{table->table}};
  layout.boxes = table->outer;
  if (!divide(outputs, *table, box_columns, layout)) return std::nullopt;
  const bool is_list = table->inner == listed_columns && !outputs.facts.classes;
  layout.is_certain = is_short_list(outputs, *table) && !is_list;
  return named || layout.is_certain ? std::optional(layout) : std::nullopt;
}

/// One output has the probabilities of all classes of a box, of which the best counts. With two
/// outputs the probabilities are not final, and each class counts.
void decode_rtdetr(const BoxLayout& layout, Frame frame, const Size&, MostProbable& found) {
  const Table boxes = table_of(frame[layout.outputs.back()], false);
  if (layout.outputs.size() == 1) {
    const std::vector<BestClass> best = best_classes(boxes, box_columns, layout.classes);
    for (std::int64_t row = 0; row < layout.boxes; ++row) {
      const BestClass& of_row = best[static_cast<std::size_t>(row)];
      take(query_at(boxes, row), of_row.label, of_row.score, found);
    }
    return;
  }
  const Table scores = table_of(frame[layout.outputs.front()], false);
  for (std::int64_t row = 0; row < layout.boxes; ++row)
    for (std::int64_t label = 0; label < layout.classes; ++label)
      take(query_at(boxes, row), label, 1 / (1 + std::exp(-scores.at(row, label))), found);
}

std::optional<BoxLayout> fit_detr(const Outputs& outputs, bool named) {
  constexpr std::int64_t usual[] = {92};  // classes of COCO, and none
  std::optional<BoxLayout> layout = scores_and_boxes(outputs);
  if (!layout || layout->classes < 2) return std::nullopt;
  const std::int64_t scores = layout->classes;
  layout->classes = scores - 1;  // the last says that there is nothing
  judge(outputs, scores, usual, *layout);
  return named || layout->boxes <= most_queries ? layout : std::nullopt;
}

void decode_detr(const BoxLayout& layout, Frame frame, const Size&, MostProbable& found) {
  const Table scores = table_of(frame[layout.outputs.front()], false);
  const Table boxes = table_of(frame[layout.outputs.back()], false);
  for (std::int64_t row = 0; row < layout.boxes; ++row) {
    double largest = scores.at(row, layout.classes), total = 0;
    std::int64_t best = 0;
    for (std::int64_t label = 0; label < layout.classes; ++label) {
      largest = std::max(largest, scores.at(row, label));
      if (scores.at(row, label) > scores.at(row, best)) best = label;
    }
    for (std::int64_t label = 0; label <= layout.classes; ++label)
      total += std::exp(scores.at(row, label) - largest);
    take(query_at(boxes, row), best, std::exp(scores.at(row, best) - largest) / total, found);
  }
}

}  // namespace millrace::application
