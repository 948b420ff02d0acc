#include "engine/onednn/split.h"

#include <algorithm>

#include "engine/onednn/bfloat16.h"

namespace millrace::engine::onednn {
namespace {

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void write_part(const float* from, std::size_t count, Term part, std::uint16_t* to) {
  if (part == Term::high) {
    for (std::size_t i = 0; i < count; ++i) to[i] = to_bfloat16(from[i]);
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    to[i] = to_bfloat16(from[i] - from_bfloat16(to_bfloat16(from[i])));
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
