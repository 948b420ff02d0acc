#pragma once
// Outputs of any type as real numbers.
#include "network/evaluate/evaluate.h"
#include "network/tensor.h"

namespace millrace::application {

/// The same array if it is float32.
inline network::Array as_float(const network::Array& array) {
  using network::DataType;
  return array.type == DataType::float32 ? array : network::converted(array, DataType::float32);
}

}  // namespace millrace::application
