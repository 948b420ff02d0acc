#include "kernels/winograd/winograd.h"

#include <algorithm>

#include "kernels/lane_products.h"
#include "kernels/winograd/winograd_integers.h"
#include "kernels/winograd/winograd_loops.h"
#include "kernels/winograd/winograd_points.h"

namespace millrace::kernels {
namespace {

/// Loops for float32 numbers.
template <std::size_t lanes, std::size_t tile>
class FloatLoops : public WinogradLoops<FloatLoops<lanes, tile>, lanes, tile, 1> {
  using Base = WinogradLoops<FloatLoops, lanes, tile, 1>;
  using Vector = typename Base::Vector;
  using Base::c_, Base::t_, Base::o_, Base::side;

 public:
  using Base::Base;

  [[gnu::always_inline]] void measure(std::size_t) const {}

  [[gnu::always_inline]] void read(std::size_t index) const {
    std::size_t at[side * side];
    this->pixels_of(index, at);
    const auto* const source = reinterpret_cast<const float*>(o_.source);
    const float* pixels[side * side];
    for (std::size_t i = 0; i < side * side; ++i)
      pixels[i] = at[i] == Base::outside ? o_.working + t_.zeros : source + at[i] * c_.channels;
    float* to = this->numbers(index);
    std::size_t channel = 0;
    for (; channel + lanes <= c_.channels; channel += lanes, to += Base::channels_apart)
      read_vector<true>(pixels, channel, to);
    if (channel < c_.channels) read_vector<false>(pixels, channel, to);
  }

  template <std::size_t number>
  [[gnu::always_inline]] void multiply_these(const typename Base::Piece& piece) const {
    Vector sums[number][2] = {};
    const float *from = piece.from, *with = piece.with;
    for (std::size_t i = 0; i < t_.channels; ++i, from += Base::channels_apart) {
#if defined(__aarch64__)
      Vector x[number];
#pragma GCC unroll 16
      for (std::size_t row = 0; row < number; ++row) x[row] = load<Vector>(from + row * lanes);
      add_lane<0>(sums, x, with);
      add_lane<1>(sums, x, with + 2 * lanes);
      add_lane<2>(sums, x, with + 4 * lanes);
      add_lane<3>(sums, x, with + 6 * lanes);
      with += 8 * lanes;
#else
      this->bring(piece, i);
#pragma GCC unroll 4
      for (std::size_t channel = 0; channel < lanes; ++channel, with += 2 * lanes) {
        const Vector left = load<Vector>(with), right = load<Vector>(with + lanes);
#pragma GCC unroll 16
        for (std::size_t row = 0; row < number; ++row) {
          const Vector x = from[row * lanes + channel] - Vector{};
          sums[row][0] += left * x;
          sums[row][1] += right * x;
        }
      }
#endif
    }
    float* to = piece.to;
#pragma GCC unroll 16
    for (std::size_t row = 0; row < number; ++row, to += 2 * lanes) {
      store(sums[row][0], to);
      store(sums[row][1], to + lanes);
    }
  }

  [[gnu::always_inline]] void write(std::size_t index) const {
    const auto results = this->results_of(index);
    const auto outputs = this->outputs_of_block();
    for (std::size_t output = outputs.first; output < outputs.end; output += lanes) {
      const float* const from = this->products(index, output / (2 * lanes)) + output % (2 * lanes);
      if (output + lanes <= c_.outputs)
        write_vector<true>(from, output, results);
      else
        write_vector<false>(from, output, results);
    }
  }

 private:
#if defined(__aarch64__)
  /// Adds one channel of each tile. Weights follow each other: the processor foresees what is next.
  template <int lane, std::size_t number>
  [[gnu::always_inline]] static void add_lane(Vector (&sums)[number][2],
                                              const Vector (&x)[number], const float* with) {
    const Vector left = load<Vector>(with), right = load<Vector>(with + lanes);
#pragma GCC unroll 16
    for (std::size_t row = 0; row < number; ++row) {
      add_product<lane>(sums[row][0], left, x[row]);
      add_product<lane>(sums[row][1], right, x[row]);
    }
  }
#endif

  template <bool whole>
  [[gnu::always_inline]] static Vector load_some(const float* from, std::size_t bytes) {
    if constexpr (whole) return load<Vector>(from);
    return load<Vector>(from, bytes);
  }

