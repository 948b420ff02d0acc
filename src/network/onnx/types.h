#pragma once
// ONNX's numbers for element types.
#include <optional>
#include <string>

#include "network/tensor.h"

namespace millrace::network::onnx {

/// The type with ONNX's number `code`; nothing if networks have no such type.
std::optional<DataType> known_type(int code);
/// ONNX's number for the type.
int number_of(DataType type);
/// ONNX's name for it ("bfloat16"), or "type 99".
std::string type_name(int code);
/// For messages: "; expected one of float32, ...".
std::string supported_types();

}  // namespace millrace::network::onnx
