#include "formats/onnx/graph/functions.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "base/error.h"
#include "formats/onnx/graph/read_nodes.h"
#include "formats/onnx/model.h"

namespace millrace::formats::onnx {
namespace {

using Attribute = ::onnx::AttributeProto;

/// What a field holds, text or messages as they lie in the file. Schemas older than the field know
/// it only by number.
std::vector<std::string> field_of(const google::protobuf::Message& message, int number) {
  std::vector<std::string> result;
  const auto& reflection = *message.GetReflection();
  if (const auto* field = message.GetDescriptor()->FindFieldByNumber(number)) {
    if (!field->is_repeated()) return {reflection.GetString(message, field)};
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      result.push_back(reflection.GetRepeatedMessage(message, field, i).SerializeAsString());
    return result;
  }
  const auto& unknown = reflection.GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i)
    if (const auto& field = unknown.field(i);
        field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      result.emplace_back(field.length_delimited());
  return result;
}

/// Attributes with default values, since IR version 9.
std::vector<Attribute> default_attributes(const ::onnx::FunctionProto& function) {
  constexpr int field_of_defaults = 11;
  std::vector<Attribute> result;
  for (const std::string& text : field_of(function, field_of_defaults))
    if (Attribute attribute; attribute.ParseFromString(text))
      result.push_back(std::move(attribute));
  return result;
}

/// The overload, since IR version 10: which of several functions of one name.
std::string overload_of(const google::protobuf::Message& message, int number) {
  const std::vector<std::string> found = field_of(message, number);
  return found.empty() ? "" : found.back();
}
std::string overload_of(const ::onnx::FunctionProto& function) { return overload_of(function, 13); }
std::string overload_of(const ::onnx::NodeProto& node) { return overload_of(node, 8); }

bool refers(const ::onnx::NodeProto& node);

bool refers(const ::onnx::GraphProto& graph) {
  return std::any_of(graph.node().begin(), graph.node().end(),
                     [](const ::onnx::NodeProto& node) { return refers(node); });
}

/// Whether the node, or one in a graph inside of it, uses an attribute of the function.
bool refers(const ::onnx::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(), [](const Attribute& each) {
    return !each.ref_attr_name().empty() || (each.has_g() && refers(each.g()));
  });
}

/// What the call gives for the function's attributes. Copies are counted before they are made: a
/// small file can ask for many of something large.
class Arguments {
 public:
  Arguments(const ::onnx::FunctionProto& function, const ::onnx::NodeProto& call,
            std::function<void(std::size_t bytes)> count)
      : function_(function), call_(call), count_(std::move(count)) {}

  ::onnx::NodeProto put_into_copy(const ::onnx::NodeProto& node) {
    count_(node.SpaceUsedLong());
    ::onnx::NodeProto copy = node;
    put_into(copy);
    return copy;
  }

 private:
  /// Null: nothing.
  const Attribute* find(const std::string& name) {
    for (const Attribute& given : call_.attribute())
      if (given.name() == name) return &given;
    if (!defaults_) {
      count_(function_.SpaceUsedLong());
      defaults_ = default_attributes(function_);
    }
    for (const Attribute& fallback : *defaults_)
      if (fallback.name() == name) return &fallback;
    return nullptr;
  }

  /// References to the function's attributes become values, or vanish.
  void put_into(::onnx::NodeProto& node) {
    google::protobuf::RepeatedPtrField<Attribute> kept;
    for (Attribute& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) put_into(*attribute.mutable_g());
      if (attribute.ref_attr_name().empty()) {
        kept.Add()->Swap(&attribute);
        continue;
      }
      const Attribute* value = find(attribute.ref_attr_name());
      if (value == nullptr) continue;
      count_(value->SpaceUsedLong());
      Attribute* added = kept.Add();
      *added = *value;
      added->set_name(attribute.name());
    }
    node.mutable_attribute()->Swap(&kept);
  }

  void put_into(::onnx::GraphProto& graph) {
    for (::onnx::NodeProto& node : *graph.mutable_node()) put_into(node);
  }

