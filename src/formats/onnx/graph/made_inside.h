#pragma once
// What loops, branches and functions make of a file: a small one may ask for very much.
#include <cstddef>

#include "base/error.h"

namespace millrace::formats::onnx {

/// Loops, branches and functions make too much of the file; no other node of it can change that.
class TooMuchInside : public InputError {
 public:
  using InputError::InputError;
};

/// What loops, branches and functions have made of the file so far.
struct MadeInside {
  std::size_t nodes = 0, layers = 0, values_read = 0, name_bytes = 0, copied_bytes = 0;
};

}  // namespace millrace::formats::onnx
