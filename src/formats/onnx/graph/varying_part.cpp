#include "formats/onnx/graph/varying_part.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/error.h"
#include "formats/onnx/graph/functions.h"
#include "formats/onnx/graph/names.h"
#include "formats/onnx/graph/read_nodes.h"
#include "formats/onnx/model.h"
#include "formats/onnx/order.h"
#include "formats/onnx/tensor_data.h"

namespace millrace::formats::onnx {
namespace {

/// Which nodes belong to the part, and which values from outside they read.
class Extent {
 public:
  Extent(const Reading& reading, const ::onnx::GraphProto& graph)
      : reading_(reading), graph_(graph) {
    for (int i = 0; i < graph.node_size(); ++i)
      for (const std::string& output : graph.node(i).output()) maker_.emplace(output, i);
  }

  void grow_from(std::vector<std::string> waiting) {
    while (!waiting.empty()) {
      const std::string name = std::move(waiting.back());
      waiting.pop_back();
      if (!seen_.insert(name).second) continue;
      const auto made = maker_.find(name);
      const bool inside = made != maker_.end() && is_inside(name);
      if (!inside && reading_.names.find(name)) given.insert(name);
      if (!inside || !nodes.insert(made->second).second) continue;
      const std::vector<std::string> names = names_read(graph_.node(made->second));
      waiting.insert(waiting.end(), names.begin(), names.end());
    }
  }

  std::set<int> nodes;  // in the file's order
  std::set<std::string> given;

 private:
  bool is_inside(const std::string& name) const {
    const std::optional<TensorId> id = reading_.names.find(name);
    return id ? reading_.of_varying_length.contains(*id)
              : reading_.names.problem_of(name).has_value();
  }

