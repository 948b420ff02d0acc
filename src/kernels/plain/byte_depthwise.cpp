#include "kernels/plain/byte_depthwise.h"

#include <algorithm>
#include <utility>

#include "kernels/plain/byte_product.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace millrace::kernels {
namespace {

constexpr std::size_t block_channels = 16;
constexpr std::size_t pair_size = 2 * block_channels;  // weights of two neighbours of a block

/// The last block begins earlier and does some channels again.
std::size_t first_of_block(std::size_t block, std::size_t channels) {
  return std::min(block * block_channels, channels - block_channels);
}

/// A channel of a block of quads. The last block begins earlier, if there are enough channels.
std::size_t first_of_quads(std::size_t block, std::size_t channels) {
  return std::min(block * quad_channels, channels - std::min(channels, quad_channels));
}
std::size_t quad_blocks(std::size_t channels) {
  return (channels + quad_channels - 1) / quad_channels;
}

/// The number of bytes with a sign whose sum each weight is: 1 to 3.
std::size_t parts_of(std::span<const std::int16_t> weights) {
  const auto [least, most] = std::ranges::minmax(weights);
  if (least >= -128 && most <= 127) return 1;
  return least >= -256 && most <= 254 ? 2 : 3;
}

/// The weights of a depthwise convolution by quads, part after part.
std::vector<std::int8_t> quads_of(std::size_t channels, std::span<const std::int16_t> weights) {
  const std::size_t neighbours = weights.size() / channels, parts = parts_of(weights);
  const std::size_t of_part = (neighbours + 3) / 4 * 4 * quad_channels, of_block = parts * of_part;
  std::vector<std::int8_t> quads(quad_blocks(channels) * of_block);
  for (std::size_t b = 0; b < quad_blocks(channels); ++b)
    for (std::size_t i = 0; i < std::min(channels, quad_channels) * neighbours; ++i) {
      const std::size_t c = i / neighbours, k = i % neighbours;
      int left = weights[(first_of_quads(b, channels) + c) * neighbours + k];
      for (std::size_t part = 0; part < parts; ++part) {
        const int byte = std::clamp(left, -128, 127);
        quads[b * of_block + part * of_part + (k / 4 * quad_channels + quad_place(c)) * 4 + k % 4] =
            static_cast<std::int8_t>(byte);
        left -= byte;
      }
    }
  return quads;
}

bool has_pairs([[maybe_unused]] std::size_t channels) {
#if defined(__x86_64__)
  return channels >= block_channels && __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

#if defined(__x86_64__)
using Vector = __m256i;

[[gnu::always_inline, gnu::target("avx2")]] inline Vector read(const void* from) {
  return _mm256_loadu_si256(static_cast<const Vector*>(from));
}

/// Sixteen bytes as halfwords.
[[gnu::always_inline, gnu::target("avx2")]] inline Vector widened(const std::uint8_t* from) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

/// A block of channels. In both vectors of sums, as the pairs of halfwords come out, are the
/// channels 0 to 3 with 8 to 11, and 4 to 7 with 12 to 15.
struct DepthwiseBlock {
  std::span<const std::uint8_t* const> bytes;
  std::size_t first;  // channel
  const std::int16_t* pairs;
  const std::int32_t* starts;
  std::int32_t* sums;
};

[[gnu::target("avx2")]] void write_block(const DepthwiseBlock& block) {
  constexpr int low_halves = 0x20, high_halves = 0x31;
  const auto& bytes = block.bytes;
  const std::size_t first = block.first;
  const std::int16_t* pairs = block.pairs;
  const Vector a = read(block.starts), b = read(block.starts + 8);
  Vector low = _mm256_permute2x128_si256(a, b, low_halves);
  Vector high = _mm256_permute2x128_si256(a, b, high_halves);
  for (std::size_t k = 0; k < bytes.size(); k += 2, pairs += pair_size) {
    const Vector x = widened(bytes[k] + first);
    const Vector y = widened(bytes[std::min(k + 1, bytes.size() - 1)] + first);
    low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(x, y), read(pairs)));
    high = _mm256_add_epi32(
        high, _mm256_madd_epi16(_mm256_unpackhi_epi16(x, y), read(pairs + block_channels)));
  }
  auto* const to = reinterpret_cast<Vector*>(block.sums);
  _mm256_storeu_si256(to, _mm256_permute2x128_si256(low, high, low_halves));
  _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(low, high, high_halves));
}
#endif

/// Some of a pixel's neighbours.
struct PixelSums {
  std::span<const std::uint8_t* const> bytes;
  const std::int16_t* weights;
  std::size_t channels;
  std::int32_t* sums;
};

