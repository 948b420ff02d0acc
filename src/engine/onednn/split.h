#pragma once
// float32 numbers as sums of two bfloat16 numbers, for units that multiply only those.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::engine::onednn {

/// x = high + low with an error of at most 2^-17 |x| (Henry, Tang, Heinecke 2019, "Leveraging the
/// bfloat16 artificial intelligence datatype for higher-precision computations").
enum class Part { high, low };
using Parts = std::array<Part, 3>;

/// A sum of products of such numbers, without the products of two low parts, is a sum of three
/// times as many products of bfloat16 numbers: of these parts of the one factor with those of the
/// other.
inline constexpr Parts parts_of_source{Part::high, Part::high, Part::low};
inline constexpr Parts parts_of_weights{Part::high, Part::low, Part::high};

/// `from` is rows of `width` numbers. Each becomes three such rows in a row, one of each part.
/// `to`: three times as many. Runs on the calling thread and, in a ThreadScope with more cores, on
/// its helpers.
void split(std::span<const float> from, std::size_t width, const Parts& parts,
           std::span<std::uint16_t> to);

}  // namespace millrace::engine::onednn
