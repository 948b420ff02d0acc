#pragma once
// The only source of randomness: seeded, and the same numbers on every machine.
#include <cstdint>

namespace millrace {

/// splitmix64. Fulfils UniformRandomBitGenerator, but do not pass it to the distributions of
/// the standard library where results must be the same everywhere: those differ by library.
class Random {
 public:
  using result_type = std::uint64_t;
  explicit Random(std::uint64_t seed) : state_(seed) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~std::uint64_t{0}; }

  result_type operator()() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, bound); bound > 0. The bias is below 2^-32 for bounds below 2^32.
  std::uint64_t below(std::uint64_t bound) { return (*this)() % bound; }
  /// Uniform in [0, 1), 53 bits.
  double unit() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }
  /// Uniform in [low, high).
  float uniform(float low, float high) {
    const double share = static_cast<double>((*this)() >> 40) * 0x1.0p-24;
    return low + (high - low) * static_cast<float>(share);
  }

 private:
  std::uint64_t state_;
};

}  // namespace millrace