  const Reading& reading_;
  const ::onnx::GraphProto& graph_;
  std::unordered_map<std::string, int> maker_;
  std::unordered_set<std::string> seen_;
};

/// A frame finds no files any more.
void take_in_external_data(Reading& reading, ::onnx::ModelProto& model) {
  const std::string& file = reading.source.file;
  for_each_tensor(model, [&](::onnx::TensorProto& tensor) {
    take_in_external_data(tensor, reading.files,
                          fmt::format("{}: the weight '{}'", file, tensor.name()));
  });
  if (model.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError(file,
                     "the part whose sizes change from frame to frame has more than 2 GiB of "
                     "weights inside of its nodes; move them out of If and Loop");
}

::onnx::ModelProto model_of(Reading& reading, const ::onnx::GraphProto& graph,
                            const Extent& extent, const std::vector<std::string>& outputs) {
  ::onnx::ModelProto model;
  set_versions(reading, model);
  if (reading.source.is_of_pytorch) model.set_producer_name(pytorch);
  for (const auto& [key, function] : reading.functions) *model.add_functions() = *function;
  const std::vector<std::string> names = node_names(nodes_of(graph));
  for (const int i : extent.nodes) {
    ::onnx::NodeProto* node = model.mutable_graph()->add_node();
    *node = graph.node(i);
    node->set_name(names[static_cast<std::size_t>(i)]);
  }
  for (const std::string& output : outputs) model.mutable_graph()->add_output()->set_name(output);
  take_in_external_data(reading, model);
  return model;
}

/// Throws why an output could not be read.
void need_outputs(const Reading& reading, const std::vector<std::string>& outputs) {
  std::vector<std::size_t> missing;
  for (const std::string& output : outputs)
    if (const auto problem = reading.names.problem_of(output)) missing.push_back(*problem);
  if (!missing.empty()) reading.problems.refuse(missing, reading.source.file);
}

/// The largest sizes of the outputs: those of a frame that leaves nothing out.
std::vector<std::optional<Made>> largest_outputs(Reading& outside, const ::onnx::ModelProto& model,
                                                 const VaryingPart& part) {
  Reading reading(outside.source, functions_of(model), Purpose::largest_sizes);
  for (const std::string& name : part.inputs) {
    const TensorId id = *outside.names.find(name);
    const Tensor& tensor = outside.network[id];
    if (tensor.constant) {
      reading.define(name, reading.network.add_constant(*tensor.constant));
    } else {
      const TensorId input = reading.network.add_input({tensor.type, tensor.shape});
      reading.define(name, input);
      reading.network.say_behind(input, outside.network.inputs_behind(id));
    }
  }
  read_nodes(reading, nodes_of(model.graph()));
  need_outputs(reading, part.outputs);
  std::vector<std::optional<Made>> made;
  for (const std::string& output : part.outputs) {
    const std::optional<TensorId> id = reading.names.find(output);
    if (!id || !id->valid())
      throw InputError(output,
                       "no node makes it, although it is an output; export the model again");
    const Tensor& tensor = reading.network[*id];
    made.push_back(Made{tensor.type, tensor.shape});
  }
  return made;
}

std::vector<std::string> unread_outputs(const Reading& reading, const ::onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const ::onnx::ValueInfoProto& output : graph.output())
    if (reading.names.problem_of(output.name()) &&
        std::find(names.begin(), names.end(), output.name()) == names.end())
      names.push_back(output.name());
  return names;
}

bool lacks_operator(Reading& reading, const std::vector<std::string>& outputs) {
  std::vector<std::size_t> problems;
  for (const std::string& output : outputs) problems.push_back(*reading.names.problem_of(output));
  return reading.problems.lacks_operator(problems);
}

/// What VaryingPart::compute calls.
std::vector<Array> evaluate_part(const VaryingPart& part, std::vector<Array> inputs,
                                 const std::shared_ptr<const ForeignOperators>& foreign) {
  const std::string place = "varying_part";
  const auto model = parse_model(*part.model, place);
  Reading reading({place, {}, opset_of(*model, place), is_of_pytorch(*model), domains_of(*model),
                   foreign},
                  functions_of(*model), Purpose::values);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    reading.define(part.inputs[i], reading.network.add_constant(std::move(inputs[i])));
  read_nodes(reading, nodes_of(model->graph()));
  need_outputs(reading, part.outputs);
  std::vector<Array> outputs;
  for (const std::string& name : part.outputs) {
    const std::optional<Array>& value = reading.network[*reading.names.find(name)].constant;
    if (!value) throw InputError(place, fmt::format("there are no loops that compute '{}'", name));
    outputs.push_back(*value);
  }
  return outputs;
}

}  // namespace

void read_varying_part(Reading& reading, const ::onnx::GraphProto& graph) {
  VaryingPart part;
  part.compute = [foreign = reading.source.foreign](const VaryingPart& of,
                                                    std::vector<Array> inputs) {
    return evaluate_part(of, std::move(inputs), foreign);
  };
  part.outputs = unread_outputs(reading, graph);
  if (part.outputs.empty() || lacks_operator(reading, part.outputs)) return;
  Extent extent(reading, graph);
  extent.grow_from(part.outputs);
  part.inputs.assign(extent.given.begin(), extent.given.end());
  const auto has_four_bits = [&](const std::string& name) {
    return reading.of_four_bits.contains(*reading.names.find(name));
  };
  if (std::any_of(part.inputs.begin(), part.inputs.end(), has_four_bits)) return;
  const ::onnx::ModelProto model = model_of(reading, graph, extent, part.outputs);
  const std::vector<std::optional<Made>> made = largest_outputs(reading, model, part);
  std::vector<TensorId> inputs;
  for (const std::string& name : part.inputs) {
    inputs.push_back(*reading.names.find(name));
    part.types.push_back(reading.network[inputs.back()].type);
  }
  part.model = std::make_shared<const std::string>(model.SerializeAsString());
  const std::vector<std::string> outputs = part.outputs;
  const std::vector<TensorId> results = reading.network.add_layer(
      {"varying_part", std::move(part), inputs, {}}, made, reading.source.file);
  for (std::size_t i = 0; i < results.size(); ++i) reading.replace(outputs[i], results[i]);
}

}  // namespace millrace::formats::onnx
