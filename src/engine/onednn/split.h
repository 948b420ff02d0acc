#pragma once
// float32 numbers as sums of two bfloat16 numbers, for units that multiply only those.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace millrace::engine::onednn {

/// x = high + low with an error of at most 2^-17 |x| (Henry, Tang, Heinecke 2019, "Leveraging the
/// bfloat16 artificial intelligence datatype for higher-precision computations"). A sum of products
/// of such numbers, without the products of two low terms, is a sum of three times as many products
/// of bfloat16 numbers.
enum class Term { high, low };
using Terms = std::vector<Term>;

/// `from` is rows of `width` numbers. Each becomes as many such rows in a row as there are terms.
/// `to`: terms.size() times as many numbers. Runs on the calling thread and, in a ThreadScope with
/// more cores, on its helpers.
void split(std::span<const float> from, std::size_t width, const Terms& terms,
           std::span<std::uint16_t> to);

}  // namespace millrace::engine::onednn
