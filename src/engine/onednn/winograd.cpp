#include "engine/onednn/winograd.h"

#include <algorithm>

#include "engine/onednn/winograd_points.h"

namespace millrace::engine::onednn {
namespace {

template <std::size_t lanes>
struct VectorOf {
  using Type [[gnu::vector_size(4 * lanes)]] = float;
};

/// Some tiles of a convolution that follow each other.
struct WinogradBlock {
  const WinogradConvolution& convolution;
  const WinogradTiles& tiles;
  const WinogradOperands& operands;
  std::size_t first, count;
};

/// What is done to all tiles of a block before the next begins.
enum class WinogradPhase { read, multiply, write };

/// `rows`: tiles that the registers hold with two vectors of outputs each.
template <std::size_t lanes, std::size_t tile, std::size_t rows>
class WinogradLoops {
 public:
  [[gnu::always_inline]] explicit WinogradLoops(const WinogradBlock& block)
      : c_(block.convolution), t_(block.tiles), o_(block.operands), b_(block) {}

  /// Of tiles; of points and pairs of output vectors if they are to be multiplied.
  [[gnu::always_inline]] void run(WinogradPhase phase, std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i)
      if (phase == WinogradPhase::read)
        read(i);
      else if (phase == WinogradPhase::multiply)
        multiply(i / t_.outputs, i % t_.outputs);
      else
        write(i);
  }

 private:
  static constexpr std::size_t side = tile + 2;
  using Vector = typename VectorOf<lanes>::Type;

  [[gnu::always_inline]] static Vector load(const float* from) {
    Vector x;
    __builtin_memcpy(&x, from, sizeof x);
    return x;
  }
  /// The first `count` of them.
  [[gnu::always_inline]] static Vector load(const float* from, std::size_t count) {
    Vector x = {};
    __builtin_memcpy(&x, from, count * sizeof(float));
    return x;
  }
  [[gnu::always_inline]] static void store(Vector x, float* to) {
    __builtin_memcpy(to, &x, sizeof x);
  }

  struct Place {
    std::size_t image, y, x;  // of the first result
  };
  [[gnu::always_inline]] Place place_of(std::size_t index) const {
    const std::size_t at = b_.first + index, column = at % t_.across, row = at / t_.across;
    return {row / t_.down, row % t_.down * tile, column * tile};
  }

  [[gnu::always_inline]] void read(std::size_t index) const {
    const Place place = place_of(index);
    const float* pixels[side * side];
    const WindowAxis &h = c_.height, &w = c_.width;
    for (std::size_t i = 0; i < side; ++i)
      for (std::size_t j = 0; j < side; ++j) {
        const std::size_t y = place.y + i - h.pad, x = place.x + j - w.pad;
        const bool inside = y < h.input && x < w.input;  // else also below zero
        const std::size_t pixel = (place.image * h.input + y) * w.input + x;
        pixels[i * side + j] = inside ? o_.source + pixel * c_.channels : o_.working + t_.zeros;
      }
    float* to = o_.working + index * lanes;
    std::size_t channel = 0;
    for (; channel + lanes <= c_.channels; channel += lanes, to += t_.block * lanes)
      read_vector<true>(pixels, channel, to);
    if (channel < c_.channels) read_vector<false>(pixels, channel, to);
  }

  template <bool whole>
  [[gnu::always_inline]] void read_vector(const float* const* pixels, std::size_t channel,
                                          float* to) const {
    Vector rows_at[side][side];
#pragma GCC unroll 6
    for (std::size_t i = 0; i < side; ++i) {
      Vector d[side];
#pragma GCC unroll 6
      for (std::size_t j = 0; j < side; ++j) {
        const float* const from = pixels[i * side + j] + channel;
        d[j] = whole ? load(from) : load(from, c_.channels - channel);
      }
      to_points(d, rows_at[i]);
    }
#pragma GCC unroll 6
    for (std::size_t j = 0; j < side; ++j) {
      Vector d[side], v[side];
#pragma GCC unroll 6
      for (std::size_t i = 0; i < side; ++i) d[i] = rows_at[i][j];
      to_points(d, v);
#pragma GCC unroll 6
      for (std::size_t i = 0; i < side; ++i) store(v[i], to + (i * side + j) * t_.point_apart);
    }
  }

