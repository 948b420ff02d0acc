#pragma once
// Loops over several arrays at once, each with its own strides.
#include <array>
#include <cstddef>
#include <cstdint>

#include "network/tensor.h"

namespace millrace::network::loops {

/// The dimensions of a loop and, for each of N arrays, how far a step in each goes.
template <std::size_t N>
struct Walk {
  Shape shape;
  std::array<Shape, N> strides;

  std::size_t rank() const { return shape.size(); }
};

/// Whether step `outer` continues where all steps of the next dimension end.
template <std::size_t N>
bool continues(const Walk<N>& outer, std::size_t dimension, const Walk<N>& inner) {
  for (std::size_t n = 0; n < N; ++n)
    if (outer.strides[n][dimension] != inner.strides[n].front() * inner.shape.front()) return false;
  return true;
}

/// The same walk with the fewest dimensions: those of size 1 dropped, neighbours merged where all
/// arrays allow it. At least one dimension.
template <std::size_t N>
Walk<N> collapsed(const Walk<N>& walk) {
  Walk<N> result;
  for (std::size_t i = walk.rank(); i-- > 0;) {
    if (walk.shape[i] == 1) continue;
    if (result.rank() > 0 && continues(walk, i, result)) {
      result.shape.front() *= walk.shape[i];
      continue;
    }
    result.shape.insert(result.shape.begin(), walk.shape[i]);
    for (std::size_t n = 0; n < N; ++n)
      result.strides[n].insert(result.strides[n].begin(), walk.strides[n][i]);
  }
  if (result.rank() > 0) return result;
  result.shape = {1};
  result.strides.fill({1});
  return result;
}

/// Calls body(offsets) for every position of the first `dimensions` dimensions, last one fastest.
template <std::size_t N, class Body>
void for_each(const Walk<N>& walk, std::size_t dimensions, Body&& body) {
  for (const std::int64_t size : walk.shape)
    if (size == 0) return;
  std::array<std::int64_t, N> offsets{};
  Shape position(dimensions, 0);
  while (true) {
    body(offsets);
    std::size_t i = dimensions;
    while (i > 0 && position[i - 1] + 1 == walk.shape[i - 1]) {
      --i;
      for (std::size_t n = 0; n < N; ++n) offsets[n] -= position[i] * walk.strides[n][i];
      position[i] = 0;
    }
    if (i == 0) return;
    ++position[i - 1];
    for (std::size_t n = 0; n < N; ++n) offsets[n] += walk.strides[n][i - 1];
  }
}

/// Strides, in elements, of a dense array broadcast to `shape`: 0 where it is repeated.
inline Shape broadcast_strides(std::span<const std::int64_t> from,
                               std::span<const std::int64_t> shape) {
  Shape strides(shape.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t size = from[from.size() - 1 - i];
    if (size != 1) strides[shape.size() - 1 - i] = stride;
    stride *= size;
  }
  return strides;
}

}  // namespace millrace::network::loops
