#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "formats/files/model_bytes.h"
#include "formats/onnx/graph/functions.h"
#include "formats/onnx/graph/names.h"
#include "formats/onnx/graph/read_nodes.h"
#include "formats/onnx/graph/varying_part.h"
#include "formats/onnx/inputs.h"
#include "formats/onnx/model.h"
#include "formats/onnx/tensor_data.h"
#include "formats/read.h"
#include "network/simplify/simplify.h"

namespace millrace::formats {
namespace {

using onnx::Reading;

/// Declares a value whose dimensions are all known.
void declare(Reading& reading, const ::onnx::ValueInfoProto& info) {
  const ::onnx::TypeProto::Tensor& tensor = info.type().tensor_type();
  if (!info.type().has_tensor_type() || !tensor.has_shape()) return;
  Shape shape;
  for (const ::onnx::TensorShapeProto::Dimension& dimension : tensor.shape().dim()) {
    if (dimension.dim_value() < 1) return;
    shape.push_back(dimension.dim_value());
  }
  reading.declared[info.name()] = std::move(shape);
}

void declare_shapes(Reading& reading, const ::onnx::GraphProto& graph) {
  for (const ::onnx::ValueInfoProto& info : graph.value_info()) declare(reading, info);
  for (const ::onnx::ValueInfoProto& info : graph.output()) declare(reading, info);
}

void read_outputs(Reading& reading, const ::onnx::GraphProto& graph) {
  const std::string& file = reading.source.file;
  if (graph.output_size() == 0) throw InputError(file, "has no outputs; there is nothing to run");
  std::vector<std::size_t> missing;
  for (const ::onnx::ValueInfoProto& output : graph.output())
    if (const auto problem = reading.names.problem_of(output.name())) missing.push_back(*problem);
  if (!missing.empty()) reading.problems.refuse(missing, file);
  for (const ::onnx::ValueInfoProto& output : graph.output()) {
    const std::optional<TensorId> id = reading.names.find(output.name());
    if (!id)
      throw InputError(file, fmt::format("the output '{}' is made by no node, input or weight; the "
                                         "model is incomplete",
                                         output.name()));
    reading.network.add_output(output.name(), *id, file);
  }
}

/// How far a reading came.
enum class Came { to_inputs, to_nodes, to_the_end };

/// What is read, and for whom.
struct Attempt {
  std::string name;
  std::filesystem::path folder;
  const ModelSource& source;
  bool asks_for_all = false;
  Came came = Came::to_inputs;
};

Network network_of(::onnx::ModelProto& model, Attempt& attempt) {
  const auto& [name, folder, source, asks_for_all, came] = attempt;
  Reading reading({name, folder, onnx::opset_of(model, name), onnx::is_of_pytorch(model),
                   onnx::domains_of(model), source.foreign.operators, asks_for_all},
                  onnx::functions_of(model));
  std::map<std::string, std::string> metadata;
  for (const ::onnx::StringStringEntryProto& entry : model.metadata_props())
    metadata[entry.key()] = entry.value();
  const auto imgsz = metadata.find("imgsz");
  onnx::read_inputs(reading, *model.mutable_graph(), source,
                    onnx::picture_sides(imgsz == metadata.end() ? "" : imgsz->second));
  declare_shapes(reading, model.graph());
  attempt.came = Came::to_nodes;
  onnx::read_nodes(reading, onnx::nodes_of(model.graph()));
  onnx::read_varying_part(reading, model.graph());
  read_outputs(reading, model.graph());
  attempt.came = Came::to_the_end;
  const network::FoldingBudget left = reading.network.budget();
  reading.files.forget();
  Network network = std::move(reading.network).finish();
  network.name = name;
  network.metadata = std::move(metadata);
  return network::simplify(std::move(network), left);
}

/// What is refused is read once more: engines are then asked also for nodes that are known.
/// `model_of` parses the model.
template <class Parse>
Network read_with(Attempt attempt, const Parse& model_of) {
  try {
    return network_of(*model_of(), attempt);
  } catch (const onnx::TooMuchInside&) {
    throw;
  } catch (const InputError&) {
    if (attempt.source.foreign.operators == nullptr || attempt.came != Came::to_nodes) throw;
    try {
      attempt.asks_for_all = true;
      return network_of(*model_of(), attempt);
    } catch (const InputError&) {
    }
    throw;
  }
}

}  // namespace

Network read_onnx(std::string_view bytes, const std::string& name,
                  const std::filesystem::path& folder, const ModelSource& source) {
  return read_with({name, folder, source}, [&] { return onnx::parse_model(bytes, name); });
}

Network read_onnx(const ModelBytes& bytes, const ModelSource& source) {
  return read_with({bytes.name, {}, source}, [&] {
    auto model = onnx::parse_model(bytes.model, bytes.name);
    onnx::for_each_tensor(*model, [&](::onnx::TensorProto& tensor) {
      onnx::take_in_external_data(tensor, bytes.weights,
                                  fmt::format("{}: tensor '{}'", bytes.name, tensor.name()));
    });
    return model;
  });
}

Network read_onnx_file(const ModelSource& source) {
  const std::filesystem::path path = source.file;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  return read_with({path.string(), folder, source}, [&] { return onnx::read_model(path); });
}

}  // namespace millrace::formats
