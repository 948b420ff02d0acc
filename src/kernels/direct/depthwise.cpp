#include "kernels/direct/depthwise.h"

#include <algorithm>

#include "kernels/bend.h"
#include "kernels/direct/end_of_sums.h"
#include "kernels/direct/window_taps.h"

namespace millrace::kernels {
namespace {

/// Some results of a row that follow each other, and what lies under their first tap, of a vector
/// of channels.
struct DepthwisePiece {
  const float* from;
  const float* with;
  const float* bias;
  float* to;
};

/// How far pixels lie apart. Unseen by compilers, which would compute the address of each number
/// anew, or keep those of all rows' in more registers than there are.
template <std::size_t count>
struct PixelOffsets {
  std::size_t at[count];
  [[gnu::always_inline]] explicit PixelOffsets(std::size_t pixel) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < count; ++i) {
      at[i] = i * pixel * sizeof(float);
      asm("" : "+r"(at[i]));
    }
  }
  [[gnu::always_inline]] const float* from(const float* first, std::size_t pixel) const {
    const auto* const bytes = reinterpret_cast<const char*>(first);
    return reinterpret_cast<const float*>(pixel == 0 ? bytes : bytes + at[pixel]);
  }
};

/// What the rows of a convolution have in common.
struct DepthwiseImage {
  const DirectConvolution& c;
  const DirectOperands& o;
  TapRange whole = whole_outputs(c.width);
  SumsEnd end = end_of(c);
};

/// A row of results.
class DepthwiseRow {
 public:
  DepthwiseRow(const DepthwiseImage& image, std::size_t row)
      : c_(image.c),
        o_(image.o),
        whole_(image.whole),
        end_(image.end),
        row_(row),
        down_(taps_inside(c_.height, row % c_.height.output)) {}

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() const {
    const std::size_t window = c_.width.window, stride = c_.width.stride;
    const bool is_square = c_.width.dilation == 1 && c_.height.window == window;
    run_edge<lanes>({0, whole_.first});
    if (is_square && window == 3 && stride == 1)
      run_inside<lanes, 3, 1>();
    else if (is_square && window == 3 && stride == 2)
      run_inside<lanes, 3, 2>();
    else if (is_square && window == 5 && stride == 1)
      run_inside<lanes, 5, 1>();
    else if (is_square && window == 5 && stride == 2)
      run_inside<lanes, 5, 2>();
    else
      run_edge<lanes>(whole_);
    run_edge<lanes>({whole_.end, c_.width.output});
    if (c_.channels % lanes > 0) run_rest<lanes>();
  }

 private:
  DepthwisePiece piece_at(std::size_t x, const TapRange& across, std::size_t lanes) const {
    const std::size_t image = row_ / c_.height.output, y = row_ % c_.height.output;
    const WindowAxis &h = c_.height, &w = c_.width;
    const std::size_t row = image * h.input + y * h.stride + down_.first * h.dilation - h.pad;
    const std::size_t column = x * w.stride + across.first * w.dilation - w.pad;
    return {o_.source + (row * w.input + column) * c_.channels,
            o_.weights + (down_.first * w.window + across.first) * lanes, o_.bias,
            o_.result + (row_ * w.output + x) * c_.channels};
  }

  std::size_t row_apart() const { return c_.height.dilation * c_.width.input * c_.channels; }

  /// work(piece) for each whole vector of channels.
  template <std::size_t lanes, class Work>
  [[gnu::always_inline]] void for_each_whole(DepthwisePiece piece, const Work& work) const {
    const std::size_t weights = c_.taps() * lanes;
    for (std::size_t channel = 0; channel + lanes <= c_.channels; channel += lanes) {
      work(piece);
      piece.from += lanes;
      piece.with += weights;
      piece.bias += piece.bias ? lanes : 0;
      piece.to += lanes;
    }
  }

  /// One by one.
  template <std::size_t lanes>
  [[gnu::always_inline]] void run_edge(const TapRange& outputs) const {
    for (std::size_t x = outputs.first; x < outputs.end; ++x) {
      const TapRange across = taps_inside(c_.width, x);
      const DepthwisePiece piece = piece_at(x, across, lanes);
      if (across.size() == 2)
        run_one<lanes, 2>(piece, 2);
      else
        run_one<lanes, 0>(piece, across.size());
    }
  }

