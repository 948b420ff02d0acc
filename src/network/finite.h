#pragma once
// Whether numbers are numbers.
#include <span>

#include "network/tensor.h"

namespace millrace::network {

/// False if a value of them is infinite or NaN.
bool is_finite(std::span<const Array> arrays);

}  // namespace millrace::network
