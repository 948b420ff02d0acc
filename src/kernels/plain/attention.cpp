#include "kernels/plain/attention.h"

#include <algorithm>
#include <optional>
#include <span>

#include "kernels/lane_products.h"
#include "kernels/plain/attention_rows.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t panel_lanes = 4;  // vectors of a panel
constexpr std::size_t panel_numbers = panel_lanes * lane_count;
#if defined(__aarch64__)
constexpr std::size_t step_rows = 8;  // rows come in so many: 32 registers hold their sums
#else
constexpr std::size_t step_rows = 6;
#endif
constexpr std::size_t most_kept_rows = 24;       // whose products are kept at once
constexpr std::size_t most_products = 1u << 16;  // so that they stay in a core's own cache
constexpr std::size_t keys_at_once = 128;        // so that their values stay in the nearest one

std::size_t in_whole(std::size_t count, std::size_t each) {
  return (count + each - 1) / each * each;
}

/// A matrix in panels that follow each other: row by row, of four vectors, the last of fewer.
struct Panels {
  float* numbers;
  std::size_t rows, columns;  // whole vectors

  std::size_t width(std::size_t first) const { return std::min(panel_numbers, columns - first); }
  float* from(std::size_t first_column) const { return numbers + first_column * rows; }
};

/// A row of a panel: what is there, and zeros.
void pack_row(const float* from, std::ptrdiff_t column, std::size_t there, std::span<float> to) {
  if (column == 1)
    std::copy(from, from + there, to.begin());
  else
    for (std::size_t c = 0; c < there; ++c) to[c] = from[static_cast<std::ptrdiff_t>(c) * column];
  std::fill(to.begin() + static_cast<std::ptrdiff_t>(there), to.end(), 0.f);
}

void pack_panels(const Panels& panels, const float* from, const MatrixPlaces& places,
                 std::size_t columns) {
  for (std::size_t first = 0; first < panels.columns; first += panel_numbers) {
    const std::size_t width = panels.width(first), there = std::min(width, columns - first);
    const float* row = from + static_cast<std::ptrdiff_t>(first) * places.column;
    for (std::size_t r = 0; r < panels.rows; ++r, row += places.row)
      pack_row(row, places.column, there, {panels.from(first) + r * width, width});
  }
}

/// Rows by a panel, or by some rows of it: to (+)= from * panel. Sums begin at zero, and are added
/// to others last, so that no sum is of many numbers.
struct PanelWalk {
  const float* from;
  std::size_t from_stride, rows;  // rows in whole steps
  const float* panel;
  std::size_t depth, width;
  float* to;
  std::size_t to_stride;
  bool adds;
};

#if defined(__aarch64__)
/// sums += a number of each row times a row of the panel.
template <int lane, std::size_t rows, std::size_t vectors>
[[gnu::always_inline]] inline void add_lane(LanesOf<4>::Type (&sums)[rows][vectors],
                                            const LanesOf<4>::Type (&factors)[rows],
                                            const float* panel) {
  LanesOf<4>::Type row[vectors];
#pragma GCC unroll 2
  for (std::size_t v = 0; v < vectors; ++v) read_vector(row[v], panel + v * 4);
#pragma GCC unroll 8
  for (std::size_t r = 0; r < rows; ++r)
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v) add_product<lane>(sums[r][v], row[v], factors[r]);
}

/// Four numbers of each row are read at once: how many were used.
template <std::size_t rows, std::size_t vectors>
[[gnu::always_inline]] inline std::size_t add_by_fours(LanesOf<4>::Type (&sums)[rows][vectors],
                                                       const PanelWalk& walk, const float* from) {
  const float* panel = walk.panel;
  std::size_t k = 0;
  for (; k + 4 <= walk.depth; k += 4, panel += 4 * walk.width) {
    LanesOf<4>::Type factors[rows];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) read_vector(factors[r], from + r * walk.from_stride + k);
    add_lane<0>(sums, factors, panel);
    add_lane<1>(sums, factors, panel + walk.width);
    add_lane<2>(sums, factors, panel + 2 * walk.width);
    add_lane<3>(sums, factors, panel + 3 * walk.width);
  }
  return k;
}
#endif

template <std::size_t lanes, std::size_t rows, std::size_t vectors>
[[gnu::always_inline]] inline void walk_panel(const PanelWalk& walk, std::size_t first) {
  const float* const from = walk.from + first * walk.from_stride;
  float* const to = walk.to + first * walk.to_stride;
  typename LanesOf<lanes>::Type sums[rows][vectors] = {}, row[vectors];
  std::size_t k = 0;
#if defined(__aarch64__)
  if constexpr (lanes == 4) k = add_by_fours(sums, walk, from);
#endif
  const float* panel = walk.panel + k * walk.width;
  for (; k < walk.depth; ++k, panel += walk.width) {
    for (std::size_t v = 0; v < vectors; ++v) read_lanes(row[v], panel + v * lanes);
    for (std::size_t r = 0; r < rows; ++r) {
      const float factor = from[r * walk.from_stride + k];
      for (std::size_t v = 0; v < vectors; ++v) sums[r][v] += factor * row[v];
    }
  }
  if (walk.adds)
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t v = 0; v < vectors; ++v) {
        read_lanes(row[v], to + r * walk.to_stride + v * lanes);
        sums[r][v] += row[v];
      }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t v = 0; v < vectors; ++v)
      __builtin_memcpy(to + r * walk.to_stride + v * lanes, &sums[r][v], sizeof sums[r][v]);
}

