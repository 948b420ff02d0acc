#include "kernels/half/half_depthwise.h"

#include <algorithm>
#include <cmath>

#include "kernels/bfloat16.h"
#include "kernels/direct/depthwise.h"
#include "kernels/direct/end_of_sums.h"
#include "kernels/direct/window_taps.h"
#include "kernels/float16.h"
#include "kernels/half/half_numbers.h"
#include "kernels/half/half_panels.h"
#include "kernels/half/half_sums.h"

namespace millrace::kernels {
namespace {

/// Behind the weights: numbers.
std::size_t depthwise_scales(const DirectConvolution& c) {
  return round_up(c.channels, half_lanes) * c.taps();
}

#if defined(__aarch64__) && !defined(__clang__)

/// Some results of a row that follow each other, and what lies under their first tap, of a vector
/// of channels.
struct HalfPiece {
  const Half* from;
  const Half* with;
  const Half* scale;
  const float* bias;
  Half* to;
};

/// How far pixels lie apart. Unseen by compilers, which would compute the address of each number
/// anew, or keep those of all rows' in more registers than there are.
template <std::size_t count>
struct HalfOffsets {
  std::size_t at[count];
  [[gnu::always_inline]] explicit HalfOffsets(std::size_t pixel) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < count; ++i) {
      at[i] = i * pixel;
      asm("" : "+r"(at[i]));
    }
  }
};

/// Eight sums in float16, of numbers and weights divided by their scales.
struct Float16Sums : Float16Numbers {
  struct Clip {
    [[gnu::always_inline]] explicit Clip(const Activation& a)
        : low(spread_half(a.low)), high(spread_half(a.high)) {}
    float16x8_t low, high;
  };

  [[gnu::always_inline]] void add(float16x8_t w, float16x8_t x) { sum = with_product(sum, w, x); }
  /// Sums of the first numbers, and of the last ones, without their scales.
  [[gnu::always_inline]] float32x4_t first() const { return low(sum); }
  [[gnu::always_inline]] float32x4_t last() const { return high(sum); }
  [[gnu::always_inline]] float16x8_t clipped_with(const HalfPiece& piece, const Clip& to) const {
    const float16x8_t scale = read_half(piece.scale);
    float16x8_t bias = no_halves();
    if (piece.bias) bias = narrow(vld1q_f32(piece.bias), vld1q_f32(piece.bias + 4));
    return clipped(with_product(bias, sum, scale), to.low, to.high);
  }

  float16x8_t sum = no_halves();
};

/// Eight sums of bfloat16 products in float32: those with even numbers, and the others.
struct Bfloat16Sums : Bfloat16Numbers {
  struct Clip {
    [[gnu::always_inline]] explicit Clip(const Activation& a)
        : low(vdupq_n_f32(a.low)), high(vdupq_n_f32(a.high)) {}
    float32x4_t low, high;
  };

  [[gnu::always_inline]] void add(float16x8_t w, float16x8_t x) {
    asm volatile(
        ".arch_extension bf16\n\tbfmlalb %0.4s, %2.8h, %3.8h\n\tbfmlalt %1.4s, %2.8h, %3.8h"
        : "+w"(even), "+w"(odd)
        : "w"(w), "w"(x));
  }
  [[gnu::always_inline]] float32x4_t first() const { return vzip1q_f32(even, odd); }
  [[gnu::always_inline]] float32x4_t last() const { return vzip2q_f32(even, odd); }
  [[gnu::always_inline]] float16x8_t clipped_with(const HalfPiece& piece, const Clip& to) const {
    float32x4_t y = first(), z = last();
    if (piece.bias) y += vld1q_f32(piece.bias), z += vld1q_f32(piece.bias + 4);
    return narrowed(clipped(y, to.low, to.high), clipped(z, to.low, to.high));
  }

  float32x4_t even = vdupq_n_f32(0), odd = vdupq_n_f32(0);
};

/// In registers, where stores of results might change them.
template <class Sums>
struct HalfEnds {
  [[gnu::always_inline]] explicit HalfEnds(const HalfConvolution& c, bool plain)
      : clip(c.activation), channels(c.channels), weights(c.taps() * half_lanes), is_plain(plain) {}
  typename Sums::Clip clip;
  std::size_t channels;  // of a pixel
  std::size_t weights;   // of a vector of them
  bool is_plain;
};

/// What the rows of a convolution have in common.
struct HalfImage {
  const HalfConvolution& c;
  const HalfOperands& o;
  TapRange whole = whole_outputs(c.width);
  bool is_plain = end_of(c) != SumsEnd::other && !c.adds;
};

/// A row of results.
template <class Sums>
class HalfRow {
  using Ends = HalfEnds<Sums>;

