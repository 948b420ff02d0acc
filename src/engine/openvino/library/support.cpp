#include "engine/openvino/library/support.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/engine.h"
#include "engine/openvino/library/devices.h"
#include "engine/openvino/library/guarded.h"
#include "engine/openvino/library/model.h"
#include "formats/onnx_writer/write_onnx.h"
#include "network/operator_kinds.h"

namespace millrace::engine::openvino {
namespace {

using network::DataType;

bool is_real(DataType type) {
  return type == DataType::float16 || type == DataType::float32 || type == DataType::float64;
}

bool is_unsigned(DataType type) {
  return type == DataType::uint8 || type == DataType::uint16 || type == DataType::uint32 ||
         type == DataType::uint64;
}

bool is_wide(DataType type) {
  return type == DataType::float64 || type == DataType::int64 || type == DataType::uint64 ||
         type == DataType::uint32;
}

struct Types {
  DataType read = DataType::float32, made = DataType::float32;  // of the first input and output
};
Types types_of(const network::Network& network, LayerId id) {
  const auto first = [&](const std::vector<TensorId>& tensors) {
    for (const TensorId tensor : tensors)
      if (tensor.valid()) return network[tensor].type;
    return DataType::float32;
  };
  return {first(network[id].inputs), first(network[id].outputs)};
}

/// OpenVINO runs it, with other results than ONNX says.
Verdict computes_the_same(const network::Network& network, LayerId id) {
  const network::Operator& op = network[id].op;
  const auto types = types_of(network, id);
  if (network::is_one_of<network::QuantizeLinear, network::DynamicQuantizeLinear,
                         network::QLinearConv, network::QLinearMatMul>(op))
    return Verdict::no("OpenVINO rounds numbers between two integers in another way than ONNX");
  if (const auto* pool = std::get_if<network::Pool>(&op); pool && pool->column_major_indices)
    return Verdict::no("OpenVINO counts indices by rows, not by columns");
  if (const auto* resize = std::get_if<network::Resize>(&op); resize && resize->antialias)
    return Verdict::no("OpenVINO ignores the attribute antialias");
  if (network::is_one_of<network::Cast>(op)) {
    if (types.made == DataType::float16)
      return Verdict::no("OpenVINO computes float16 in float32, and leaves such a cast out");
    if (is_real(types.read) && is_unsigned(types.made))
      return Verdict::no("OpenVINO makes other unsigned integers of negative numbers than ONNX");
  }
  if (is_wide(types.made) && network::is_one_of<network::Binary, network::Unary, network::Reduce,
                                                network::CumSum, network::MatMul>(op))
    return Verdict::no(fmt::format("OpenVINO computes {} with 32 bits", to_text(types.made)));
  return Verdict::yes();
}

/// Whether a product of matrices makes the tensor, with functions of its numbers or operations with
/// a second operand in between: OpenVINO does those inside of its kernel.
bool comes_from_product(const network::Network& network, TensorId tensor) {
  for (std::size_t i = network.layers.size(); i-- > 0;) {
    const network::Layer& layer = network.layers[i];
    if (std::ranges::find(layer.outputs, tensor) == layer.outputs.end()) continue;
    if (network::is_product(layer.op)) return true;
    if (!network::is_one_of<network::Unary, network::Binary>(layer.op)) return false;
    const auto is_made = [&](TensorId id) { return id.valid() && !network[id].constant; };
    const auto input = std::ranges::find_if(layer.inputs, is_made);
    if (input == layer.inputs.end()) return false;
    tensor = *input;
  }
  return false;
}

/// OpenVINO 2026.4.1 takes slopes along one dimension for those of channels: of the second
/// dimension, or the last one after a product of matrices.
Verdict reads_slopes(const network::Network& network, LayerId id) {
  const auto* const op = std::get_if<network::Binary>(&network[id].op);
  if (op == nullptr || op->kind != network::BinaryKind::prelu) return Verdict::yes();
  const network::Shape& x = network[network[id].inputs[0]].shape;
  const network::Shape& slopes = network[network[id].inputs[1]].shape;
  std::size_t longer = 0, last = 0;
  for (std::size_t d = 0; d < slopes.size(); ++d) {
    if (slopes[d] == 1) continue;
    ++longer;
    last = d + x.size() - slopes.size();
  }
  const bool product = x.size() > 2 && comes_from_product(network, network[id].inputs[0]);
  if (longer != 1 || (last == 1 && !product)) return Verdict::yes();
  return Verdict::no("OpenVINO takes these slopes of PRelu for those of another dimension");
}

/// What is known before OpenVINO is asked.
Verdict can_be_told(const network::Network& network, LayerId layer) {
  if (Verdict verdict = formats::can_write(network, layer); !verdict) return verdict;
  if (Verdict verdict = computes_the_same(network, layer); !verdict) return verdict;
  if (Verdict verdict = reads_slopes(network, layer); !verdict) return verdict;
  for (const auto* tensors : {&network[layer].inputs, &network[layer].outputs})
    for (const TensorId id : *tensors)
      if (id.valid() && network[id].size() == Bytes{})
        return Verdict::no("OpenVINO takes no tensor without elements");
  return Verdict::yes();
}

Verdict is_same(const ov::Output<ov::Node>& given, const network::Tensor& wanted) {
  if (given.get_element_type() != element_type(wanted.type))
    return Verdict::no(fmt::format("OpenVINO computes it as {}, not as {}",
                                   given.get_element_type().get_type_name(),
                                   network::to_text(wanted.type)));
  if (given.get_partial_shape().is_dynamic())
    return Verdict::no("OpenVINO does not know the sizes of its outputs beforehand");
  if (given.get_shape() != shape_of(wanted))
    return Verdict::no(fmt::format(
        "OpenVINO gives its output the shape {}, not {}",
        network::to_text(network::Shape(given.get_shape().begin(), given.get_shape().end())),
        network::to_text(wanted.shape)));
  return Verdict::yes();
}

/// Whether the model has every tensor that the layers make.
Verdict knows_all_tensors(const ov::Model& model, const network::Network& part) {
  std::map<std::string, ov::Output<ov::Node>> known;
  for (const auto& node : model.get_ordered_ops())
    for (const auto& output : node->outputs())
      for (const std::string& name : output.get_names()) known.emplace(name, output);
  for (const network::Layer& layer : part.layers)
    for (const TensorId id : layer.outputs) {
      if (!id.valid()) continue;
      const auto found = known.find(part[id].name);
      if (found == known.end()) return Verdict::no("OpenVINO does not give what it makes a name");
      if (Verdict verdict = is_same(found->second, part[id]); !verdict) return verdict;
    }
  return Verdict::yes();
}

/// About all layers of the part at once.
Verdict ask(ov::Core& core, const Part& part, const std::string& device) {
  try {
    const std::shared_ptr<ov::Model> model = read(core, part, written(part));
    if (Verdict verdict = knows_all_tensors(*model, part.network); !verdict) return verdict;
    const ov::SupportedOpsMap supported = core.query_model(model, device);
    for (const auto& node : model->get_ordered_ops())
      if (ov::as_type_ptr<ov::op::v0::Constant>(node) == nullptr &&
          !supported.contains(node->get_friendly_name()))
        return Verdict::no(fmt::format("OpenVINO's device {} has no kernel for its operator {}",
                                       device, node->get_type_name()));
    return Verdict::yes();
  } catch (const std::exception& error) {
    return Verdict::no(fmt::format("OpenVINO reports '{}'", reason_of(error)));
  }
}

Part part_of(const network::Network& network, std::span<const LayerId> layers) {
  const Border border = border_of(network, layers);
  return cut_out(network, {layers, border.inputs, border.outputs});
}

std::string key_of(const network::Network& network, LayerId layer, const std::string& device) {
  return device + " " + written(part_of(network, std::span(&layer, 1)));
}

using Answers = std::map<std::string, Verdict>;

/// Asks about all of the layers, and about each half of them where the answer is no.
class Questions {
 public:
  Questions(ov::Core& core, const network::Network& network, std::string device)
      : core_(core), network_(network), device_(std::move(device)) {}

