#include "kernels/plain/casts.h"

#include "kernels/plain/pieces.h"

namespace millrace::kernels {
namespace {

template <class Integer>
[[gnu::always_inline]] inline void cast_all(std::span<const Integer> from, float* __restrict to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<float>(from[i]);
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void cast_piece(std::span<const std::int8_t> from, float* to) {
  cast_all(from, to);
}
#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void cast_piece(std::span<const std::uint8_t> from, float* to) {
  cast_all(from, to);
}
#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void cast_piece(std::span<const std::int32_t> from, float* to) {
  cast_all(from, to);
}
#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void cast_piece(std::span<const std::int64_t> from, float* to) {
  cast_all(from, to);
}

template <class Integer>
void cast_pieces(std::span<const Integer> from, float* to) {
  in_pieces(from.size(), worthwhile, [&](std::size_t first, std::size_t last) {
    cast_piece(from.subspan(first, last - first), to + first);
  });
}

}  // namespace

void write_numbers_of(std::span<const std::int8_t> from, float* to) { cast_pieces(from, to); }
void write_numbers_of(std::span<const std::uint8_t> from, float* to) { cast_pieces(from, to); }
void write_numbers_of(std::span<const std::int32_t> from, float* to) { cast_pieces(from, to); }
void write_numbers_of(std::span<const std::int64_t> from, float* to) { cast_pieces(from, to); }

void write_truths_of(std::span<const std::uint8_t> from, float* to) {
  in_pieces(from.size(), worthwhile, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) to[i] = from[i] != 0 ? 1.f : 0.f;
  });
}

}  // namespace millrace::kernels