  /// `known`: the number of taps across, or 0.
  template <std::size_t lanes, std::size_t known>
  [[gnu::always_inline]] void run_one(const DepthwisePiece& first, std::size_t taps) const {
    const Ends ends(c_.activation, end_);
    const std::size_t row = row_apart(), tap = c_.width.dilation * c_.channels;
    const std::size_t across = known > 0 ? known : taps, weights = c_.width.window * lanes;
    for_each_whole<lanes>(first, [&](const DepthwisePiece& piece) __attribute__((always_inline)) {
      typename LanesOf<lanes>::Type sums[1];
      begin(sums, piece);
      const float *from = piece.from, *with = piece.with;
      for (std::size_t y = 0; y < down_.size(); ++y, from += row, with += weights)
#pragma GCC unroll 2
        for (std::size_t i = 0; i < across; ++i) {
          typename LanesOf<lanes>::Type w, x;
          read_vector(w, with + i * lanes);
          read_vector(x, from + i * tap);
          sums[0] += w * x;
        }
      write(sums, piece.to, ends);
    });
  }

  template <std::size_t lanes, std::size_t window, std::size_t stride>
  [[gnu::always_inline]] void run_inside() const {
    std::size_t x = whole_.first;
    for (; x + 4 <= whole_.end; x += 4) run_some<lanes, 4, window, stride>(x);
    if (x + 2 <= whole_.end) run_some<lanes, 2, window, stride>(x), x += 2;
    if (x < whole_.end) run_some<lanes, 1, window, stride>(x);
  }

  template <std::size_t lanes, std::size_t pixels, std::size_t window, std::size_t stride>
  [[gnu::always_inline]] void run_some(std::size_t x) const {
    const DepthwisePiece first = piece_at(x, {0, window}, lanes);
    const std::size_t row = row_apart(), rows = down_.size();
    const Ends ends(c_.activation, end_);
    const PixelOffsets<(pixels - 1) * stride + window> offsets(c_.channels);
    for_each_whole<lanes>(first, [&](const DepthwisePiece& piece) __attribute__((always_inline)) {
      typename LanesOf<lanes>::Type sums[pixels];
      begin(sums, piece);
      const float *from = piece.from, *with = piece.with;
      const auto add = [&]() __attribute__((always_inline)) {
        add_row<window, stride>(sums, from, with, offsets);
        from += row;
        with += window * lanes;
        asm("" : "+r"(from));
      };
      if (rows == window)
#pragma GCC unroll 5
        for (std::size_t y = 0; y < window; ++y) add();
      else
        for (std::size_t y = 0; y < rows; ++y) add();
      write(sums, piece.to, ends);
    });
  }

