#include "engine/onednn/split.h"

#include <bit>

namespace millrace::engine::onednn {
namespace {

constexpr std::uint32_t low_half = 0xffff;

/// The bits of the nearest float that is a bfloat16 number (ties to even).
inline std::uint32_t rounded(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return (bits + (low_half >> 1) + ((bits >> 16) & 1)) & ~low_half;
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void write_part(const float* from, std::size_t count, Part part, std::uint16_t* to) {
  if (part == Part::high) {
    for (std::size_t i = 0; i < count; ++i)
      to[i] = static_cast<std::uint16_t>(rounded(from[i]) >> 16);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const float rest = from[i] - std::bit_cast<float>(rounded(from[i]));
    to[i] = static_cast<std::uint16_t>(rounded(rest) >> 16);
  }
}

}  // namespace

void split(std::span<const float> from, std::size_t width, const Parts& parts,
           std::span<std::uint16_t> to) {
  const auto rows = static_cast<std::ptrdiff_t>(from.size() / width);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    const float* const row = from.data() + static_cast<std::size_t>(i) * width;
    std::uint16_t* const target = to.data() + parts.size() * static_cast<std::size_t>(i) * width;
    for (std::size_t p = 0; p < parts.size(); ++p)
      write_part(row, width, parts[p], target + p * width);
  }
}

}  // namespace millrace::engine::onednn
