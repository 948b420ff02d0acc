#include "engine/onednn/split.h"

#include <algorithm>
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
void write_part(const float* from, std::size_t count, Term part, std::uint16_t* to) {
  if (part == Term::high) {
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

void split(std::span<const float> from, std::size_t width, const Terms& terms,
           std::span<std::uint16_t> to) {
  constexpr std::size_t piece = 8192;  // numbers; enough work for a thread
  const std::size_t pieces = (width + piece - 1) / piece;
  const auto all =
      static_cast<std::ptrdiff_t>(from.size() / std::max<std::size_t>(width, 1) * pieces);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < all; ++i) {
    const std::size_t row = static_cast<std::size_t>(i) / pieces;
    const std::size_t begin = static_cast<std::size_t>(i) % pieces * piece;
    std::uint16_t* target = to.data() + terms.size() * row * width + begin;
    for (const Term part : terms) {
      write_part(from.data() + row * width + begin, std::min(piece, width - begin), part, target);
      target += width;
    }
  }
}

}  // namespace millrace::engine::onednn