  template <class Vector, std::size_t pixels>
  [[gnu::always_inline]] void begin(Vector (&sums)[pixels], const DepthwisePiece& piece) const {
    Vector bias = {};
    if (piece.bias) read_vector(bias, piece.bias);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < pixels; ++i) sums[i] = bias;
    if (!c_.adds || c_.adds_last) return;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < pixels; ++i) {
      Vector before;
      read_vector(before, piece.to + i * c_.channels);
      sums[i] += before;
    }
  }

  /// A number that several results read is read once.
  template <std::size_t window, std::size_t stride, class Vector, std::size_t pixels,
            std::size_t numbers>
  [[gnu::always_inline]] static void add_row(Vector (&sums)[pixels], const float* from,
                                             const float* with,
                                             const PixelOffsets<numbers>& offsets) {
    constexpr std::size_t lanes = sizeof(Vector) / sizeof(float);
    Vector w[window];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < window; ++i) read_vector(w[i], with + i * lanes);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < numbers; ++i) {
      Vector x;
      read_vector(x, offsets.from(from, i));
#pragma GCC unroll 4
      for (std::size_t at = 0; at < pixels; ++at)
        if (at * stride <= i && i < at * stride + window) sums[at] += w[i - at * stride] * x;
    }
  }

  /// In registers, where stores of results might change them.
  struct Ends {
    Ends(const Activation& a, SumsEnd end_of_sums) : end(end_of_sums), low(a.low), high(a.high) {}
    SumsEnd end;
    float low, high;
  };

  template <class Vector, std::size_t pixels>
  [[gnu::always_inline]] void write(Vector (&sums)[pixels], float* to, const Ends& ends) const {
    constexpr std::size_t lanes = sizeof(Vector) / sizeof(float);
    if (ends.end == SumsEnd::other) {
      float kept[pixels * lanes];
#pragma GCC unroll 4
      for (std::size_t i = 0; i < pixels; ++i) write_vector(kept + i * lanes, sums[i]);
      return FinishedRows<Vector>{c_, pixels, 1}.write(kept, to, c_.channels);
    }
    if (ends.end == SumsEnd::clips || ends.end == SumsEnd::clips_below)
#pragma GCC unroll 4
      for (std::size_t i = 0; i < pixels; ++i) clip_below_at(sums[i], ends.low - Vector{});
    if (ends.end == SumsEnd::clips)
#pragma GCC unroll 4
      for (std::size_t i = 0; i < pixels; ++i) clip_above_at(sums[i], ends.high - Vector{});
#pragma GCC unroll 4
    for (std::size_t i = 0; i < pixels; ++i) write_vector(to + i * c_.channels, sums[i]);
  }

  /// The last channels, which fill a part of a vector.
  template <std::size_t lanes>
  [[gnu::always_inline]] void run_rest() const {
    const std::size_t channel = c_.channels / lanes * lanes;
    for (std::size_t x = 0; x < c_.width.output; ++x) {
      const TapRange across = taps_inside(c_.width, x);
      DepthwisePiece piece = piece_at(x, across, lanes);
      piece.from += channel;
      piece.with += channel * c_.taps();
      piece.to += channel;
      finish_rest<lanes>(piece, across);
    }
  }

  template <std::size_t lanes>
  [[gnu::always_inline]] void finish_rest(const DepthwisePiece& piece,
                                          const TapRange& across) const {
    using Vector = typename LanesOf<lanes>::Type;
    const std::size_t count = c_.channels % lanes;
    Vector sum = {}, added = {};
    if (o_.bias) read_first(sum, o_.bias + c_.channels - count, count);
    if (c_.adds) read_first(added, piece.to, count);
    for (std::size_t y = 0; y < down_.size(); ++y)
      for (std::size_t tap = 0; tap < across.size(); ++tap) {
        Vector w, x = {};
        read_vector(w, piece.with + (y * c_.width.window + tap) * lanes);
        read_first(x, piece.from + y * row_apart() + tap * c_.width.dilation * c_.channels, count);
        sum += w * x;
      }
    write_first(piece.to, finished(sum, added, c_), count);
  }

  const DirectConvolution& c_;
  const DirectOperands& o_;
  TapRange whole_;
  SumsEnd end_;
  std::size_t row_;  // counted through all images
  TapRange down_;
};

}  // namespace

bool is_depthwise(const DirectConvolution& c) {
  const bool is_image = c.depth.input == 1 && c.depth.output == 1 && c.depth.window == 1;
  return is_image && c.groups > 1 && c.groups == c.channels && c.groups == c.outputs;
}

std::size_t depthwise_weights(const DirectConvolution& c) {
  return round_up(c.channels, c.lanes) * c.taps();
}

void pack_depthwise(const DirectConvolution& c, std::span<const float> weights, float* packed) {
  const std::size_t taps = c.taps();
  for (std::size_t channel = 0; channel < c.channels; ++channel)
    for (std::size_t tap = 0; tap < taps; ++tap)
      packed[(channel / c.lanes * taps + tap) * c.lanes + channel % c.lanes] =
          weights[channel * taps + tap];
}

void convolve_depthwise(const DirectConvolution& c, const DirectOperands& operands) {
  const DepthwiseImage image{c, operands};
  const auto rows = static_cast<std::ptrdiff_t>(c.images * c.height.output);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) if (rows > 1)
#endif
  for (std::ptrdiff_t i = 0; i < rows; ++i)
    run_in(c.lanes, DepthwiseRow(image, static_cast<std::size_t>(i)));
}

}  // namespace millrace::kernels
