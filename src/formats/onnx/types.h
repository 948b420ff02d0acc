#pragma once
// ONNX's numbers for element types.
#include <optional>
#include <string>

#include "formats/network_names.h"

namespace millrace::formats::onnx {

/// The type with ONNX's number `code`; nothing if networks have no such type. bfloat16 numbers are
/// float32 numbers here.
std::optional<DataType> known_type(int code);

/// How the numbers of a weight lie in a file.
struct StoredType {
  DataType type = DataType::float32;     // that the weight gets
  DataType in_file = DataType::float32;  // the same, or that of the pieces in the file
  std::int64_t in_piece = 1;             // numbers of a piece
};
/// How known types are stored; integers of 4 bits, two in a byte, become int8 or uint8.
std::optional<StoredType> stored_type(int code);
bool has_four_bits(int code);
/// ONNX's number for the type.
int number_of(DataType type);
/// ONNX's name for it ("bfloat16"), or "type 99".
std::string type_name(int code);
/// For messages: "; expected one of float32, ...".
std::string supported_types();

}  // namespace millrace::formats::onnx
