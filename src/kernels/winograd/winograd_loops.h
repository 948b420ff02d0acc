#pragma once
// Inside winograd.h's convolutions: what their loops have in common, whatever they multiply.
#include <algorithm>
#include <cstddef>

#include "kernels/activate.h"
#include "kernels/winograd/winograd_block.h"

namespace millrace::kernels {

template <class Number, std::size_t count>
struct VectorOf {
  using Type [[gnu::vector_size(sizeof(Number) * count)]] = Number;
};

/// The first `bytes` of a vector, or all; the others are zero. All at any address: for NEON, GCC 12
/// makes a copy of bytes go through registers of integers.
template <class Vector>
[[gnu::always_inline]] inline Vector load(const void* from) {
#if defined(__aarch64__)
  using AtAnyAddress [[gnu::aligned(1), gnu::may_alias]] = Vector;
  return *static_cast<const AtAnyAddress*>(from);
#else
  Vector x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
#endif
}
template <class Vector>
[[gnu::always_inline]] inline Vector load(const void* from, std::size_t bytes) {
  Vector x = {};
  __builtin_memcpy(&x, from, bytes);
  return x;
}
template <class Vector>
[[gnu::always_inline]] inline void store(const Vector& x, void* to) {
#if defined(__aarch64__)
  using AtAnyAddress [[gnu::aligned(1), gnu::may_alias]] = Vector;
  *static_cast<AtAnyAddress*>(to) = x;
#else
  __builtin_memcpy(to, &x, sizeof x);
#endif
}
template <class Vector>
[[gnu::always_inline]] inline void store(const Vector& x, void* to, std::size_t bytes) {
  __builtin_memcpy(to, &x, bytes);
}

/// `Self` measures a pixel, reads a tile's pixels to its points, multiplies some tiles, and writes
/// results; `factors`: in a place.
template <class Self, std::size_t lanes, std::size_t tile, std::size_t factors>
class WinogradLoops {
  static constexpr std::size_t rows = tiles_of_piece(lanes, factors);

 public:
  [[gnu::always_inline]] explicit WinogradLoops(const WinogradBlock& block)
      : c_(block.convolution), t_(block.tiles), o_(block.operands), b_(block) {}

  [[gnu::always_inline]] void run(WinogradPhase phase, std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i)
      if (phase == WinogradPhase::measure)
        self().measure(i);
      else if (phase == WinogradPhase::read)
        self().read(i);
      else if (phase == WinogradPhase::multiply)
        multiply(b_.first_output * t_.points + i);
      else
        self().write(i);
  }

 protected:
  static constexpr std::size_t side = tile + 2;
  using Vector = typename VectorOf<float, lanes>::Type;

  struct Place {
    std::size_t image, y, x;  // of the first result
  };
  [[gnu::always_inline]] Place place_of(std::size_t index) const {
    const std::size_t at = b_.first + index, column = at % t_.across, row = at / t_.across;
    return {row / t_.down, row % t_.down * tile, column * tile};
  }

  static constexpr auto outside = static_cast<std::size_t>(-1);
  /// Where the pixels of a tile are, counted through all images; `outside` for those of padding.
  [[gnu::always_inline]] void pixels_of(std::size_t index,
                                        std::size_t (&pixels)[side * side]) const {
    const Place place = place_of(index);
    const WindowAxis &h = c_.height, &w = c_.width;
    for (std::size_t i = 0; i < side; ++i)
      for (std::size_t j = 0; j < side; ++j) {
        const std::size_t y = place.y + i - h.pad, x = place.x + j - w.pad;
        const bool inside = y < h.input && x < w.input;  // else also below zero
        pixels[i * side + j] = inside ? (place.image * h.input + y) * w.input + x : outside;
      }
  }

  /// Results of a tile: where the first one is, and how many are in the image.
  struct Results {
    std::size_t pixel;
    std::size_t down, across;
  };
  [[gnu::always_inline]] Results results_of(std::size_t index) const {
    const Place place = place_of(index);
    return {(place.image * c_.height.output + place.y) * c_.width.output + place.x,
            std::min(tile, c_.height.output - place.y), std::min(tile, c_.width.output - place.x)};
  }