  /// Some tiles at a point, to be multiplied with the weights of a pair of output vectors. While
  /// that is done, a share of the weights that come next is brought into the cache.
  struct Piece {
    const float* from;
    const float* with;
    float* to;
    const float* next;
    std::size_t share, shares;
  };

  /// All tiles at a point.
  [[gnu::always_inline]] void multiply(std::size_t point, std::size_t output) const {
    const std::size_t pieces = (b_.count + rows - 1) / rows;
    const std::size_t weights = t_.channels * lanes * 2 * lanes;
    const std::size_t index = point * t_.outputs + output;
    const bool is_last = index + 1 == t_.points * t_.outputs;
    const float* const with = o_.weights + index * weights;
    const float* const next = is_last ? with : with + weights;
    for (std::size_t i = 0, first = 0; i < pieces; ++i) {
      const std::size_t end = b_.count * (i + 1) / pieces;
      const float* const from = o_.working + point * t_.point_apart + first * lanes;
      float* const to = products(first, output) + point * 2 * lanes;
      multiply_rows<rows>(end - first, {from, with, to, next, i, pieces});
      first = end;
    }
  }

  [[gnu::always_inline]] float* products(std::size_t index, std::size_t output) const {
    return o_.working + t_.products + (output * t_.block + index) * t_.points * 2 * lanes;
  }

  template <std::size_t number>
  [[gnu::always_inline]] void multiply_rows(std::size_t count, const Piece& piece) const {
    if constexpr (number > 0) {
      if (count == number)
        multiply_these<number>(piece);
      else
        multiply_rows<number - 1>(count, piece);
    }
  }

  template <std::size_t number>
  [[gnu::always_inline]] void multiply_these(const Piece& piece) const {
    Vector sums[number][2] = {};
    const float *from = piece.from, *with = piece.with;
    for (std::size_t i = 0; i < t_.channels; ++i, from += t_.block * lanes) {
      bring(piece, i);
#pragma GCC unroll 4
      for (std::size_t channel = 0; channel < lanes; ++channel, with += 2 * lanes) {
        const Vector left = load(with), right = load(with + lanes);
#pragma GCC unroll 16
        for (std::size_t row = 0; row < number; ++row) {
          const Vector x = from[row * lanes + channel] - Vector{};
          sums[row][0] += left * x;
          sums[row][1] += right * x;
        }
      }
    }
    float* to = piece.to;
#pragma GCC unroll 16
    for (std::size_t row = 0; row < number; ++row, to += t_.points * 2 * lanes) {
      store(sums[row][0], to);
      store(sums[row][1], to + lanes);
    }
  }

  /// Into the second-level cache: weights of a vector of channels.
  [[gnu::always_inline]] void bring(const Piece& piece, std::size_t channels) const {
    constexpr std::size_t line = 16, all = lanes * 2 * lanes;  // numbers
    for (std::size_t at = piece.share * line; at < all; at += piece.shares * line)
      __builtin_prefetch(piece.next + channels * all + at, 0, 2);
  }

  /// Of a tile: the place of the first one, and how many are in the image.
  struct Results {
    float* to;
    std::size_t down, across;
  };

  [[gnu::always_inline]] void write(std::size_t index) const {
    const Place place = place_of(index);
    const std::size_t pixel =
        (place.image * c_.height.output + place.y) * c_.width.output + place.x;
    const Results results{o_.result + pixel * c_.outputs,
                          std::min(tile, c_.height.output - place.y),
                          std::min(tile, c_.width.output - place.x)};
    for (std::size_t output = 0; output < c_.outputs; output += lanes) {
      const float* const from = products(index, output / (2 * lanes)) + output % (2 * lanes);
      if (output + lanes <= c_.outputs)
        write_vector<true>(from, output, results);
      else
        write_vector<false>(from, output, results);
    }
  }

