#include "network/simplify/folding.h"

#include <algorithm>
#include <cmath>

#include "network/evaluate/evaluate.h"
#include "network/operator_kinds.h"

namespace millrace::network {
namespace {

/// Comparisons that miss the caches: 5 s for 2e7 elements.
double steps_of_sorting(const TopK& op, const Shape& shape) {
  const double length = static_cast<double>(shape[static_cast<std::size_t>(op.axis)]);
  return 8 * static_cast<double>(element_count(shape)) * std::log2(length + 1);
}

/// About how many steps the loops take: a function such as exp as many as ten products.
double steps(const Network& network, const Layer& layer, LayerId id) {
  double result = static_cast<double>(cost_of(network, id).macs);
  double outputs = 0;
  for (const TensorId output : layer.outputs)
    if (output.valid()) outputs += static_cast<double>(element_count(network[output].shape));
  if (const Pool* pool = std::get_if<Pool>(&layer.op))
    for (const std::int64_t size : pool->window.kernel) outputs *= static_cast<double>(size);
  if (const Lrn* lrn = std::get_if<Lrn>(&layer.op)) outputs *= static_cast<double>(lrn->size);
  if (is_one_of<NonMaxSuppression, RoiAlign, GridSample>(layer.op))
    result += 10 * static_cast<double>(cost_of(network, id).operations);
  const auto* align = std::get_if<RoiAlign>(&layer.op);
  if (align != nullptr && align->sampling_ratio == 0) result += outputs * 1e6;
  if (const TopK* top = std::get_if<TopK>(&layer.op))
    result += steps_of_sorting(*top, network[layer.inputs[0]].shape);
  const bool is_function =
      is_one_of<Unary, Binary, Resize, Softmax, Compare, Test, Where>(layer.op);
  double inputs = 0;
  for (const TensorId input : layer.inputs)
    if (input.valid()) inputs += static_cast<double>(element_count(network[input].shape));
  const bool is_thorough = is_one_of<Reduce, Normalization, TopK, GatherElements, GatherNd,
                                     ScatterElements, ScatterNd, OneHot, CumSum>(layer.op);
  return result + inputs * (is_thorough ? 20 : 1) + outputs * (is_function ? 10 : 1);
}

bool all_constant(const Network& network, const Layer& layer) {
  for (const TensorId input : layer.inputs)
    if (input.valid() && !network[input].constant) return false;
  return true;
}

Bytes output_size(const Network& network, const Layer& layer) {
  Bytes size;
  for (const TensorId output : layer.outputs)
    if (output.valid()) size += network[output].size();
  return size;
}

std::vector<Array> compute(const Layer& layer, std::span<const ConstView> inputs,
                           std::span<const Tensor* const> wanted) {
  std::vector<Buffer> buffers(wanted.size());
  std::vector<View> outputs(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == nullptr) continue;
    buffers[i] = Buffer(wanted[i]->size());
    outputs[i] = {wanted[i]->type, wanted[i]->shape, buffers[i].data()};
  }
  evaluate(layer, inputs, outputs);
  std::vector<Array> values(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] != nullptr)
      values[i] = make_array(wanted[i]->type, wanted[i]->shape, std::move(buffers[i]));
  return values;
}

ConstView view_of(const Array& array) { return {array.type, array.shape, array.memory->data()}; }

bool is_single(const Array& scale) { return element_count(scale.shape) == 1; }

/// The same integers in another order or shape, as long as the scales can follow.
std::optional<Quantized> moved(const Network& network, const Layer& layer, const Quantized& from) {
  const auto* transpose = std::get_if<Transpose>(&layer.op);
  const bool reshape = is_reshape(layer.op) && is_single(from.scale);
  if (!reshape && (transpose == nullptr || from.scaling.block != 0)) return std::nullopt;
  const Tensor& to = network[layer.outputs[0]];
  const Tensor wanted{to.name, from.values.type, to.shape, std::nullopt};
  const ConstView values = view_of(from.values);
  const Tensor* const output = &wanted;
  Quantized result = from;
  result.values = compute(layer, {&values, 1}, {&output, 1}).front();
  if (transpose == nullptr) return result;
  const Shape& order = transpose->permutation;
  result.scaling.axis = std::find(order.begin(), order.end(), from.scaling.axis) - order.begin();
  return result;
}

/// What a layer's only output was dequantised from, if it was.
std::optional<Quantized> quantized_form(const Network& network, const Layer& layer) {
  const Tensor& input = network[layer.inputs[0]];
  if (input.quantized) return moved(network, layer, *input.quantized);
  const auto* op = std::get_if<DequantizeLinear>(&layer.op);
  if (op == nullptr) return std::nullopt;
  Quantized result{*input.constant, *network[layer.inputs[1]].constant, std::nullopt, op->scaling};
  if (layer.inputs.size() > 2) result.zero_point = network[layer.inputs[2]].constant;
  return result;
}

}  // namespace

std::optional<std::vector<Folded>> fold(const Network& network, LayerId id, FoldingBudget& budget) {
  const Layer& layer = network[id];
  if (!all_constant(network, layer)) return std::nullopt;
  const auto* opaque = std::get_if<Opaque>(&layer.op);
  if (opaque != nullptr && opaque->is_random) return std::nullopt;
  const Bytes size = output_size(network, layer);
  const double effort = steps(network, layer, id);
  if (size > budget.memory || effort > budget.steps || !can_evaluate(network, id))
    return std::nullopt;
  budget.memory = budget.memory - size;
  budget.steps -= effort;
  std::vector<ConstView> inputs;
  for (const TensorId input : layer.inputs)
    inputs.push_back(input.valid() ? view_of(*network[input].constant) : ConstView{});
  std::vector<const Tensor*> outputs;
  for (const TensorId output : layer.outputs)
    outputs.push_back(output.valid() ? &network[output] : nullptr);
  std::vector<Folded> result;
  for (Array& value : compute(layer, inputs, outputs)) result.push_back({std::move(value), {}});
  result.front().quantized = quantized_form(network, layer);
  return result;
}

}  // namespace millrace::network