  const ::onnx::FunctionProto& function_;
  const ::onnx::NodeProto& call_;
  std::function<void(std::size_t bytes)> count_;
  std::optional<std::vector<Attribute>> defaults_;  // once one is needed
};

/// The function's nodes. Most are those of the file, for they may hold large constants.
struct Body {
  NodeList list;
  std::deque<::onnx::NodeProto> changed;
};

Body body_of(const ::onnx::FunctionProto& function, Arguments arguments) {
  Body body;
  for (const ::onnx::NodeProto& node : function.node()) {
    const bool changes = refers(node);
    if (changes) body.changed.push_back(arguments.put_into_copy(node));
    body.list.nodes.push_back(changes ? &body.changed.back() : &node);
  }
  return body;
}

std::string key_of(const std::string& domain, const std::string& name,
                   const std::string& overload) {
  return (domain == "ai.onnx" ? "" : domain) + "\n" + name + "\n" + overload;
}

}  // namespace

Functions functions_of(const ::onnx::ModelProto& model) {
  Functions result;
  for (const ::onnx::FunctionProto& function : model.functions())
    result.emplace(key_of(function.domain(), function.name(), overload_of(function)), &function);
  return result;
}

const ::onnx::FunctionProto* find_function(const Reading& reading, const ::onnx::NodeProto& node) {
  if (reading.functions.empty()) return nullptr;
  const auto found =
      reading.functions.find(key_of(node.domain(), node.op_type(), overload_of(node)));
  return found == reading.functions.end() ? nullptr : found->second;
}

void call_function(Reading& reading, const ::onnx::FunctionProto& function,
                   const NodeToRead& call) {
  const ::onnx::NodeProto& node = call.proto;
  const std::string& name = call.name;
  const std::string place =
      fmt::format("{}: node '{}' ({})", reading.source.file, name, node.op_type());
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    throw InputError(place, fmt::format("has {} inputs and {} outputs, but its function has {} and "
                                        "{}",
                                        node.input_size(), node.output_size(),
                                        function.input_size(), function.output_size()));
  if (reading.names.is_inside(function))
    throw InputError(place, fmt::format("the function '{}' calls itself, which ONNX does not "
                                        "allow; export the model without recursion",
                                        function.name()));
  const std::string by = fmt::format("calls the function '{}'", function.name());
  reading.inside.check_layers(place, by);
  std::vector<std::optional<TensorId>> given;
  for (const std::string& input : node.input()) given.push_back(reading.names.find(input));
  const auto count = [&](std::size_t bytes) { reading.inside.count_copied(bytes, place); };
  Body body = body_of(function, Arguments(function, node, count));
  for (int i = 0; i < node.output_size(); ++i)
    if (call.needed.contains(node.output(i))) body.list.outputs.push_back(function.output(i));
  std::vector<Known> results;
  {
    const Scope scope(reading.names, {name + "/", place,
                                      opset_of(function, reading.names.opset(), place), &function});
    for (int i = 0; i < function.input_size(); ++i) {
      const bool is_there = i < node.input_size() && given[static_cast<std::size_t>(i)];
      if (is_there)
        reading.define(function.input(i), *given[static_cast<std::size_t>(i)]);
      else
        reading.define(function.input(i), Known{});
    }
    read_nodes(reading, body.list);
    for (const std::string& output : function.output())
      results.push_back(reading.names.known(output));
  }
  if (std::ranges::none_of(results, [](const Known& one) { return one.problem.has_value(); }))
    reading.inside.check_layers(place, by);
  for (int i = 0; i < node.output_size(); ++i)
    reading.define(node.output(i), results[static_cast<std::size_t>(i)]);
}

void set_versions(const Reading& reading, ::onnx::ModelProto& model) {
  model.set_ir_version(8);
  model.add_opset_import()->set_version(reading.names.opset());
  for (const auto& [domain, version] : reading.source.domains) {
    ::onnx::OperatorSetIdProto& opset = *model.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  }
}

}  // namespace millrace::formats::onnx
