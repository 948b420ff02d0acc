#include "formats/onnx_writer/write_onnx.h"

#include <fmt/format.h>

#include <numeric>

#include "base/error.h"
#include "formats/onnx_writer/operators.h"

namespace millrace::formats {
namespace onnx_writer {
namespace {

/// Why the layer cannot be written; empty if it was.
std::string write_layer(Graph& graph, const Layer& layer) {
  LayerNodes nodes(graph, layer);
  std::visit([&](const auto& op) { write(op, nodes); }, layer.op);
  return nodes.refusal();
}

/// A graph of the part in this form. Borders have their names before all else.
OnnxModel fill(Graph& graph, const OnnxPart& part) {
  const Network& network = graph.network();
  OnnxModel model;
  for (const TensorId input : part.inputs) model.inputs.push_back(graph.add_input(input));
  for (const TensorId output : part.outputs)
    if (!network[output].constant) graph.name_of(output);
  for (const LayerId layer : part.layers) {
    graph.begin_layer(model.node_ends.size());
    const std::string refusal = write_layer(graph, network[layer]);
    if (!refusal.empty())
      throw InputError(network.name,
                       fmt::format("the layer '{}' ({}) cannot be written as ONNX: {}",
                                   network[layer].name, name_of(network[layer].op), refusal));
    model.node_ends.push_back(graph.node_count());
  }
  for (const TensorId output : part.outputs) model.outputs.push_back(graph.add_output(output));
  for (const LayerId layer : part.layers)
    for (const TensorId output : network[layer].outputs)
      if (output.valid() && !graph.form().outputs_unknown) graph.describe(output);
  return model;
}

/// The least opset that has all nodes: a node may need another form in a later one.
std::int64_t opset_for(const Network& network, const OnnxPart& part, const OnnxWriting& how) {
  Form form{.weights_inside = false, .quantized_in_pairs = how.quantized_in_pairs, .values = false};
  while (true) {
    Graph graph(network, form);
    fill(graph, part);
    if (graph.needed_opset() == form.opset) return form.opset;
    form.opset = graph.needed_opset();
  }
}

}  // namespace
}  // namespace onnx_writer

Verdict can_write(const Network& network, LayerId layer) {
  onnx_writer::Graph graph(network, {.weights_inside = false, .values = false});
  std::string refusal = onnx_writer::write_layer(graph, network[layer]);
  return refusal.empty() ? Verdict::yes() : Verdict::no(std::move(refusal));
}

OnnxModel write_onnx(const Network& network, const OnnxPart& part, const OnnxWriting& how) {
  const std::int64_t opset = onnx_writer::opset_for(network, part, how);
  onnx_writer::Graph graph(network, {.opset = opset,
                                     .weights_inside = how.weights_inside,
                                     .weights_file = how.weights_file,
                                     .quantized_in_pairs = how.quantized_in_pairs,
                                     .outputs_unknown = how.outputs_unknown,
                                     .numbered = how.numbered});
  OnnxModel model = onnx_writer::fill(graph, part);
  model.weights = graph.weights();
  model.bytes = graph.serialized();
  return model;
}

OnnxModel write_onnx(const Network& network, const OnnxWriting& how) {
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.emplace_back(i);
  return write_onnx(network, {layers, network.inputs, network.outputs}, how);
}

}  // namespace millrace::formats
