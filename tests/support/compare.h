#pragma once
// Whether two arrays agree.
#include <string>

#include "network/tensor.h"

namespace millrace::test {

/// Element by element: floating point within 1e-5 + 1e-3 |expected|, everything else exactly.
/// Empty, or the first difference in words.
std::string difference(const network::Array& found, const network::Array& expected);

/// The largest absolute error over the largest absolute expected value; float32 or float16.
double relative_error(const network::Array& found, const network::Array& expected);

}  // namespace millrace::test
