#pragma once
// Outputs of a network as rows of numbers: one row for each box.
#include <cstdint>
#include <span>
#include <vector>

#include "network/tensor.h"

namespace millrace::application {

/// Borrows the values of an output of 1 x rows x columns, or of 1 x columns x rows.
struct Table {
  std::span<const float> values;
  std::int64_t rows = 0, columns = 0;
  std::int64_t row_step = 0, column_step = 0;

  double at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * row_step + column * column_step)];
  }
};

/// The table in a float32 output. `columns_first`: the output is 1 x columns x rows.
inline Table table_of(const network::Array& output, bool columns_first) {
  const std::size_t last = output.shape.size() - 1;
  const std::int64_t outer = last > 0 ? output.shape[last - 1] : 1, inner = output.shape[last];
  if (columns_first) return {output.values<float>(), inner, outer, 1, inner};
  return {output.values<float>(), outer, inner, inner, 1};
}

/// The most probable class of each row, from `count` columns that begin at `first`.
struct BestClass {
  std::int64_t label = 0;
  float score = -1;  // what is not a number counts as nothing
};

/// In the order in which the values lie in memory.
inline std::vector<BestClass> best_classes(const Table& table, std::int64_t first,
                                           std::int64_t count) {
  std::vector<BestClass> best(static_cast<std::size_t>(table.rows));
  const auto look = [&](std::int64_t row, std::int64_t label) {
    const auto score = static_cast<float>(table.at(row, first + label));
    BestClass& of_row = best[static_cast<std::size_t>(row)];
    if (score > of_row.score) of_row = {label, score};
  };
  if (table.column_step == 1) {
    for (std::int64_t row = 0; row < table.rows; ++row)
      for (std::int64_t label = 0; label < count; ++label) look(row, label);
  } else {
    for (std::int64_t label = 0; label < count; ++label)
      for (std::int64_t row = 0; row < table.rows; ++row) look(row, label);
  }
  return best;
}

}  // namespace millrace::application
