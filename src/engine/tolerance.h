#pragma once
// How far results in a precision may be from those in float64.
#include "board/variant.h"

namespace millrace::engine {

/// The largest difference, as a share of the largest value. Float32 sums in another order differ in
/// their last bits, layer after layer. A number of f16 or bf16 is off by up to 2^-11 or 2^-8 each
/// time it is stored, one of int8 by 2^-8 of the range.
double tolerance_in(board::Precision precision);

}  // namespace millrace::engine
