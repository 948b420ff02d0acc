#pragma once
// The one loop behind all operators that only move elements.
#include <cstddef>

#include "network/evaluate/walk.h"

namespace millrace::network::loops {

/// Strides in elements: [0] of what is read, [1] of what is written.
using Copy = Walk<2>;

/// Copies the elements of the walk; `element` is their size: 1, 2, 4 or 8 bytes. Runs that are
/// contiguous on both sides are copied as blocks, transpositions in tiles.
void copy(const Copy& walk, const std::byte* from, std::byte* to, std::size_t element);

/// Writes `count` times the same element.
void fill(std::byte* to, std::int64_t count, const std::byte* value, std::size_t element);

}  // namespace millrace::network::loops
