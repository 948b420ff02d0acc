#include "formats/onnx/graph/opaque.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "formats/foreign_operators.h"
#include "formats/onnx/graph/names.h"
#include "formats/onnx/lower.h"
#include "formats/onnx/tensor_data.h"

namespace millrace::formats::onnx {
namespace {

constexpr std::array random_operators{"Bernoulli",     "Multinomial",      "RandomNormal",
                                      "RandomUniform", "RandomNormalLike", "RandomUniformLike"};

/// The node, the tensors that it reads, and which of its outputs somebody reads.
struct Parts {
  std::vector<TensorId> inputs;
  std::vector<std::size_t> outputs;
};

void check_input(const Node& node, TensorId id, const std::string& name) {
  const Reading& reading = node.reading();
  if (reading.of_varying_length.contains(id) && reading.purpose != Purpose::largest_sizes)
    node.fail(fmt::format("how long '{}' is changes from frame to frame; end the model there",
                          name));
  if (reading.of_four_bits.contains(id))
    node.fail(fmt::format("'{}' has integers of 4 bits; quantise to 8 bits", name));
}

/// Also what the graphs inside of it read from outside.
void take_inputs(const Node& node, const ::onnx::NodeProto& proto, Parts& parts, Opaque& op) {
  const Reading& reading = node.reading();
  for (const std::string& name : names_read(proto)) {
    if (std::ranges::find(op.inputs, name) != op.inputs.end()) continue;
    const std::optional<TensorId> id = reading.names.find(name);
    if (!id && !reading.names.knows(name))
      node.fail(fmt::format("the value '{}' is not known", name));
    if (!id || !id->valid()) continue;
    check_input(node, *id, name);
    op.inputs.push_back(name);
    op.types.push_back(reading.network[*id].type);
    op.constant.push_back(reading.network[*id].constant.has_value());
    parts.inputs.push_back(*id);
  }
}

/// An input that was left out has a name in functions.
void forget_absent_inputs(const Reading& reading, ::onnx::NodeProto& proto) {
  for (std::string& name : *proto.mutable_input())
    if (!reading.names.find(name)) name.clear();
}

std::shared_ptr<const std::string> model_of(const Node& node, const ::onnx::NodeProto& proto) {
  Reading& reading = node.reading();
  ::onnx::ModelProto model;
  set_versions(reading, model);
  ::onnx::NodeProto& copy = *model.mutable_graph()->add_node();
  copy = proto;
  copy.set_name(node.name());
  copy.clear_doc_string();
  forget_absent_inputs(reading, copy);
  for_each_tensor(model, [&](::onnx::TensorProto& tensor) {
    take_in_external_data(tensor, reading.files,
                          fmt::format("{}: '{}'", node.place(), tensor.name()));
  });
  if (model.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    node.fail("its attributes take more than 2 GiB; make them inputs");
  return std::make_shared<const std::string>(model.SerializeAsString());
}

/// The layer by itself, with outputs of which nothing is known.
Network question_of(const Node& node, const Parts& parts, const Opaque& op) {
  Network question;
  question.name = node.place();
  Layer layer{node.name(), op, {}, {}};
  const auto add = [&](Tensor tensor, std::vector<TensorId>& ids) {
    ids.emplace_back(question.tensors.size());
    question.tensors.push_back(std::move(tensor));
  };
  for (std::size_t i = 0; i < parts.inputs.size(); ++i) {
    Tensor tensor = node.tensor(parts.inputs[i]);
    tensor.name = op.inputs[i];
    tensor.quantized.reset();
    add(std::move(tensor), layer.inputs);
    if (!op.constant[i]) question.inputs.push_back(layer.inputs.back());
  }
  for (const std::string& name : op.outputs) add({name, DataType::float32, {}, {}}, layer.outputs);
  question.outputs = layer.outputs;
  question.layers.push_back(std::move(layer));
  return question;
}

ForeignAnswer ask(const Node& node, const Parts& parts, const Opaque& op) {
  const Reading& reading = node.reading();
  if (reading.source.foreign == nullptr) refuse_operator(node, op.name, {});
  ForeignAnswer answer = reading.source.foreign->ask(question_of(node, parts, op));
  if (answer.owner == nullptr) refuse_operator(node, op.name, answer.reason);
  return answer;
}

void take_answer(Opaque& op, const ForeignAnswer& answer) {
  op.owner = answer.owner;
  for (const ForeignOutput& output : answer.outputs) {
    op.made.push_back(output.type);
    op.varies.push_back(output.from == SizeFrom::varying_runs);
  }
}

/// What the reader knows runs elsewhere only if its sizes are certain.
void check_sizes(const Node& node, const std::string& op_type, const ForeignAnswer& answer) {
  if (!is_supported(op_type)) return;
  for (const ForeignOutput& output : answer.outputs)
    if (output.from != SizeFrom::the_model)
      node.fail("the sizes of its outputs depend on values");
}

/// Its engine may find out late that it cannot compute what is known already.
std::vector<TensorId> add_layer(Node& node, Opaque op, const Parts& parts,
                                const std::vector<std::optional<Made>>& made) {
  try {
    return node.add(std::move(op), parts.inputs, made);
  } catch (const EngineError& error) {
    node.fail(fmt::format("its values cannot be computed: {}", error.what()));
  }
}

}  // namespace

void read_opaque(Reading& reading, const NodeToRead& to_read, const std::string& op_type) {
  Node node(reading, to_read.proto, to_read.name, to_read.needed);
  Opaque op;
  op.name = op_type;
  Parts parts;
  take_inputs(node, to_read.proto, parts, op);
  for (std::size_t i = 0; i < node.output_count(); ++i)
    if (!node.output(i).empty() && node.wants(i)) {
      parts.outputs.push_back(i);
      op.outputs.push_back(node.output(i));
    }
  if (parts.outputs.empty()) return;
  op.is_random = std::ranges::find(random_operators, op_type) != random_operators.end();
  const bool is_fixed = std::ranges::find(op.constant, false) == op.constant.end();
  if (op.inputs.empty() || (op.is_random && is_fixed))
    node.fail("it reads nothing that changes from frame to frame; make its values an input");
  op.model = model_of(node, to_read.proto);
  const ForeignAnswer answer = ask(node, parts, op);
  check_sizes(node, op_type, answer);
  take_answer(op, answer);
  std::vector<std::optional<Made>> made;
  for (const ForeignOutput& output : answer.outputs)
    made.push_back(Made{output.type, output.shape});
  const std::vector<bool> varies = op.varies;
  const std::vector<TensorId> ids = add_layer(node, std::move(op), parts, made);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (varies[i] && !reading.network[ids[i]].constant) reading.of_varying_length.insert(ids[i]);
    node.give(parts.outputs[i], ids[i]);
  }
}

}  // namespace millrace::formats::onnx
