#include "kernels/amx/amx_convolution.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/amx/amx_strip.h"

#if defined(__x86_64__)
#include "kernels/amx/amx_tiles.h"
#include "kernels/avx512_numbers.h"

namespace millrace::kernels {
namespace {

/// One block of outputs for all pixels of a strip.
struct Job {
  const AmxConvolution& convolution;
  const AmxStrips& strips;
  const AmxOperands& operands;
  std::size_t image, first_row, rows;  // of the result
  std::size_t outputs;                 // index of the block
};

/// Sums of 32 pixels by 32 outputs, `to` row by row: float32, of int8 int32.
struct Block {
  const AmxStrips& strips;
  const std::byte* pixels;  // the first one in the strip
  const std::byte* weights;
  float* to;
};

[[gnu::target("avx512f,amx-tile,amx-bf16")]] void multiply_split(Block b) {
  clear_tiles();
  for (const std::size_t offset : b.strips.steps) {
    load_rows(b.pixels + offset, b.strips.pixel);
    load_columns(b.weights + 2 * tile);
    multiply_tiles();
    load_columns(b.weights);
    multiply_tiles();
    load_rows(b.pixels + offset + b.strips.low, b.strips.pixel);
    multiply_tiles();
    b.weights += 4 * tile;
  }
  store_tiles(b.to, 4 * block);
}

[[gnu::target("avx512f,amx-tile,amx-int8")]] inline void multiply_unsigned_tiles() {
  _tile_dpbusd(0, 4, 6);
  _tile_dpbusd(1, 4, 7);
  _tile_dpbusd(2, 5, 6);
  _tile_dpbusd(3, 5, 7);
}

[[gnu::target("avx512f,amx-tile,amx-int8")]] inline void multiply_signed_tiles() {
  _tile_dpbssd(0, 4, 6);
  _tile_dpbssd(1, 4, 7);
  _tile_dpbssd(2, 5, 6);
  _tile_dpbssd(3, 5, 7);
}

/// Multiplies numbers with one term.
template <void (*products)()>
[[gnu::target("avx512f,amx-tile,amx-bf16,amx-int8")]] void multiply_once(Block b) {
  clear_tiles();
  for (const std::size_t offset : b.strips.steps) {
    load_rows(b.pixels + offset, b.strips.pixel);
    load_columns(b.weights);
    products();
    b.weights += 2 * tile;
  }
  store_tiles(b.to, 4 * block);
}

void multiply(const AmxConvolution& convolution, const Block& b) {
  if (convolution.factors == AmxFactors::split) return multiply_split(b);
  if (convolution.factors == AmxFactors::bf16) return multiply_once<multiply_tiles>(b);
  if (convolution.source == StoredNumber::u8) return multiply_once<multiply_unsigned_tiles>(b);
  multiply_once<multiply_signed_tiles>(b);
}

/// For int8: the sums become what they stand for.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void scale_sums(float* sums,
                                                                        const Finish& left,
                                                                        const Finish& right) {
  for (std::size_t i = 0; i < block; ++i, sums += block)
    for (const auto& [half, finish] : {std::pair(sums, &left), std::pair(sums + 16, &right)}) {
      const __m512 x = _mm512_cvtepi32_ps(_mm512_load_si512(half));
      _mm512_store_ps(half, _mm512_mul_ps(x, finish->scale));
    }
}

/// Place of a pixel in a strip, whose rows end with pixels of no result.
struct Place {
  std::size_t row = 0, column = 0;
};

/// The outputs of a block, 16 each.
struct Halves {
  Finish left, right;
};

/// `at`: where the block begins; then where it ends.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void store_block(const Job& job,
                                                                         const Halves& halves,
                                                                         float* sums, Place& at) {
  const AmxConvolution& c = job.convolution;
  const std::size_t output = job.outputs * block, size = size_of(c.result);
  if (c.factors == AmxFactors::int8) scale_sums(sums, halves.left, halves.right);
  const std::size_t image_row = job.image * c.height.output + job.first_row;
  const bool is_one_row = job.strips.width == c.width.output;  // no pixel is dropped
  const std::size_t rows = is_one_row ? 1 : job.rows;
  const std::size_t width = is_one_row ? job.rows * c.width.output : job.strips.width;
  const std::size_t results = is_one_row ? width : c.width.output;
  for (std::size_t i = 0; i < block;) {
    const std::size_t count = std::min(block - i, width - at.column);
    const std::size_t left = results - std::min(results, at.column);
    if (at.row < rows && left > 0) {
      const std::size_t pixel = (image_row + at.row) * c.width.output + at.column;
      std::byte* const to = job.operands.result + (pixel * c.outputs + output) * size;
      Pixels pixels{sums + i * block, block, std::min(count, left), to, c.outputs * size};
      halves.left.finish(pixels);
      pixels.sums += 16;
      pixels.to += 16 * size;
      if (halves.right.mask != 0) halves.right.finish(pixels);
    }
    i += count;
    at.column += count;
    if (at.column == width) at = {at.row + 1, 0};
  }
}

/// All pixels of the strip.
void run(const Job& job) {
  alignas(64) std::array<float, block * block> sums;
  const AmxConvolution& c = job.convolution;
  const std::byte* const weights =
      job.operands.weights + job.outputs * job.strips.weights_of_block();
  const std::size_t pixels = (job.rows - 1) * job.strips.width + c.width.output;
  const float *const scales = job.operands.scales, *const bias = job.operands.bias;
  const std::size_t output = job.outputs * block;
  const Halves halves{Finish(c, scales, bias, output), Finish(c, scales, bias, output + 16)};
  Place place;
  configure_tiles();
  for (std::size_t pixel = 0; pixel < pixels; pixel += block) {
    const std::byte* const from = job.operands.working + pixel * job.strips.pixel;
    multiply(c, {job.strips, from, weights, sums.data()});
    store_block(job, halves, sums.data(), place);
  }
  release_tiles();
}

}  // namespace

void convolve(const AmxConvolution& convolution, const AmxStrips& strips,
              const AmxOperands& operands) {
  const std::size_t blocks = (convolution.outputs + block - 1) / block;
  const std::size_t all = convolution.height.output;
  for (std::size_t image = 0; image < convolution.images; ++image)
    for (std::size_t row = 0; row < all; row += strips.rows) {
      const std::size_t rows = std::min(strips.rows, all - row);
      fill_strip(convolution, strips, operands, {image, row, rows});
      const auto jobs = static_cast<std::ptrdiff_t>(blocks);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
      for (std::ptrdiff_t i = 0; i < jobs; ++i)
        run({convolution, strips, operands, image, row, rows, static_cast<std::size_t>(i)});
    }
}

}  // namespace millrace::kernels

#else

namespace millrace::kernels {
void convolve(const AmxConvolution&, const AmxStrips&, const AmxOperands&) {
}  // nobody may call it here
}  // namespace millrace::kernels

#endif
