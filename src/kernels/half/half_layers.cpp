#include "kernels/half/half_layers.h"

#include <algorithm>
#include <vector>

#include "kernels/half/half_elements.h"
#include "kernels/half/half_numbers.h"
#include "kernels/half/half_panels.h"
#include "kernels/plain/pieces.h"
#include "kernels/plain/softmax.h"

namespace millrace::kernels {

#if defined(__aarch64__) && !defined(__clang__)
namespace {

/// Rows of averages: first down the columns, then along the row.
template <class Numbers>
class AveragedHalves {
 public:
  AveragedHalves(const Pool& pool, const Half* from, Half* to)
      : p_(pool), from_(from), to_(to), padded_(round_up(pool.channels, half_lanes)),
        line_(pool.width.input * pool.channels) {}

  /// Counted over all images.
  void write(std::size_t first, std::size_t last) const {
    std::vector<float> columns(line_ + half_lanes), sums(padded_);
    for (std::size_t row = first; row < last; ++row) {
      const PooledPixels down(p_.height, row % p_.height.output);
      const std::size_t image = row / p_.height.output * p_.height.input;
      std::fill(columns.begin(), columns.end(), 0.f);
      for (std::size_t y = 0; y < down.number; ++y)
        add_halves(from_ + (image + down.first + y) * line_, columns.data());
      for (std::size_t x = 0; x < p_.width.output; ++x)
        write_pixel({row, x, down.number}, columns.data(), sums.data());
    }
  }

 private:
  struct Pixel {
    std::size_t row, x, rows;  // rows: of the image, under its window
  };

  void add_halves(const Half* from, float* to) const {
    std::size_t i = 0;
    for (; i + half_lanes <= line_; i += half_lanes) {
      const float16x8_t x = read_half(from + i);
      vst1q_f32(to + i, vld1q_f32(to + i) + Numbers::low(x));
      vst1q_f32(to + i + 4, vld1q_f32(to + i + 4) + Numbers::high(x));
    }
    if (i == line_) return;
    Half some[half_lanes] = {};
    float wide[half_lanes];
    std::copy_n(from + i, line_ - i, some);
    widen<Numbers>(some, wide);
    for (std::size_t k = 0; i + k < line_; ++k) to[i + k] += wide[k];
  }

  void write_pixel(const Pixel& pixel, const float* columns, float* sums) const {
    const PooledPixels across(p_.width, pixel.x);
    const std::size_t numbers = p_.counts_padding ? p_.height.window * p_.width.window
                                                  : pixel.rows * across.number;
    const float share = 1 / static_cast<float>(numbers);
    const float* const from = columns + across.first * p_.channels;
    std::copy_n(from, p_.channels, sums);
    for (std::size_t k = 1; k < across.number; ++k)
      for (std::size_t c = 0; c < p_.channels; ++c) sums[c] += from[k * p_.channels + c];
    for (std::size_t c = 0; c < p_.channels; ++c) sums[c] *= share;
    write_numbers(sums, to_ + (pixel.row * p_.width.output + pixel.x) * p_.channels);
  }

  void write_numbers(const float* sums, Half* to) const {
    std::size_t i = 0;
    for (; i + half_lanes <= p_.channels; i += half_lanes) narrow_eight<Numbers>(sums + i, to + i);
    if (i == p_.channels) return;
    Half some[half_lanes];
    narrow_eight<Numbers>(sums + i, some);
    std::copy_n(some, p_.channels - i, to + i);
  }

  const Pool& p_;
  const Half* from_;
  Half* to_;
  std::size_t padded_, line_;
};

template <class Numbers>
void average_all(const Pool& pool, const Half* from, Half* to) {
  const AveragedHalves<Numbers> averages(pool, from, to);
  const std::size_t read =
      std::min(pool.height.window, pool.height.input) * pool.width.input * pool.channels;
  in_pieces_of_rows(pool.images * pool.height.output, read, [&](std::size_t first,
                                                                std::size_t last) {
    averages.write(first, last);
  });
}

}  // namespace

void apply_to_halves(const ElementFunction& function, std::span<const Half> from, Half* to,
                     StoredNumber kind) {
  constexpr std::size_t piece = 512;
  in_pieces(from.size(), worthwhile, [&](std::size_t first, std::size_t last) {
    float numbers[piece];
    for (std::size_t i = first; i < last; i += piece) {
      const std::size_t count = std::min(piece, last - i);
      write_floats_of(from.subspan(i, count), numbers, kind);
      apply(function, {numbers, count}, numbers);
      write_halves_of({numbers, count}, to + i, kind);
    }
  });
}

void softmax_of_halves(const HalfSoftmax& softmax, const Half* from, float* to) {
  const std::size_t size = softmax.rows.size;
  in_pieces_of_rows(softmax.rows.count, size, [&](std::size_t first, std::size_t last) {
    const std::size_t count = (last - first) * size;
    write_floats_of({from + first * size, count}, to + first * size, softmax.kind);
    softmax_rows({last - first, size}, softmax.logarithm, to + first * size, to + first * size);
  });
}

void average_pool_of_halves(const Pool& pool, const Half* from, Half* to, StoredNumber kind) {
  kind == StoredNumber::bf16 ? average_all<Bfloat16Numbers>(pool, from, to)
                             : average_all<Float16Numbers>(pool, from, to);
}
#else
void apply_to_halves(const ElementFunction&, std::span<const Half>, Half*, StoredNumber) {}
void softmax_of_halves(const HalfSoftmax&, const Half*, float*) {}
void average_pool_of_halves(const Pool&, const Half*, Half*, StoredNumber) {}
#endif

}  // namespace millrace::kernels
