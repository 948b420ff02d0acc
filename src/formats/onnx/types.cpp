#include "formats/onnx/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace millrace::formats::onnx {
namespace {

struct Code {
  std::string_view name;
  std::optional<DataType> type;
};

/// By ONNX's number.
constexpr std::array<Code, 24> codes{{{"undefined", {}},
                                      {"float32", DataType::float32},
                                      {"uint8", DataType::uint8},
                                      {"int8", DataType::int8},
                                      {"uint16", DataType::uint16},
                                      {"int16", DataType::int16},
                                      {"int32", DataType::int32},
                                      {"int64", DataType::int64},
                                      {"string", {}},
                                      {"boolean", DataType::boolean},
                                      {"float16", DataType::float16},
                                      {"float64", DataType::float64},
                                      {"uint32", DataType::uint32},
                                      {"uint64", DataType::uint64},
                                      {"complex64", {}},
                                      {"complex128", {}},
                                      {"bfloat16", DataType::float32},
                                      {"float8e4m3fn", {}},
                                      {"float8e4m3fnuz", {}},
                                      {"float8e5m2", {}},
                                      {"float8e5m2fnuz", {}},
                                      {"uint4", {}},
                                      {"int4", {}},
                                      {"float4e2m1", {}}}};

constexpr int bfloat16 = 16, uint4 = 21, int4 = 22;

bool in_table(int code) { return code >= 0 && code < static_cast<int>(codes.size()); }

}  // namespace

std::optional<DataType> known_type(int code) {
  return in_table(code) ? codes[static_cast<std::size_t>(code)].type : std::nullopt;
}

std::optional<StoredType> stored_type(int code) {
  if (code == bfloat16) return StoredType{DataType::float32, DataType::uint16};
  if (has_four_bits(code))
    return StoredType{code == int4 ? DataType::int8 : DataType::uint8, DataType::uint8, 2};
  const auto type = known_type(code);
  return type ? std::optional(StoredType{*type, *type}) : std::nullopt;
}

bool has_four_bits(int code) { return code == uint4 || code == int4; }

int number_of(DataType type) {
  const auto found =
      std::find_if(codes.begin(), codes.end(), [&](const Code& code) { return code.type == type; });
  return static_cast<int>(found - codes.begin());
}

std::string type_name(int code) {
  return in_table(code) ? std::string(codes[static_cast<std::size_t>(code)].name)
                        : fmt::format("type {}", code);
}

std::string supported_types() {
  std::string text = "expected one of";
  for (const Code& code : codes)
    if (code.type) text += fmt::format("{} {}", text.ends_with("of") ? "" : ",", code.name);
  return text;
}

}  // namespace millrace::formats::onnx
