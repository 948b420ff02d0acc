#pragma once
// Batch normalisation of a slice of wider pixels, which oneDNN's kernels do not take.
#include <cstddef>
#include <span>
#include <vector>

namespace millrace::kernels {

/// By channel.
struct ChannelMap {
  std::span<const float> mean, factor, shift;  // factor: scale / sqrt(variance + epsilon)
  bool relu = false;                           // then negative results become zero
};

/// scale / sqrt(variance + epsilon), rounded where oneDNN's kernels round it.
void write_factors(std::span<const float> scale, std::span<const float> variance, float epsilon,
                   std::vector<float>& factors);

/// Normalises rows of mean.size() numbers, the first of which stand `from_stride` numbers apart:
/// (x - mean) * factor + shift, with one rounding at the end where the processor has it, as in
/// oneDNN's kernels. `to` is dense and elsewhere. Runs on the calling thread and its OpenMP
/// helpers.
void normalize(const float* from, std::size_t from_stride, const ChannelMap& map,
               std::span<float> to);

}  // namespace millrace::kernels
