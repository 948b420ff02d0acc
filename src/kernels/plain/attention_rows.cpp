#include "kernels/plain/attention_rows.h"

#include <limits>

#include "kernels/plain/lanes.h"
#include "kernels/plain/smooth.h"

namespace millrace::kernels {
namespace {

constexpr float log2_of_e = 1.44269504f;

[[gnu::always_inline]] inline void add_mask(const ProductRows& at, std::size_t row) {
  float* const x = at.numbers + row * at.apart;
  const float* const mask = at.mask + static_cast<std::ptrdiff_t>(row) * at.mask_row;
  if (at.mask_column == 1)
    for (std::size_t i = 0; i < at.keys; ++i) x[i] += mask[i];
  else
    for (std::size_t i = 0; i < at.keys; ++i)
      x[i] += mask[static_cast<std::ptrdiff_t>(i) * at.mask_column];
}

template <std::size_t lanes>
[[gnu::always_inline]] inline float largest_of_row(const float* x, std::size_t whole) {
  typename LanesOf<lanes>::Type most, next;
  read_lanes(most, x);
  for (std::size_t i = lanes; i < whole; i += lanes) {
    read_lanes(next, x + i);
    most = next > most ? next : most;
  }
  return folded(
      most,
      [](const auto& a, const auto& b) __attribute__((always_inline)) { return a > b ? a : b; });
}

/// In sixteen sums, however many of them are in a vector.
template <std::size_t lanes>
[[gnu::always_inline]] inline float sum_of_powers(float* x, std::size_t whole, float largest) {
  constexpr std::size_t vectors = lane_count / lanes;
  typename LanesOf<lanes>::Type sums[vectors] = {}, next;
  for (std::size_t i = 0; i < whole; i += lane_count)
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v, x += lanes) {
      read_lanes(next, x);
      next = power_of_two((next - largest) * log2_of_e);
      __builtin_memcpy(x, &next, sizeof next);
      sums[v] += next;
    }
  for (std::size_t half = vectors / 2; half > 0; half /= 2)
    for (std::size_t v = 0; v < half; ++v) sums[v] += sums[v + half];
  return folded(
      sums[0], [](const auto& a, const auto& b) __attribute__((always_inline)) { return a + b; });
}

/// In two passes, so that rows do not wait for each other.
struct RaisedRows {
  const ProductRows& at;
  float* factors;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    for (std::size_t r = 0; r < at.rows; ++r) {
      float* const x = at.numbers + r * at.apart;
      if (at.mask) add_mask(at, r);
      for (std::size_t i = at.keys; i < at.whole; ++i)
        x[i] = -std::numeric_limits<float>::infinity();
      factors[r] = largest_of_row<lanes>(x, at.whole);
    }
    for (std::size_t r = 0; r < at.rows; ++r)
      factors[r] = 1.f / sum_of_powers<lanes>(at.numbers + r * at.apart, at.whole, factors[r]);
  }
};

}  // namespace

void raise_rows(const ProductRows& at, float* factors) { run_in_lanes(RaisedRows{at, factors}); }

ProductRows product_rows(const Attention& a, const AttentionOperands& operands,
                         const RowsPlace& place) {
  ProductRows result{nullptr, place.rows, a.keys, 0, 0, nullptr, a.mask.row, a.mask.column};
  if (!a.mask.begins.empty())
    result.mask = operands.mask + a.mask.begins[place.matrix] +
                  static_cast<std::ptrdiff_t>(place.first) * a.mask.row;
  return result;
}

void read_queries(const Attention& a, const AttentionOperands& operands, const RowsPlace& place,
                  RowsToFill to) {
  const MatrixPlaces& places = a.query;
  for (std::size_t r = 0; r < place.rows; ++r, to.numbers += to.apart) {
    const float* const from = operands.query + places.begins[place.matrix] +
                              static_cast<std::ptrdiff_t>(place.first + r) * places.row;
    for (std::size_t d = 0; d < a.depth; ++d)
      to.numbers[d] = a.factor * from[static_cast<std::ptrdiff_t>(d) * places.column];
  }
}

void write_results(const Attention& a, const AttentionOperands& operands, const RowsPlace& place,
                   const WeighedSums& sums) {
  const MatrixPlaces& places = a.result;
  for (std::size_t r = 0; r < place.rows; ++r) {
    const float* const from = sums.numbers + r * sums.apart;
    const float factor = sums.factors[r];
    float* const to = operands.result + places.begins[place.matrix] +
                      static_cast<std::ptrdiff_t>(place.first + r) * places.row;
    if (places.column == 1)
      for (std::size_t c = 0; c < a.width; ++c) to[c] = from[c] * factor;
    else
      for (std::size_t c = 0; c < a.width; ++c)
        to[static_cast<std::ptrdiff_t>(c) * places.column] = from[c] * factor;
  }
}

}  // namespace millrace::kernels
