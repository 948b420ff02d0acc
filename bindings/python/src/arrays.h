#pragma once
// Arrays of Python as tensors, and back, without copies.
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "millrace/tensor.h"

namespace millrace::python {

namespace nb = nanobind;

/// "float32", as numpy has it.
const char* name_of(DataType type);
/// "float32 1x3x224x224".
std::string text_of(DataType type, const Shape& shape);

/// Whatever has the buffer protocol or DLPack; of a row without gaps no copy is made. Error names
/// the place if type or shape are others than expected. With the GIL.
Tensor tensor_of(nb::handle array, const TensorInfo& expected, const char* kind = "input");
/// The same, of any type and shape.
Tensor tensor_of(nb::handle array);
/// A numpy array that shares the memory and keeps it; read-only if others share it too.
nb::object array_of(Tensor tensor);
/// A tensor for each input, from a dict by name, a list or tuple in order, or the array of the only
/// one.
Frame frame_of(nb::handle given, const std::vector<TensorInfo>& inputs);
/// Puts them into the dict, by name.
void fill(nb::handle dict, Frame frame, const std::vector<nb::object>& names);
/// While one lives, its owner takes frames all the time, and what threads let go of is released
/// then: they need not interrupt the interpreter. With the GIL.
class TakesFrames {
 public:
  TakesFrames();
  ~TakesFrames();
  TakesFrames(const TakesFrames&) = delete;
  TakesFrames& operator=(const TakesFrames&) = delete;
};
/// By name.
nb::dict dict_of(Frame frame, const std::vector<nb::object>& names);

}  // namespace millrace::python
