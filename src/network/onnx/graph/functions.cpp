#include "network/onnx/graph/functions.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "base/error.h"
#include "network/onnx/graph/read_nodes.h"
#include "network/onnx/model.h"

namespace millrace::network::onnx {
namespace {

using Attribute = ::onnx::AttributeProto;

/// Defaults stand in a field of IR version 9 that older schemas know only by number.
std::vector<Attribute> default_attributes(const ::onnx::FunctionProto& function) {
  constexpr int field_of_defaults = 11;
  std::vector<Attribute> result;
  const auto& unknown = function.GetReflection()->GetUnknownFields(function);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto& field = unknown.field(i);
    if (field.number() != field_of_defaults ||
        field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      continue;
    Attribute attribute;
    if (attribute.ParseFromString(field.length_delimited())) result.push_back(std::move(attribute));
  }
  return result;
}

/// What the call gives for the function's attributes; null: nothing.
class Arguments {
 public:
  Arguments(const ::onnx::FunctionProto& function, const ::onnx::NodeProto& call)
      : call_(call), defaults_(default_attributes(function)) {}

  const Attribute* find(const std::string& name) const {
    for (const Attribute& given : call_.attribute())
      if (given.name() == name) return &given;
    for (const Attribute& fallback : defaults_)
      if (fallback.name() == name) return &fallback;
    return nullptr;
  }

  /// References to the function's attributes become values, or vanish.
  void put_into(::onnx::NodeProto& node) const {
    google::protobuf::RepeatedPtrField<Attribute> kept;
    for (Attribute& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) put_into(*attribute.mutable_g());
      if (attribute.ref_attr_name().empty()) {
        kept.Add()->Swap(&attribute);
        continue;
      }
      const Attribute* value = find(attribute.ref_attr_name());
      if (value == nullptr) continue;
      Attribute* added = kept.Add();
      *added = *value;
      added->set_name(attribute.name());
    }
    node.mutable_attribute()->Swap(&kept);
  }

 private:
  void put_into(::onnx::GraphProto& graph) const {
    for (::onnx::NodeProto& node : *graph.mutable_node()) put_into(node);
  }

  const ::onnx::NodeProto& call_;
  std::vector<Attribute> defaults_;
};

::onnx::GraphProto body_of(const ::onnx::FunctionProto& function, const ::onnx::NodeProto& call) {
  ::onnx::GraphProto body;
  const Arguments arguments(function, call);
  for (const ::onnx::NodeProto& node : function.node()) {
    ::onnx::NodeProto* added = body.add_node();
    *added = node;
    arguments.put_into(*added);
  }
  for (const std::string& output : function.output()) body.add_output()->set_name(output);
  return body;
}

std::string key_of(const std::string& domain, const std::string& name) {
  return (domain == "ai.onnx" ? "" : domain) + "\n" + name;
}

}  // namespace

Reading::Functions functions_of(const ::onnx::ModelProto& model) {
  Reading::Functions result;
  for (const ::onnx::FunctionProto& function : model.functions())
    result.emplace(key_of(function.domain(), function.name()), &function);
  return result;
}

const ::onnx::FunctionProto* find_function(const Reading& reading, const ::onnx::NodeProto& node) {
  if (reading.functions().empty()) return nullptr;
  const auto found = reading.functions().find(key_of(node.domain(), node.op_type()));
  return found == reading.functions().end() ? nullptr : found->second;
}

void call_function(Reading& reading, const ::onnx::FunctionProto& function,
                   const ::onnx::NodeProto& node, const std::string& name) {
  const std::string place =
      fmt::format("{}: node '{}' ({})", reading.source().file, name, node.op_type());
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    throw InputError(place, fmt::format("has {} inputs and {} outputs, but its function has {} and "
                                        "{}",
                                        node.input_size(), node.output_size(),
                                        function.input_size(), function.output_size()));
  std::vector<std::optional<TensorId>> given;
  for (const std::string& input : node.input()) given.push_back(reading.find(input));
  const ::onnx::GraphProto body = body_of(function, node);
  std::vector<Known> results;
  {
    const Scope scope(reading, {name + "/", place, opset_of(function, reading.opset(), place)});
    for (int i = 0; i < function.input_size(); ++i) {
      const bool is_there = i < node.input_size() && given[static_cast<std::size_t>(i)];
      if (is_there)
        reading.define(function.input(i), *given[static_cast<std::size_t>(i)]);
      else
        reading.define_nothing(function.input(i));
    }
    read_nodes(reading, body);
    for (const std::string& output : function.output()) results.push_back(reading.known(output));
  }
  for (int i = 0; i < node.output_size(); ++i)
    reading.define(node.output(i), results[static_cast<std::size_t>(i)]);
}

}  // namespace millrace::network::onnx
