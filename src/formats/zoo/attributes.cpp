#include "formats/zoo/attributes.h"

namespace millrace::formats::zoo {
namespace {

using Proto = ::onnx::AttributeProto;

Proto& add(::onnx::NodeProto& node, const char* name, Proto::AttributeType type) {
  Proto& added = *node.add_attribute();
  added.set_name(name);
  added.set_type(type);
  return added;
}

}  // namespace

void attribute(::onnx::NodeProto& node, const char* name, std::int64_t value) {
  add(node, name, Proto::INT).set_i(value);
}

void attribute(::onnx::NodeProto& node, const char* name, float value) {
  add(node, name, Proto::FLOAT).set_f(value);
}

void attribute(::onnx::NodeProto& node, const char* name, const char* text) {
  add(node, name, Proto::STRING).set_s(text);
}

void attribute(::onnx::NodeProto& node, const char* name, const Shape& values) {
  Proto& added = add(node, name, Proto::INTS);
  for (const std::int64_t value : values) added.add_ints(value);
}

void attribute(::onnx::NodeProto& node, const char* name, const std::vector<float>& values) {
  Proto& added = add(node, name, Proto::FLOATS);
  for (const float value : values) added.add_floats(value);
}

void attribute(::onnx::NodeProto& node, const char* name, const std::vector<std::string>& texts) {
  Proto& added = add(node, name, Proto::STRINGS);
  for (const std::string& text : texts) added.add_strings(text);
}

}  // namespace millrace::formats::zoo