  void ask_about(std::span<const LayerId> layers) {
    const Verdict verdict = ask(core_, part_of(network_, layers), device_);
    if (!verdict && layers.size() > 1) {
      ask_about(layers.first(layers.size() / 2));
      ask_about(layers.subspan(layers.size() / 2));
      return;
    }
    for (const LayerId layer : layers) answers_.emplace(key_of(network_, layer, device_), verdict);
  }
  const Answers& answers() const { return answers_; }

 private:
  ov::Core& core_;
  const network::Network& network_;
  std::string device_;
  Answers answers_;
};

}  // namespace

std::optional<Verdict> SupportCache::answer(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

Verdict SupportCache::supports(const network::Network& network, LayerId layer,
                               const std::string& device) {
  if (Verdict verdict = can_be_told(network, layer); !verdict) return verdict;
  if (const auto known = answer(key_of(network, layer, device))) return *known;
  std::vector<LayerId> unknown;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    if (can_be_told(network, LayerId(i)) && !answer(key_of(network, LayerId(i), device)))
      unknown.emplace_back(i);
  Questions questions(core_, network, device);
  questions.ask_about(unknown);
  const std::lock_guard lock(mutex_);
  known_.insert(questions.answers().begin(), questions.answers().end());
  return known_.at(key_of(network, layer, device));
}

// Never destroyed, like the core.
SupportCache& shared_support() {
  static SupportCache& cache = *new SupportCache(shared_core());
  return cache;
}

}  // namespace millrace::engine::openvino