/// Narrow panels need twice as many rows, so that sums do not wait for each other.
template <std::size_t vectors>
[[gnu::always_inline]] inline void walk_rows(const PanelWalk& walk) {
  constexpr std::size_t rows = vectors > 2 ? step_rows : 2 * step_rows;
  std::size_t first = 0;
  for (; first + rows <= walk.rows; first += rows)
    walk_panel<lane_count, rows, vectors>(walk, first);
  if (first < walk.rows) walk_panel<lane_count, step_rows, vectors>(walk, first);
}

struct WholePanel {
  PanelWalk walk;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    if constexpr (lanes == lane_count)
      in_one();  // 32 registers hold all sums
    else
      in_columns<lanes>();
  }

 private:
  [[gnu::always_inline]] void in_one() const {
    switch (walk.width / lane_count) {
      case 1:
        return walk_rows<1>(walk);
      case 2:
        return walk_rows<2>(walk);
      case 3:
        return walk_rows<3>(walk);
      default:
        return walk_rows<4>(walk);
    }
  }
  /// Two vectors at a time: 16 registers hold their sums.
  template <std::size_t lanes>
  [[gnu::always_inline]] void in_columns() const {
    PanelWalk part = walk;
    for (std::size_t column = 0; column < walk.width; column += 2 * lanes) {
      part.panel = walk.panel + column;
      part.to = walk.to + column;
      for (std::size_t first = 0; first < walk.rows; first += step_rows)
        walk_panel<lanes, step_rows, 2>(part, first);
    }
  }
};

std::size_t block_rows_of(const Attention& attention) {
  const std::size_t fitting = most_products / in_whole(attention.keys, lane_count);
  const std::size_t rows = std::min({fitting, most_kept_rows, in_whole(attention.rows, step_rows)});
  return std::max(rows / step_rows, std::size_t{1}) * step_rows;
}

/// How many numbers a thread needs for each of these.
struct WorkingSizes {
  std::size_t keys, values, queries, products, sums;

  explicit WorkingSizes(const Attention& a)
      : keys(in_whole(a.keys, lane_count) * a.depth),
        values(in_whole(a.width, lane_count) * a.keys),
        queries(block_rows_of(a) * a.depth),
        products(block_rows_of(a) * in_whole(a.keys, lane_count)),
        sums(block_rows_of(a) * in_whole(a.width, lane_count)) {}
  std::size_t all() const {
    return in_whole(keys + values + queries + products + sums, lane_count);
  }
};

/// What a thread works with.
class Attending {
 public:
  Attending(const Attention& attention, const AttentionOperands& operands, float* working)
      : attention_(attention),
        operands_(operands),
        keys_{working, attention.depth, in_whole(attention.keys, lane_count)} {
    const WorkingSizes sizes(attention);
    values_ = {working + sizes.keys, attention.keys, in_whole(attention.width, lane_count)};
    queries_ = values_.numbers + sizes.values;
    products_ = queries_ + sizes.queries;
    sums_ = products_ + sizes.products;
  }

  /// Packs keys and values that do not lie in panels already; several matrices may have the same.
  void take(std::size_t matrix) {
    const std::ptrdiff_t key = attention_.key.begins[matrix];
    const std::ptrdiff_t value = attention_.value.begins[matrix];
    if (key_ != key) pack_panels(keys_, operands_.key + key, attention_.key, attention_.keys);
    if (value_ != value)
      pack_panels(values_, operands_.value + value, attention_.value, attention_.width);
    key_ = key;
    value_ = value;
  }

  void attend(const RowsPlace& place) {
    const std::size_t whole = in_whole(place.rows, step_rows);
    read_queries(attention_, operands_, place, {queries_, attention_.depth});
    std::fill(queries_ + place.rows * attention_.depth, queries_ + whole * attention_.depth, 0.f);
    for (std::size_t k = 0; k < keys_.columns; k += panel_numbers)
      run_in_lanes(WholePanel{{queries_, attention_.depth, whole, keys_.from(k), attention_.depth,
                               keys_.width(k), products_ + k, keys_.columns, false}});
    ProductRows products = product_rows(attention_, operands_, place);
    products.numbers = products_;
    products.whole = products.apart = keys_.columns;
    float factors[most_kept_rows];
    raise_rows(products, factors);
    multiply_values(whole);
    write_results(attention_, operands_, place, {sums_, values_.columns, factors});
  }

 private:
  /// Some keys after the others, so that their values are read for all rows from a near cache.
  void multiply_values(std::size_t rows) {
    for (std::size_t column = 0; column < values_.columns; column += panel_numbers) {
      const std::size_t width = values_.width(column);
      for (std::size_t k = 0; k < attention_.keys; k += keys_at_once)
        run_in_lanes(
            WholePanel{{products_ + k, keys_.columns, rows, values_.from(column) + k * width,
                        std::min(keys_at_once, attention_.keys - k), width, sums_ + column,
                        values_.columns, k > 0}});
    }
  }

  const Attention& attention_;
  const AttentionOperands& operands_;
  Panels keys_, values_{};
  float *queries_ = nullptr, *products_ = nullptr, *sums_ = nullptr;
  std::optional<std::ptrdiff_t> key_, value_;  // the beginnings of what lies in panels
};

}  // namespace

std::size_t blocks_of(const Attention& attention) {
  return RowBlocks(attention, block_rows_of(attention)).count;
}

std::size_t working_numbers(const Attention& attention, std::size_t threads) {
  const RowBlocks blocks(attention, block_rows_of(attention));
  return WorkingSizes(attention).all() * blocks.working(threads);
}

void attend(const Attention& attention, const AttentionOperands& operands, std::size_t threads) {
  const std::size_t working = WorkingSizes(attention).all();
  attend_blocks(attention, RowBlocks(attention, block_rows_of(attention)), threads,
                [&](std::size_t thread) {
                  return Attending(attention, operands, operands.working + thread * working);
                });
}

}  // namespace millrace::kernels
