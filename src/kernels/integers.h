#pragma once
// Sums of products of 16-bit integers that stand for pixels and weights, such that no sum can leave
// 32 bits whatever the pixels are.
#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::kernels {

/// The largest magnitude that pixels may have as integers so that pixels and weights are rounded
/// about equally where `summed` products are added up. `gain`: the largest possible pixel over the
/// mean magnitude of pixels.
float largest_of_pixels(std::size_t summed, double gain);

/// What a weight of 1 stands for, such that sums of `summed` products that follow each other fit
/// into 32 bits with pixels up to `largest`. No number where a weight is infinite or none.
float scale_of_weights(std::span<const double> of_output, std::size_t summed, float largest);

/// The integer of at most that magnitude next to `weight / scale`; 0 where that is no number.
std::int32_t integer_of(double weight, float scale, std::int32_t largest);

}  // namespace millrace::kernels