 public:
  HalfRow(const HalfImage& image, std::size_t row)
      : c_(image.c),
        o_(image.o),
        whole_(image.whole),
        is_plain_(image.is_plain),
        row_(row),
        down_(taps_inside(c_.height, row % c_.height.output)) {}

  void run() const {
    const std::size_t window = c_.width.window, stride = c_.width.stride;
    const bool is_square = c_.width.dilation == 1 && c_.height.window == window;
    run_edge({0, whole_.first});
    if (is_square && window == 3 && stride == 1)
      run_inside<3, 1>();
    else if (is_square && window == 3 && stride == 2)
      run_inside<3, 2>();
    else if (is_square && window == 5 && stride == 1)
      run_inside<5, 1>();
    else if (is_square && window == 5 && stride == 2)
      run_inside<5, 2>();
    else
      run_edge(whole_);
    run_edge({whole_.end, c_.width.output});
    if (c_.channels % half_lanes > 0) run_rest();
  }

 private:
  HalfPiece piece_at(std::size_t x, const TapRange& across) const {
    const std::size_t image = row_ / c_.height.output, y = row_ % c_.height.output;
    const WindowAxis &h = c_.height, &w = c_.width;
    const std::size_t row = image * h.input + y * h.stride + down_.first * h.dilation - h.pad;
    const std::size_t column = x * w.stride + across.first * w.dilation - w.pad;
    const auto* const weights = reinterpret_cast<const Half*>(o_.weights);
    return {o_.source + (row * w.input + column) * c_.channels,
            weights + (down_.first * w.window + across.first) * half_lanes,
            weights + depthwise_scales(c_), o_.bias,
            o_.result + (row_ * w.output + x) * c_.channels};
  }

  std::size_t row_apart() const { return c_.height.dilation * c_.width.input * c_.channels; }

  [[gnu::always_inline]] static void go_on(HalfPiece& piece, std::size_t weights) {
    piece.from += half_lanes;
    piece.with += weights;
    piece.scale += half_lanes;
    piece.bias += piece.bias ? half_lanes : 0;
    piece.to += half_lanes;
  }

  /// One by one.
  void run_edge(const TapRange& outputs) const {
    const Ends ends(c_, is_plain_);
    const std::size_t row = row_apart(), tap = c_.width.dilation * c_.channels;
    for (std::size_t x = outputs.first; x < outputs.end; ++x) {
      const TapRange across = taps_inside(c_.width, x);
      HalfPiece piece = piece_at(x, across);
      for (std::size_t i = half_lanes; i <= ends.channels; i += half_lanes) {
        const Sums sums[1] = {sum_of(piece, across.size(), row, tap)};
        write(sums, piece, ends);
        go_on(piece, ends.weights);
      }
    }
  }

  [[gnu::always_inline]] Sums sum_of(const HalfPiece& piece, std::size_t across, std::size_t row,
                                     std::size_t tap) const {
    Sums sum;
    const Half *from = piece.from, *with = piece.with;
    const std::size_t rows = down_.size(), weights = c_.width.window * half_lanes;
    for (std::size_t y = 0; y < rows; ++y) {
      for (std::size_t i = 0; i < across; ++i)
        sum.add(read_half(with + i * half_lanes), read_half(from + i * tap));
      from += row;
      with += weights;
    }
    return sum;
  }

  template <std::size_t window, std::size_t stride>
  [[gnu::always_inline]] void run_inside() const {
    std::size_t x = whole_.first;
    for (; x + 4 <= whole_.end; x += 4) run_some<4, window, stride>(x);
    if (x + 2 <= whole_.end) run_some<2, window, stride>(x), x += 2;
    if (x < whole_.end) run_some<1, window, stride>(x);
  }

  template <std::size_t pixels, std::size_t window, std::size_t stride>
  void run_some(std::size_t x) const {
    HalfPiece piece = piece_at(x, {0, window});
    const std::size_t row = row_apart(), rows = down_.size();
    const HalfOffsets<(pixels - 1) * stride + window> offsets(c_.channels);
    const Ends ends(c_, is_plain_);
    for (std::size_t i = half_lanes; i <= ends.channels; i += half_lanes) {
      Sums sums[pixels];
      const Half *from = piece.from, *with = piece.with;
      if (rows == window)
#pragma GCC unroll 5
        for (std::size_t y = 0; y < window; ++y) {
          add_row<window, stride>(sums, from, with, offsets);
          from += row;
          with += window * half_lanes;
          asm("" : "+r"(from));
        }
      else
        for (std::size_t y = 0; y < rows; ++y) {
          add_row<window, stride>(sums, from, with, offsets);
          from += row;
          with += window * half_lanes;
        }
      write(sums, piece, ends);
      go_on(piece, ends.weights);
    }
  }

