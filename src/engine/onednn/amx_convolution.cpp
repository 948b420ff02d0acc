#include "engine/onednn/amx_convolution.h"

#include <algorithm>
#include <array>

#include "engine/onednn/amx_strip.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace millrace::engine::onednn {
namespace {

constexpr std::size_t block = 32;      // pixels and outputs that are computed at once: 2 x 2 tiles
constexpr std::size_t tile = 16 * 64;  // bytes

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

/// Sums of 32 pixels by 32 outputs, `to` row by row: float32, of int8 int32.
struct Block {
  const AmxStrips& strips;
  const std::byte* pixels;  // the first one in the strip
  const std::byte* weights;
  float* to;
};

[[gnu::target("avx512f,amx-tile")]] inline void clear_tiles() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

[[gnu::target("avx512f,amx-tile")]] inline void store_tiles(float* to) {
  _tile_stored(0, to, 4 * block);
  _tile_stored(1, to + 16, 4 * block);
  _tile_stored(2, to + 16 * block, 4 * block);
  _tile_stored(3, to + 16 * block + 16, 4 * block);
}

/// Both halves of the pixels into 4 and 5.
[[gnu::target("avx512f,amx-tile")]] inline void load_pixels(const std::byte* from,
                                                            std::size_t stride) {
  _tile_loadd(4, from, stride);
  _tile_loadd(5, from + 16 * stride, stride);
}

/// Both halves of the outputs into 6 and 7.
[[gnu::target("avx512f,amx-tile")]] inline void load_weights(const std::byte* from) {
  _tile_loadd(6, from, 64);
  _tile_loadd(7, from + tile, 64);
}

[[gnu::target("avx512f,amx-tile,amx-bf16")]] inline void multiply_tiles() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

[[gnu::target("avx512f,amx-tile,amx-bf16")]] void multiply_split(Block b) {
  clear_tiles();
  for (const std::size_t offset : b.strips.steps) {
    load_pixels(b.pixels + offset, b.strips.pixel);
    load_weights(b.weights + 2 * tile);
    multiply_tiles();
    load_weights(b.weights);
    multiply_tiles();
    load_pixels(b.pixels + offset + b.strips.low, b.strips.pixel);
    multiply_tiles();
    b.weights += 4 * tile;
  }
  store_tiles(b.to);
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

/// Of numbers with one term.
template <void (*products)()>
[[gnu::target("avx512f,amx-tile,amx-bf16,amx-int8")]] void multiply_once(Block b) {
  clear_tiles();
  for (const std::size_t offset : b.strips.steps) {
    load_pixels(b.pixels + offset, b.strips.pixel);
    load_weights(b.weights);
    products();
    b.weights += 2 * tile;
  }
  store_tiles(b.to);
}

void multiply(const AmxConvolution& convolution, const Block& b) {
  if (convolution.factors == AmxFactors::split) return multiply_split(b);
  if (convolution.factors == AmxFactors::bf16) return multiply_once<multiply_tiles>(b);
  if (convolution.source == StoredNumber::u8) return multiply_once<multiply_unsigned_tiles>(b);
  multiply_once<multiply_signed_tiles>(b);
}

/// 16 numbers, or as many as the mask has.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] inline __m512 load(const std::byte* from,
                                                                           StoredNumber number,
                                                                           __mmask16 mask) {
  switch (number) {
    case StoredNumber::f32:
      return _mm512_maskz_loadu_ps(mask, from);
    case StoredNumber::bf16:
      return _mm512_castsi512_ps(
          _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, from)), 16));
    case StoredNumber::u8:
      return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, from)));
    case StoredNumber::s8:
      break;
  }
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, from)));
}

[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] inline void store(__m512 x, std::byte* to,
                                                                          StoredNumber number,
                                                                          __mmask16 mask) {
  switch (number) {
    case StoredNumber::f32:
      return _mm512_mask_storeu_ps(to, mask, x);
    case StoredNumber::bf16:
      return _mm256_mask_storeu_epi16(to, mask, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
    case StoredNumber::u8:
      x = _mm512_max_ps(x, _mm512_setzero_ps());
      return _mm_mask_storeu_epi8(to, mask, _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(x)));
    case StoredNumber::s8:
      break;
  }
  _mm_mask_storeu_epi8(to, mask, _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(x)));
}

/// Finishes 16 outputs of a pixel.
struct Finish {
  const AmxConvolution& convolution;
  __mmask16 mask;
  __m512 bias, scale, added_scale, slope, low, high;

  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] Finish(const Job& job, std::size_t first)
      : convolution(job.convolution) {
    const std::size_t all = convolution.outputs;
    const std::size_t count = first < all ? std::min<std::size_t>(all - first, 16) : 0;
    mask = static_cast<__mmask16>((1u << count) - 1);
    bias = scale = _mm512_setzero_ps();
    if (job.operands.bias != nullptr) bias = _mm512_maskz_loadu_ps(mask, job.operands.bias + first);
    if (job.operands.scales != nullptr)
      scale = _mm512_maskz_loadu_ps(mask, job.operands.scales + first);
    added_scale = _mm512_set1_ps(convolution.added_scale);
    slope = _mm512_set1_ps(convolution.activation.slope);
    low = _mm512_set1_ps(convolution.activation.low);
    high = _mm512_set1_ps(convolution.activation.high);
  }

  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void finish(const float* sums,
                                                                      std::byte* to) const {
    __m512 x = _mm512_load_ps(sums);
    if (convolution.factors == AmxFactors::int8)
      x = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_castps_si512(x)), scale);
    x = _mm512_add_ps(x, bias);
    if (convolution.adds) x = _mm512_fmadd_ps(load(to, convolution.added, mask), added_scale, x);
    x = _mm512_mask_mul_ps(x, _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ), x, slope);
    x = _mm512_min_ps(high, _mm512_max_ps(low, x));
    store(x, to, convolution.result, mask);
  }
};

[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void store_block(const Job& job,
                                                                         const float* sums,
                                                                         std::size_t first) {
  const AmxConvolution& c = job.convolution;
  const std::size_t size = size_of(c.result);
  const Finish left(job, job.outputs * block), right(job, job.outputs * block + 16);
  const std::size_t image_row = job.image * c.height.output + job.first_row;
  for (std::size_t i = 0; i < block; ++i) {
    const std::size_t y = (first + i) / job.strips.width, x = (first + i) % job.strips.width;
    if (x >= c.width.output || y >= job.rows) continue;
    const std::size_t pixel = (image_row + y) * c.width.output + x;
    std::byte* const to = job.operands.result + (pixel * c.outputs + job.outputs * block) * size;
    left.finish(sums + i * block, to);
    right.finish(sums + i * block + 16, to + 16 * size);
  }
}

/// Some of the strip's pixels.
void run(const Job& job, std::size_t first, std::size_t last) {
  alignas(64) std::array<float, block * block> sums;
  const std::byte* const weights =
      job.operands.weights + job.outputs * job.strips.weights_of_block();
  configure_tiles();
  for (std::size_t pixel = first; pixel < last; pixel += block) {
    const std::byte* const pixels = job.operands.working + pixel * job.strips.pixel;
    multiply(job.convolution, {job.strips, pixels, weights, sums.data()});
    store_block(job, sums.data(), pixel);
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
void convolve(const AmxConvolution&, const AmxStrips&, const AmxOperands&) {
}  // nobody may call it here
}  // namespace millrace::engine::onednn

#endif
