#include "engine/onednn/amx_convolution.h"

#include <algorithm>
#include <array>
#include <bit>

#include "engine/onednn/amx_strip.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace millrace::engine::onednn {
namespace {

constexpr std::size_t block = 32;      // pixels and outputs that are computed at once: 2 x 2 tiles
constexpr std::size_t tile = 16 * 32;  // bfloat16 numbers of a tile

/// One block of outputs for all pixels of a strip.
struct Job {
  const AmxConvolution& convolution;
  const AmxStrips& strips;
  const AmxOperands& operands;
  std::size_t image, first_row, rows;  // of the result
  std::size_t outputs;                 // index of the block
};

[[gnu::target("avx512f,amx-tile")]] void configure_tiles() {
  struct alignas(64) Configuration {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  };
  static const Configuration configuration;
  _tile_loadconfig(&configuration);
}

[[gnu::target("avx512f,amx-tile")]] void release_tiles() { _tile_release(); }

/// Sums of 32 pixels by 32 outputs, `to` row by row. `pixels`: the first one in the strip.
[[gnu::target("avx512f,amx-tile,amx-bf16")]] void multiply_split(const AmxStrips& strips,
                                                                 const std::uint16_t* pixels,
                                                                 const std::uint16_t* weights,
                                                                 float* to) {
  const std::size_t stride = strips.pixel * sizeof(std::uint16_t);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (const std::size_t offset : strips.steps) {
    const std::uint16_t* const high = pixels + offset;
    const std::uint16_t* const low = high + strips.low;
    _tile_loadd(4, high, stride);
    _tile_loadd(5, high + 16 * strips.pixel, stride);
    _tile_loadd(6, weights + 2 * tile, 64);
    _tile_loadd(7, weights + 3 * tile, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
    _tile_loadd(6, weights, 64);
    _tile_loadd(7, weights + tile, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
    _tile_loadd(4, low, stride);
    _tile_loadd(5, low + 16 * strips.pixel, stride);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
    weights += 4 * tile;
  }
  _tile_stored(0, to, 4 * block);
  _tile_stored(1, to + 16, 4 * block);
  _tile_stored(2, to + 16 * block, 4 * block);
  _tile_stored(3, to + 16 * block + 16, 4 * block);
}

[[gnu::target("avx512f,amx-tile,amx-bf16")]] void multiply(const AmxStrips& strips,
                                                           const std::uint16_t* pixels,
                                                           const std::uint16_t* weights,
                                                           float* to) {
  const std::size_t stride = strips.pixel * sizeof(std::uint16_t);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (const std::size_t offset : strips.steps) {
    const std::uint16_t* const source = pixels + offset;
    _tile_loadd(4, source, stride);
    _tile_loadd(6, weights, 64);
    _tile_loadd(7, weights + tile, 64);
    _tile_loadd(5, source + 16 * strips.pixel, stride);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
    weights += 2 * tile;
  }
  _tile_stored(0, to, 4 * block);
  _tile_stored(1, to + 16, 4 * block);
  _tile_stored(2, to + 16 * block, 4 * block);
  _tile_stored(3, to + 16 * block + 16, 4 * block);
}

/// Finishes 16 outputs of a pixel.
struct Finish {
  __mmask16 mask;
  bool adds, in_bf16;
  __m512 bias, slope, low, high;

  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] Finish(const Job& job, std::size_t first)
      : adds(job.convolution.adds), in_bf16(job.convolution.writes_bf16) {
    const std::size_t all = job.convolution.outputs;
    const std::size_t count = first < all ? std::min<std::size_t>(all - first, 16) : 0;
    mask = static_cast<__mmask16>((1u << count) - 1);
    bias = job.operands.bias != nullptr ? _mm512_maskz_loadu_ps(mask, job.operands.bias + first)
                                        : _mm512_setzero_ps();
    const Activation& activation = job.convolution.activation;
    slope = _mm512_set1_ps(activation.slope);
    low = _mm512_set1_ps(activation.low);
    high = _mm512_set1_ps(activation.high);
  }

  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void store(const float* sums,
                                                                     std::byte* to) const {
    auto* const words = reinterpret_cast<std::uint16_t*>(to);
    auto* const floats = reinterpret_cast<float*>(to);
    __m512 x = _mm512_add_ps(_mm512_load_ps(sums), bias);
    if (adds && in_bf16)
      x = _mm512_add_ps(x, _mm512_castsi512_ps(_mm512_slli_epi32(
                               _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, words)), 16)));
    else if (adds)
      x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(mask, floats));
    x = _mm512_mask_mul_ps(x, _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ), x, slope);
    x = _mm512_min_ps(high, _mm512_max_ps(low, x));
    if (in_bf16)
      _mm256_mask_storeu_epi16(words, mask, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
    else
      _mm512_mask_storeu_ps(floats, mask, x);
  }
};

[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void store_block(const Job& job,
                                                                         const float* sums,
                                                                         std::size_t first) {
  const AmxConvolution& c = job.convolution;
  const std::size_t size = c.writes_bf16 ? sizeof(std::uint16_t) : sizeof(float);
  const Finish left(job, job.outputs * block), right(job, job.outputs * block + 16);
  const std::size_t image_row = job.image * c.height.output + job.first_row;
  for (std::size_t i = 0; i < block; ++i) {
    const std::size_t y = (first + i) / job.strips.width, x = (first + i) % job.strips.width;
    if (x >= c.width.output || y >= job.rows) continue;
    const std::size_t pixel = (image_row + y) * c.width.output + x;
    std::byte* const to = job.operands.result + (pixel * c.outputs + job.outputs * block) * size;
    left.store(sums + i * block, to);
    right.store(sums + i * block + 16, to + 16 * size);
  }
}

/// Some of the strip's pixels.
void run(const Job& job, std::size_t first, std::size_t last) {
  alignas(64) std::array<float, block * block> sums;
  const auto* const pixels = reinterpret_cast<const std::uint16_t*>(job.operands.working);
  const std::uint16_t* const weights =
      job.operands.weights + job.outputs * job.strips.weights_of_block();
  configure_tiles();
  for (std::size_t pixel = first; pixel < last; pixel += block) {
    const std::uint16_t* const from = pixels + pixel * job.strips.pixel;
    if (job.convolution.split)
      multiply_split(job.strips, from, weights, sums.data());
    else
      multiply(job.strips, from, weights, sums.data());
    store_block(job, sums.data(), pixel);
  }
  release_tiles();
}

}  // namespace

void convolve(const AmxConvolution& convolution, const AmxOperands& operands) {
  const AmxStrips strips(convolution);
  const std::size_t blocks = (convolution.outputs + block - 1) / block;
  const std::size_t all = convolution.height.output;
  for (std::size_t image = 0; image < convolution.images; ++image)
    for (std::size_t row = 0; row < all; row += strips.rows) {
      const std::size_t rows = std::min(strips.rows, all - row);
      fill_strip(convolution, strips, operands, {image, row, rows});
      const std::size_t pixels = (rows - 1) * strips.width + convolution.width.output;
      const auto jobs = static_cast<std::ptrdiff_t>(blocks);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
      for (std::ptrdiff_t i = 0; i < jobs; ++i)
        run({convolution, strips, operands, image, row, rows, static_cast<std::size_t>(i)}, 0,
            pixels);
    }
}

}  // namespace millrace::engine::onednn

#else

namespace millrace::engine::onednn {
void convolve(const AmxConvolution&, const AmxOperands&) {}  // nobody may call it here
}  // namespace millrace::engine::onednn

#endif
