#pragma once
// Inside winograd.h's convolutions of integers: how results are written.
#include "kernels/winograd/winograd_points.h"
#include "kernels/winograd/winograd_vectors.h"

#if defined(__x86_64__) && !defined(__clang__)
namespace millrace::kernels {

/// Loops whose products are float32 numbers by point, to be stored as such numbers. `Self` gives
/// `product(from, index, point)`: a vector of them of a tile.
template <class Self, std::size_t tile, std::size_t factors, StoredNumber result>
class IntegerBase : public WinogradLoops<Self, int_lanes, tile, factors> {
  using Base = WinogradLoops<Self, int_lanes, tile, factors>;
  using To = Stored<result>;

 public:
  using Base::Base;

  [[gnu::always_inline]] void write(std::size_t index) const {
    const auto results = this->results_of(index);
    const auto outputs = this->outputs_of_block();
    for (std::size_t output = outputs.first; output < outputs.end; output += int_lanes) {
      const float* const from =
          this->products(index, output / (2 * int_lanes)) + output % (2 * int_lanes);
      const std::size_t count = c_.outputs - output;
      if (count >= int_lanes)
        write_vector<true>(from, {output, int_lanes}, results, index);
      else
        write_vector<false>(from, {output, count}, results, index);
    }
  }

 protected:
  using Base::c_, Base::t_, Base::o_, Base::side;

  /// Channels or outputs that follow each other.
  struct Range {
    std::size_t first, count;
  };

  template <class Words>
  [[gnu::always_inline]] static Words larger(const Words& x, const Words& y) {
    return x > y ? x : y;
  }

 private:
  template <bool whole>
  [[gnu::always_inline]] void write_vector(const float* from, Range range,
                                           const typename Base::Results& results,
                                           std::size_t index) const {
    const auto& self = static_cast<const Self&>(*this);
    const std::size_t count = whole ? int_lanes : range.count;
    const float factor = self.factor_of_results(index);
    const Floats bias =
        o_.bias == nullptr ? Floats{} : load<Floats>(o_.bias + range.first, count * sizeof(float));
    auto* const first = reinterpret_cast<typename To::Number*>(o_.result) +
                        results.pixel * c_.outputs + range.first;
    tile_from_points<Floats, tile>(
        [&](std::size_t i, std::size_t j) [[gnu::always_inline]] {
          return self.product(from + (i * side + j) * t_.product_apart, index, i * side + j);
        },
        [&](std::size_t i, std::size_t j, Floats y) [[gnu::always_inline]] {
          if (i >= results.down || j >= results.across) return;
          auto* const at = first + (i * c_.width.output + j) * c_.outputs;
          y = y * factor + bias;
          const Floats more = c_.adds ? c_.added_scale * added(at, count) : Floats{};
          To::put(this->finish(y, more), at, count);
        });
  }

  /// As wide as results, but perhaps with another sign.
  [[gnu::always_inline]] Floats added(const typename To::Number* from, std::size_t count) const {
    if constexpr (sizeof(typename To::Number) == 1) {
      if (c_.added == StoredNumber::u8)
        return Stored<StoredNumber::u8>::get(reinterpret_cast<const std::uint8_t*>(from), count);
      return Stored<StoredNumber::s8>::get(reinterpret_cast<const std::int8_t*>(from), count);
    } else {
      return To::get(from, count);
    }
  }
};

/// The loops that store such results.
WinogradRun run_of_words(const WinogradConvolution& convolution);  // factors of 16 bits
WinogradRun run_of_bytes(const WinogradConvolution& convolution);  // factors of 8 bits

}  // namespace millrace::kernels
#endif