  template <bool whole>
  [[gnu::always_inline]] void write_vector(const float* from, std::size_t output,
                                           const Results& results) const {
    Vector columns[tile][side];
#pragma GCC unroll 6
    for (std::size_t j = 0; j < side; ++j) {
      Vector m[side], y[tile];
#pragma GCC unroll 6
      for (std::size_t i = 0; i < side; ++i) m[i] = load(from + (i * side + j) * 2 * lanes);
      from_points(m, y);
#pragma GCC unroll 4
      for (std::size_t i = 0; i < tile; ++i) columns[i][j] = y[i];
    }
    const std::size_t count = whole ? lanes : c_.outputs - output;
    const Vector bias = o_.bias == nullptr ? Vector{}
                        : whole            ? load(o_.bias + output)
                                           : load(o_.bias + output, count);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < tile; ++i) {
      Vector y[tile];
      from_points(columns[i], y);
      if (i >= results.down) break;
#pragma GCC unroll 4
      for (std::size_t j = 0; j < tile; ++j) {
        if (j >= results.across) break;
        float* const at = results.to + (i * c_.width.output + j) * c_.outputs + output;
        Vector x = y[j] + bias;
        if (c_.adds) x += whole ? load(at) : load(at, count);
        x = finish(x);
        __builtin_memcpy(at, &x, count * sizeof(float));
      }
    }
  }

  [[gnu::always_inline]] Vector finish(Vector x) const {
    const Activation& a = c_.activation;
    const Vector low = a.low - Vector{}, high = a.high - Vector{};
    x = x < 0 ? a.slope * x : x;
    x = x < low ? low : x;
    return x > high ? high : x;
  }

  const WinogradConvolution& c_;
  const WinogradTiles& t_;
  const WinogradOperands& o_;
  const WinogradBlock& b_;
};

using Run = void (*)(const WinogradBlock& block, WinogradPhase phase, std::size_t first,
                     std::size_t last);

#if defined(__x86_64__)
template <std::size_t tile>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,fma")]] void run_16(const WinogradBlock& block,
                                                                      WinogradPhase phase,
                                                                      std::size_t first,
                                                                      std::size_t last) {
  WinogradLoops<16, tile, 14>(block).run(phase, first, last);
}

template <std::size_t tile>
[[gnu::target("avx2,fma")]] void run_8(const WinogradBlock& block, WinogradPhase phase,
                                       std::size_t first, std::size_t last) {
  WinogradLoops<8, tile, 6>(block).run(phase, first, last);
}

constexpr std::size_t baseline_rows = 6;  // 16 registers
#else
constexpr std::size_t baseline_rows = 8;  // 32 registers, of which 8 hold pixels
#endif

/// With what every processor of the kind has: SSE2, NEON.
template <std::size_t tile>
void run_4(const WinogradBlock& block, WinogradPhase phase, std::size_t first, std::size_t last) {
  WinogradLoops<4, tile, baseline_rows>(block).run(phase, first, last);
}

Run run_of(const WinogradConvolution& c) {
#if defined(__x86_64__)
  if (c.lanes == 16) return c.tile == 4 ? run_16<4> : run_16<2>;
  if (c.lanes == 8) return c.tile == 4 ? run_8<4> : run_8<2>;
#endif
  return c.tile == 4 ? run_4<4> : run_4<2>;
}

/// A phase of a block, on all threads there are.
void run_all(Run run, const WinogradBlock& block, WinogradPhase phase, std::size_t count) {
  const std::size_t each = phase == WinogradPhase::multiply ? 1 : 4;
  const auto jobs = static_cast<std::ptrdiff_t>((count + each - 1) / each);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < jobs; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * each;
    run(block, phase, first, std::min(first + each, count));
  }
}

}  // namespace

void convolve(const WinogradConvolution& c, const WinogradTiles& tiles,
              const WinogradOperands& operands) {
  const Run run = run_of(c);
  std::fill_n(operands.working + tiles.zeros, tiles.channels * c.lanes, 0.f);
  for (std::size_t first = 0; first < tiles.count; first += tiles.block) {
    const std::size_t count = std::min(tiles.block, tiles.count - first);
    const WinogradBlock block{c, tiles, operands, first, count};
    run_all(run, block, WinogradPhase::read, count);
    run_all(run, block, WinogradPhase::multiply, tiles.points * tiles.outputs);
    run_all(run, block, WinogradPhase::write, count);
  }
}

}  // namespace millrace::engine::onednn
