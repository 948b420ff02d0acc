#include "formats/zoo/attributes.h"

namespace millrace::formats::zoo {

void attribute(::onnx::NodeProto& node, const char* name, std::int64_t value) {
  auto& added = *node.add_attribute();
  added.set_name(name);
  added.set_type(::onnx::AttributeProto::INT);
  added.set_i(value);
}

void attribute(::onnx::NodeProto& node, const char* name, float value) {
  auto& added = *node.add_attribute();
  added.set_name(name);
  added.set_type(::onnx::AttributeProto::FLOAT);
  added.set_f(value);
}

void attribute(::onnx::NodeProto& node, const char* name, const char* text) {
  auto& added = *node.add_attribute();
  added.set_name(name);
  added.set_type(::onnx::AttributeProto::STRING);
  added.set_s(text);
}

void attribute(::onnx::NodeProto& node, const char* name, const Shape& values) {
  auto& added = *node.add_attribute();
  added.set_name(name);
  added.set_type(::onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) added.add_ints(value);
}

}  // namespace millrace::formats::zoo
