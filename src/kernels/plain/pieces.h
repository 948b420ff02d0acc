#pragma once
// Work that is shared by the calling thread and its OpenMP helpers.
#include <algorithm>
#include <cstddef>

namespace millrace::kernels {

/// Numbers that are enough work for a thread.
inline constexpr std::size_t worthwhile = 16384;

/// Calls work(first, last) for pieces of at most `each` of `count` items.
template <class Work>
void in_pieces(std::size_t count, std::size_t each, const Work& work) {
  each = std::max<std::size_t>(each, 1);
  const auto pieces = static_cast<std::ptrdiff_t>((count + each - 1) / each);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) if (pieces > 1)
#endif
  for (std::ptrdiff_t i = 0; i < pieces; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * each;
    work(first, std::min(first + each, count));
  }
}

/// The same for rows of `size` numbers.
template <class Work>
void in_pieces_of_rows(std::size_t rows, std::size_t size, const Work& work) {
  in_pieces(rows, worthwhile / std::max<std::size_t>(size, 1), work);
}

}  // namespace millrace::kernels
