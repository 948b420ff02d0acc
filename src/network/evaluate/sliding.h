#pragma once
// The geometry of a window over 1 to 3 spatial dimensions, always as 3: missing ones in front
// have size 1.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "network/operators.h"

namespace millrace::network::loops {

using Three = std::array<std::int64_t, 3>;

inline std::int64_t volume(const Three& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

struct Sliding {
  Three in{}, out{}, kernel{}, strides{}, dilations{}, begin{}, end{};
};

inline Three as_three(std::span<const std::int64_t> values, std::int64_t missing) {
  Three three{missing, missing, missing};
  std::copy_backward(values.begin(), values.end(), three.end());
  return three;
}

/// `in` and `out` are the shapes of N,C,... tensors.
inline Sliding sliding(const Window& window, std::span<const std::int64_t> in,
                       std::span<const std::int64_t> out) {
  return {as_three(in.subspan(2), 1),    as_three(out.subspan(2), 1),
          as_three(window.kernel, 1),    as_three(window.strides, 1),
          as_three(window.dilations, 1), as_three(window.pads_begin, 0),
          as_three(window.pads_end, 0)};
}

/// Where in a channel of the input a window reads for an output, row by row; -1: in the padding.
inline std::int64_t offset_in(const Sliding& s, const Three& output, const Three& kernel) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t i = output[d] * s.strides[d] - s.begin[d] + kernel[d] * s.dilations[d];
    if (i < 0 || i >= s.in[d]) return -1;
    flat = flat * s.in[d] + i;
  }
  return flat;
}

/// The position with this flat index.
inline Three position(std::int64_t flat, const Three& sizes) {
  return {flat / (sizes[1] * sizes[2]), flat / sizes[2] % sizes[1], flat % sizes[2]};
}

}  // namespace millrace::network::loops
