#pragma once
// Dense tensors with their dimensions in another order.
#include <cstddef>
#include <vector>

namespace millrace::kernels {

/// A dimension: how many, and how far from one number to the next in either tensor.
struct TurnedAxis {
  std::size_t size = 1, from = 1, to = 1;
};

/// Dimensions in the order of the result, none of size 1; the last one's `to` is 1, and one's
/// `from` is 1.
struct Turn {
  std::vector<TurnedAxis> axes;
};
/// In its shortest form: dimensions that follow each other in both tensors are one.
Turn turn_of(std::vector<TurnedAxis> axes);

/// Whether turn() is fast: it moves runs of numbers or squares of them.
bool is_fast(const Turn& turn);

/// `to` is elsewhere. Runs on the calling thread and its OpenMP helpers.
void turn_numbers(const Turn& turn, const float* from, float* to);

}  // namespace millrace::kernels
