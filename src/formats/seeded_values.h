#pragma once
// Weights by chance, where trained ones are not at hand: the same on every machine.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace millrace::formats {

/// Uniform in [centre - width, centre + width). Where the centre is not 0, the width is a power of
/// two and the values are the same whatever the compiler makes of the sum.
struct Spread {
  float centre = 0, width = 0;
};

/// Keeps the variance of what a layer computes from so many inputs, half of which a ReLU took.
Spread he_spread(std::int64_t fan_in);
/// Small beside the activations, but not 0, so that a forgotten bias shows.
inline constexpr Spread bias_spread{0, 0.0625f};
/// Spreads of a batch normalisation's values; `gain` is the mean of its scales.
constexpr Spread scale_spread(float gain) { return {gain, 0.125f}; }
inline constexpr Spread shift_spread{0, 0.125f};  // its biases and means
inline constexpr Spread variance_spread{1, 0.25f};

/// Fills the memory with float32. Drawn from the seed and the tensor's name, so that a change
/// elsewhere in the network leaves them alone.
void fill_seeded(std::span<std::byte> memory, const std::string& name, std::uint64_t seed,
                 const Spread& spread);

}  // namespace millrace::formats