  struct Outputs {
    std::size_t first, end;
  };
  [[gnu::always_inline]] Outputs outputs_of_block() const {
    const std::size_t end = b_.first_output + b_.outputs;
    return {b_.first_output * 2 * lanes, std::min(end * 2 * lanes, c_.outputs)};
  }

  /// Some tiles at a point, to be multiplied with the weights of a pair of output vectors. While
  /// that is done, a share of the weights that come next is brought into the cache.
  struct Piece {
    const float* from;
    const float* with;
    float* to;
    const float* next;
    std::size_t share, shares;
    std::size_t index;  // of the point and the pair
  };

  /// For a pair of output vectors.
  static constexpr std::size_t weights_of_vector = lanes * 2 * lanes;  // numbers

  /// Products of a tile at the first point; `output`: a pair of the block.
  [[gnu::always_inline]] float* products(std::size_t index, std::size_t output) const {
    const std::size_t pair = output - b_.first_output;
    return o_.working + t_.products + pair * t_.points * t_.product_apart + index * 2 * lanes;
  }

  /// Where a tile's numbers at the first point begin: those of a vector of channels follow each
  /// other for all tiles of a piece, then the next channels'.
  [[gnu::always_inline]] float* numbers(std::size_t index) const {
    const std::size_t all = pieces(), piece = ((index + 1) * all - 1) / b_.count;
    return o_.working + (piece * rows * t_.channels + index - first_of(piece, all)) * lanes;
  }
  static constexpr std::size_t channels_apart = rows * lanes;

  /// Into the second-level cache: weights of a vector of channels.
  [[gnu::always_inline]] void bring(const Piece& piece, std::size_t channels) const {
    constexpr std::size_t line = 16;  // numbers
    for (std::size_t at = piece.share * line; at < weights_of_vector; at += piece.shares * line)
      __builtin_prefetch(piece.next + channels * weights_of_vector + at, 0, 2);
  }

  /// A sum with its bias; `added`: zeros if the convolution adds nothing.
  [[gnu::always_inline]] Vector finish(const Vector& x, const Vector& added) const {
    return finished(x, added, c_);
  }

  const WinogradConvolution& c_;
  const WinogradTiles& t_;
  const WinogradOperands& o_;
  const WinogradBlock& b_;

 private:
  [[gnu::always_inline]] const Self& self() const { return static_cast<const Self&>(*this); }

  /// Number of pieces of the block, with about as many tiles each.
  [[gnu::always_inline]] std::size_t pieces() const { return divided_up(b_.count, rows); }
  /// Tile of a piece.
  [[gnu::always_inline]] std::size_t first_of(std::size_t piece, std::size_t pieces) const {
    return b_.count * piece / pieces;
  }

  /// All tiles at a point; `index`: of the weights.
  [[gnu::always_inline]] void multiply(std::size_t index) const {
    const auto [point, output] = t_.weights_at(index);
    const std::size_t all = pieces();
    const std::size_t weights = t_.channels * weights_of_vector;
    const bool is_last = index + 1 == t_.points * t_.outputs;
    const float* const with = o_.weights + index * weights;
    const float* const next = is_last ? with : with + weights;
    const float* from = o_.working + point * t_.point_apart;
    for (std::size_t i = 0; i < all; ++i, from += t_.channels * channels_apart) {
      const std::size_t first = first_of(i, all);
      float* const to = products(first, output) + point * t_.product_apart;
      multiply_rows<rows>(first_of(i + 1, all) - first, {from, with, to, next, i, all, index});
    }
  }

  template <std::size_t number>
  [[gnu::always_inline]] void multiply_rows(std::size_t count, const Piece& piece) const {
    if constexpr (number > 0) {
      if (count == number)
        self().template multiply_these<number>(piece);
      else
        multiply_rows<number - 1>(count, piece);
    }
  }
};

}  // namespace millrace::kernels