  template <bool whole>
  [[gnu::always_inline]] void read_vector(const float* const* pixels, std::size_t channel,
                                          float* to) const {
    const std::size_t bytes = whole ? sizeof(Vector) : (c_.channels - channel) * sizeof(float);
    tile_to_points<Vector, side>(
        [&](std::size_t i, std::size_t j)
            [[gnu::always_inline]] {
              return load_some<whole>(pixels[i * side + j] + channel, bytes);
            },
        [&](std::size_t i, std::size_t j, const Vector& v)
            [[gnu::always_inline]] { store(v, to + (i * side + j) * t_.point_apart); });
  }

  template <bool whole>
  [[gnu::always_inline]] void write_vector(const float* from, std::size_t output,
                                           const typename Base::Results& results) const {
    const std::size_t bytes = whole ? sizeof(Vector) : (c_.outputs - output) * sizeof(float);
    const Vector bias = o_.bias == nullptr ? Vector{} : load_some<whole>(o_.bias + output, bytes);
    auto* const result = reinterpret_cast<float*>(o_.result) + results.pixel * c_.outputs + output;
    tile_from_points<Vector, tile>(
        [&](std::size_t i, std::size_t j) [[gnu::always_inline]] {
          return load<Vector>(from + (i * side + j) * t_.product_apart);
        },
        [&](std::size_t i, std::size_t j, Vector y) [[gnu::always_inline]] {
          if (i >= results.down || j >= results.across) return;
          float* const at = result + (i * c_.width.output + j) * c_.outputs;
          y += bias;
          const Vector added = c_.adds ? load_some<whole>(at, bytes) : Vector{};
          if constexpr (whole)
            store(this->finish(y, added), at);
          else
            store(this->finish(y, added), at, bytes);
        });
  }
};

#if defined(__x86_64__)
template <std::size_t tile>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,fma")]] void run_16(const WinogradBlock& block,
                                                                      WinogradPhase phase,
                                                                      std::size_t first,
                                                                      std::size_t last) {
  FloatLoops<16, tile>(block).run(phase, first, last);
}

template <std::size_t tile>
[[gnu::target("avx2,fma")]] void run_8(const WinogradBlock& block, WinogradPhase phase,
                                       std::size_t first, std::size_t last) {
  FloatLoops<8, tile>(block).run(phase, first, last);
}
#endif

/// With what every processor of the kind has: SSE2, NEON.
template <std::size_t tile>
void run_4(const WinogradBlock& block, WinogradPhase phase, std::size_t first, std::size_t last) {
  FloatLoops<4, tile>(block).run(phase, first, last);
}

WinogradRun run_of(const WinogradConvolution& c) {
#if defined(__x86_64__) && !defined(__clang__)
  if (factors_in_place(c) == 2) return run_of_words(c);
  if (factors_in_place(c) == 4) return run_of_bytes(c);
#endif
#if defined(__x86_64__)
  if (c.lanes == 16) return c.tile == 4 ? run_16<4> : run_16<2>;
  if (c.lanes == 8) return c.tile == 4 ? run_8<4> : run_8<2>;
#endif
  return c.tile == 4 ? run_4<4> : run_4<2>;
}

/// A phase of a block, on all threads there are.
void run_all(WinogradRun run, const WinogradBlock& block, WinogradPhase phase, std::size_t count) {
  const bool is_small = phase == WinogradPhase::measure;
  const std::size_t each = phase == WinogradPhase::multiply ? 1 : is_small ? 64 : 4;
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

bool has_integer_loops() {
#if defined(__x86_64__) && !defined(__clang__)
  return true;
#else
  return false;
#endif
}

void convolve(const WinogradConvolution& c, const WinogradTiles& tiles,
              const WinogradOperands& operands) {
  const WinogradRun run = run_of(c);
  std::fill_n(operands.working + tiles.zeros, tiles.channels * c.lanes, 0.f);
  if (is_half(c.source))
    run_all(run, {c, tiles, operands, 0, 0}, WinogradPhase::measure,
            c.images * c.height.input * c.width.input);
  for (std::size_t first = 0; first < tiles.count; first += tiles.block) {
    const std::size_t count = std::min(tiles.block, tiles.count - first);
    WinogradBlock block{c, tiles, operands, first, count};
    run_all(run, block, WinogradPhase::read, count);
    for (std::size_t output = 0; output < tiles.outputs; output += tiles.together) {
      block.first_output = output;
      block.outputs = std::min(tiles.together, tiles.outputs - output);
      run_all(run, block, WinogradPhase::multiply, tiles.points * block.outputs);
      run_all(run, block, WinogradPhase::write, count);
    }
  }
}

}  // namespace millrace::kernels
