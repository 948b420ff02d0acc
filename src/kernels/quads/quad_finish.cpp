#include "kernels/quads/quad_finish.h"

#include <cstring>

#include "kernels/activate.h"
#include "kernels/quads/quad_lanes.h"

namespace millrace::kernels {
namespace {

/// Sums of sixteen outputs of some pixels, and where what becomes of them goes.
struct FinishPlaces {
  const std::int32_t* sums;
  std::size_t sum_apart;
  std::byte* to;
  std::size_t to_apart, rows;
};

/// Sixteen outputs of all rows, or fewer.
class FinishColumns {
 public:
  [[gnu::always_inline]] FinishColumns(const QuadRows& rows, std::size_t first)
      : c_(rows.convolution),
        a_(rows.convolution.activation),
        count_(rows.outputs - first < 16 ? rows.outputs - first : 16),
        added_scale_(c_.added_scale - FinishVector{}),
        added_shift_(-(c_.added_zero * c_.added_scale) - FinishVector{}) {
    for (std::size_t v = 0; v < finish_vectors; ++v) {
      read_vector(scale_[v], rows.scales + first + v * finish_lanes);
      read_vector(bias_[v], rows.bias + first + v * finish_lanes);
    }
  }

  [[gnu::always_inline]] void run(const FinishPlaces& places) const {
    if (size_of(c_.result) > 1)
      run_floats(places);
    else if (a_.is_curve() || a_.slope != 1)
      run_bytes<true>(places);
    else if (c_.adds)
      run_bytes<false>(places);
    else if (clips())
      run_plain<true>(places);
    else
      run_plain<false>(places);
  }

 private:
  bool is_signed() const { return c_.result == StoredNumber::s8; }
  /// More than bytes do.
  bool clips() const {
    const float low = a_.low + c_.result_zero, high = a_.high + c_.result_zero;
    return low > (is_signed() ? -128.f : 0.f) || high < (is_signed() ? 127.f : 255.f);
  }

  /// Where the integer for 0 may be added first: with the bias.
  template <bool clips>
  [[gnu::always_inline]] void run_plain(FinishPlaces p) const {
    const FinishVector zero = c_.result_zero - FinishVector{};
    const FinishVector low = a_.low + zero, high = a_.high + zero;
    FinishVector bias[finish_vectors];
    for (std::size_t v = 0; v < finish_vectors; ++v) bias[v] = bias_[v] + zero;
    const bool has_sign = is_signed();
    for (; p.rows > 0; --p.rows, p.sums += p.sum_apart, p.to += p.to_apart) {
      FinishVector x[finish_vectors];
#pragma GCC unroll 4
      for (std::size_t v = 0; v < finish_vectors; ++v) {
        x[v] = integers_at(p.sums + v * finish_lanes) * scale_[v] + bias[v];
        if (clips) x[v] = clipped(x[v], low, high);
      }
      write_some(nearest_bytes(x, has_sign), p.to);
    }
  }

  template <bool bends>
  [[gnu::always_inline]] void run_bytes(FinishPlaces p) const {
    const FinishVector low = a_.low - FinishVector{}, high = a_.high - FinishVector{};
    const FinishVector zero = c_.result_zero - FinishVector{};
    const bool has_sign = is_signed(), adds = c_.adds, adds_last = c_.adds_last;
    for (; p.rows > 0; --p.rows, p.sums += p.sum_apart, p.to += p.to_apart) {
      FinishVector x[finish_vectors], added[finish_vectors] = {};
      if (adds) read_added(added, p.to);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < finish_vectors; ++v) {
        x[v] = integers_at(p.sums + v * finish_lanes) * scale_[v] + bias_[v];
        if (adds && !adds_last) x[v] += added[v];
        const bool is_curve = bends && a_.is_curve();
        if (is_curve) x[v] = activated(x[v], a_);
        if (bends && !is_curve) x[v] = x[v] < 0 ? x[v] * a_.slope : x[v];
        if (!is_curve) x[v] = clipped(x[v], low, high);
        if (adds_last) x[v] += added[v];
        x[v] += zero;
      }
      write_some(nearest_bytes(x, has_sign), p.to);
    }
  }

  [[gnu::always_inline]] void write_some(const SixteenBytes& bytes, std::byte* to) const {
    if (count_ == 16) return write_all(bytes, to);
    std::memcpy(to, &bytes, count_);
  }

  [[gnu::always_inline]] void run_floats(FinishPlaces p) const {
    for (; p.rows > 0; --p.rows, p.sums += p.sum_apart, p.to += p.to_apart) {
      FinishVector x[finish_vectors], added[finish_vectors] = {};
      if (c_.adds) read_added(added, p.to);
      for (std::size_t v = 0; v < finish_vectors; ++v)
        x[v] = finished(integers_at(p.sums + v * finish_lanes) * scale_[v] + bias_[v], added[v],
                        c_);
      count_ == 16 ? std::memcpy(p.to, x, sizeof x) : std::memcpy(p.to, x, count_ * sizeof(float));
    }
  }

  [[gnu::always_inline]] void read_added(FinishVector (&added)[finish_vectors],
                                                const std::byte* from) const {
    if (c_.added == StoredNumber::f32) {
      count_ == 16 ? std::memcpy(added, from, sizeof added)
                   : std::memcpy(added, from, count_ * sizeof(float));
    } else {
      SixteenBytes bytes = {};
      count_ == 16 ? std::memcpy(&bytes, from, 16) : std::memcpy(&bytes, from, count_);
      numbers_of(bytes, c_.added == StoredNumber::s8, added);
    }
#pragma GCC unroll 4
    for (std::size_t v = 0; v < finish_vectors; ++v)
      added[v] = added[v] * added_scale_ + added_shift_;
  }

  const QuadConvolution& c_;
  const Activation a_;
  const std::size_t count_;
  const FinishVector added_scale_, added_shift_;
  FinishVector scale_[finish_vectors], bias_[finish_vectors];
};

/// For run_in().
struct FinishAll {
  const QuadRows& rows;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() const {
    const std::size_t size = size_of(rows.convolution.result);
    const QuadConvolution local = rows.convolution;  // so that nothing written seems to change it
    const QuadRows of_local{local,     rows.sums, rows.sum_apart, rows.scales,
                            rows.bias, rows.to,   rows.rows,      rows.outputs};
    for (std::size_t i = 0; i < rows.outputs; i += 16)
      FinishColumns(of_local, i).run(
          {rows.sums + i, rows.sum_apart, rows.to + i * size, local.outputs * size, rows.rows});
  }
};

}  // namespace

void finish(const QuadRows& rows) { run_for_units(FinishAll{rows}); }

}  // namespace millrace::kernels
