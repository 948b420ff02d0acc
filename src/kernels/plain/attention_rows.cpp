#include "kernels/plain/attention_rows.h"

#include <limits>

#include "kernels/plain/exponentials.h"
#include "kernels/plain/lanes.h"

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

[[gnu::always_inline]] inline float largest_of_row(const float* x, std::size_t whole) {
  Lanes most, next;
  read_lanes(most, x);
  for (std::size_t i = lane_count; i < whole; i += lane_count) {
    read_lanes(next, x + i);
    most = next > most ? next : most;
  }
  return folded(
      most,
      [](const auto& a, const auto& b) __attribute__((always_inline)) { return a > b ? a : b; });
}

[[gnu::always_inline]] inline float sum_of_powers(float* x, std::size_t whole, float largest) {
  Lanes sum = {}, next;
  for (std::size_t i = 0; i < whole; i += lane_count, x += lane_count) {
    for (std::size_t l = 0; l < lane_count; ++l) x[l] = power_of_two((x[l] - largest) * log2_of_e);
    read_lanes(next, x);
    sum += next;
  }
  return folded(
      sum, [](const auto& a, const auto& b) __attribute__((always_inline)) { return a + b; });
}

}  // namespace

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
// In two passes, so that rows do not wait for each other.
void raise_rows(const ProductRows& at, float* factors) {
  for (std::size_t r = 0; r < at.rows; ++r) {
    float* const x = at.numbers + r * at.apart;
    if (at.mask) add_mask(at, r);
    for (std::size_t i = at.keys; i < at.whole; ++i) x[i] = -std::numeric_limits<float>::infinity();
    factors[r] = largest_of_row(x, at.whole);
  }
  for (std::size_t r = 0; r < at.rows; ++r)
    factors[r] = 1.f / sum_of_powers(at.numbers + r * at.apart, at.whole, factors[r]);
}

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