  /// A number that several results read is read once.
  template <std::size_t window, std::size_t stride, std::size_t pixels, std::size_t numbers>
  [[gnu::always_inline]] static void add_row(Sums (&sums)[pixels], const Half* from,
                                             const Half* with,
                                             const HalfOffsets<numbers>& offsets) {
    float16x8_t w[window];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < window; ++i) w[i] = read_half(with + i * half_lanes);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < numbers; ++i) {
      const float16x8_t x = read_half(i == 0 ? from : from + offsets.at[i]);
#pragma GCC unroll 4
      for (std::size_t at = 0; at < pixels; ++at)
        if (at * stride <= i && i < at * stride + window)
          sums[at].add(w[i - at * stride], x);
    }
  }

  template <std::size_t pixels>
  [[gnu::always_inline]] void write(const Sums (&sums)[pixels], const HalfPiece& piece,
                                    const Ends& ends) const {
    if (!ends.is_plain) {
      Sums kept[pixels];  // so that the sums themselves stay in registers
#pragma GCC unroll 4
      for (std::size_t i = 0; i < pixels; ++i) kept[i] = sums[i];
      return write_others(kept, piece, half_lanes);
    }
    Half* to = piece.to;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < pixels; ++i, to += ends.channels)
      write_half(to, sums[i].clipped_with(piece, ends.clip));
  }

  /// In float32.
  template <std::size_t pixels>
  void write_others(const Sums (&sums)[pixels], const HalfPiece& piece,
                    std::size_t channels) const {
    float scale[half_lanes], kept[half_lanes];
    widen<Sums>(piece.scale, scale);
    for (std::size_t i = 0; i < pixels; ++i) {
      vst1q_f32(kept, sums[i].first());
      vst1q_f32(kept + 4, sums[i].last());
      for (std::size_t at = 0; at < half_lanes; ++at)
        kept[at] = kept[at] * scale[at] + (piece.bias && at < channels ? piece.bias[at] : 0.f);
      finish_halves(c_, kept, piece.to + i * c_.channels, channels);
    }
  }

  /// The last channels, which fill a part of a vector.
  void run_rest() const {
    const std::size_t first = c_.channels / half_lanes * half_lanes, count = c_.channels - first;
    for (std::size_t x = 0; x < c_.width.output; ++x) {
      const TapRange across = taps_inside(c_.width, x);
      HalfPiece piece = piece_at(x, across);
      for (std::size_t i = 0; i < first; i += half_lanes) go_on(piece, c_.taps() * half_lanes);
      Half pixels[most_half_products * half_lanes] = {};
      for (std::size_t y = 0; y < down_.size(); ++y)
        for (std::size_t tap = 0; tap < across.size(); ++tap)
          std::copy_n(piece.from + y * row_apart() + tap * c_.width.dilation * c_.channels, count,
                      pixels + (y * across.size() + tap) * half_lanes);
      piece.from = pixels;
      const Sums sums[1] = {sum_of(piece, across.size(), across.size() * half_lanes, half_lanes)};
      write_others(sums, piece, count);
    }
  }

  const HalfConvolution& c_;
  const HalfOperands& o_;
  TapRange whole_;
  bool is_plain_;
  std::size_t row_;  // counted through all images
  TapRange down_;
};
#endif

}  // namespace

bool is_half_depthwise(const HalfConvolution& c) {
  return is_depthwise(c) && c.taps() <= most_half_products;
}

std::size_t half_depthwise_size(const HalfConvolution& c) {
  return (depthwise_scales(c) + round_up(c.channels, half_lanes)) * sizeof(Half);
}

void pack_half_depthwise(const HalfConvolution& c, std::span<const float> weights,
                         std::byte* packed) {
  const std::size_t taps = c.taps();
  auto* const to = reinterpret_cast<Half*>(packed);
  for (std::size_t channel = 0; channel < c.channels; ++channel) {
    const auto own = weights.subspan(channel * taps, taps);
    double sum = 0;
    for (const float weight : own) sum += std::abs(double{weight});
    const bool is_bfloat = is_in_bfloats(c);
    const float scale = is_bfloat ? 1 : half_scale(sum);
    const auto stored = [&](float x) { return is_bfloat ? to_bfloat16(x) : to_float16(x); };
    for (std::size_t tap = 0; tap < taps; ++tap)
      to[(channel / half_lanes * taps + tap) * half_lanes + channel % half_lanes] =
          stored(own[tap] / scale);
    to[depthwise_scales(c) + channel] = stored(scale);
  }
}

#if defined(__aarch64__) && !defined(__clang__)
void convolve_half_depthwise(const HalfConvolution& c, const HalfOperands& operands) {
  const HalfImage image{c, operands};
  const auto rows = static_cast<std::ptrdiff_t>(c.images * c.height.output);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) if (rows > 1)
#endif
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    is_in_bfloats(c) ? HalfRow<Bfloat16Sums>(image, row).run()
                     : HalfRow<Float16Sums>(image, row).run();
  }
}
#endif

}  // namespace millrace::kernels