/// Neighbours from the first one on, as many as there are numbers in the sequence. Written out, so
/// that compilers take channels at once.
template <std::size_t... k>
[[gnu::always_inline]] inline void add_neighbours(const PixelSums& p, std::size_t first,
                                                  std::index_sequence<k...>) {
  const std::uint8_t* const bytes[]{p.bytes[first + k]...};
  const std::int16_t* const weights[]{p.weights + (first + k) * p.channels...};
  std::int32_t* __restrict const sums = p.sums;
  for (std::size_t c = 0; c < p.channels; ++c)
    sums[c] += ((std::int32_t{bytes[k][c]} * std::int32_t{weights[k][c]}) + ...);
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void add_all(const PixelSums& pixel) {
  constexpr std::size_t at_once = 9;
  std::size_t k = 0;
  for (; k + at_once <= pixel.bytes.size(); k += at_once)
    add_neighbours(pixel, k, std::make_index_sequence<at_once>());
  for (; k < pixel.bytes.size(); ++k) add_neighbours(pixel, k, std::make_index_sequence<1>());
}

}  // namespace

PackedDepthwise::PackedDepthwise(std::size_t channels, std::span<const std::int16_t> weights)
    : channels_(channels),
      neighbours_(weights.size() / channels),
      weights_(weights.size()),
      sums_(channels) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights_[i % neighbours_ * channels + i / neighbours_] = weights[i];
    sums_[i / neighbours_] += weights[i];
  }
  if (kernels::has_quads() && !weights.empty()) {
    quads_ = quads_of(channels, weights);
    parts_ = parts_of(weights);
  }
  if (!has_pairs(channels)) return;
  constexpr std::size_t groups[]{0, 2, 1, 3};  // of four channels, as sums have them
  const std::size_t blocks = (channels + block_channels - 1) / block_channels;
  const std::size_t of_block = (neighbours_ + 1) / 2 * pair_size;
  for (std::size_t i = 0; i < blocks * of_block; ++i) {
    const std::size_t within = i % pair_size;
    const std::size_t channel =
        first_of_block(i / of_block, channels) + 4 * groups[within / 8] + within % 8 / 2;
    const std::size_t neighbour = i % of_block / pair_size * 2 + within % 2;
    pairs_.push_back(neighbour < neighbours_ ? weights[channel * neighbours_ + neighbour]
                                             : std::int16_t{0});
  }
}

std::vector<std::int32_t> PackedDepthwise::starts(std::int32_t zero) const {
  std::vector<std::int32_t> starts;
  for (const std::int32_t sum : sums_) starts.push_back(-zero * sum);
  return starts;
}

void PackedDepthwise::write(std::span<const std::uint8_t* const> neighbours,
                            const std::int32_t* starts, std::int32_t* sums) const {
#if defined(__x86_64__)
  const std::size_t of_block = (neighbours_ + 1) / 2 * pair_size;
  for (std::size_t b = 0; b * of_block < pairs_.size(); ++b) {
    const std::size_t first = first_of_block(b, channels_);
    write_block({neighbours, first, pairs_.data() + b * of_block, starts + first, sums + first});
  }
  if (!pairs_.empty()) return;
#endif
  std::copy_n(starts, channels_, sums);
  add_all({neighbours, weights_.data(), channels_, sums});
}

DepthwiseToBytes::DepthwiseToBytes(const PackedDepthwise& weights, std::int32_t zero,
                                   bool is_signed, const ByteRescaling& rescaling)
    : weights_(weights), is_signed_(is_signed), rescaling_(rescaling) {
  const std::size_t channels = weights.channels_;
  const std::vector<std::int32_t> by_channel = weights.starts(zero);
  starts_.resize(quad_blocks(channels) * quad_channels);
  factors_.resize(starts_.size());
  for (std::size_t b = 0; b < quad_blocks(channels); ++b)
    for (std::size_t c = 0; c < std::min(channels, quad_channels); ++c) {
      const std::size_t channel = first_of_quads(b, channels) + c;
      const std::size_t place = b * quad_channels + quad_place(c);
      const std::int64_t bias = rescaling.bias ? rescaling.bias[channel] : 0;
      starts_[place] = static_cast<std::int32_t>(by_channel[channel] + bias);
      factors_[place] = rescaling.factors[channel];
    }
}

void DepthwiseToBytes::write(QuadRow row) const {
  row.is_signed = is_signed_;
  std::vector<const std::uint8_t*> in_parts;
  if (weights_.parts_ > 1) {
    for (std::size_t part = 0; part < weights_.parts_; ++part)
      in_parts.insert(in_parts.end(), row.neighbours.begin(), row.neighbours.end());
    row.neighbours = in_parts;
  }
  const std::size_t channels = weights_.channels_;
  const std::size_t of_block = row.neighbours.size() * quad_channels;
  for (std::size_t b = 0; b < quad_blocks(channels); ++b)
    write_quads(row,
                {first_of_quads(b, channels), std::min(channels, quad_channels),
                 reinterpret_cast<const std::byte*>(weights_.quads_.data() + b * of_block),
                 starts_.data() + b * quad_channels, factors_.data() + b * quad_channels},
                rescaling_);
}

}  // namespace millrace::kernels
