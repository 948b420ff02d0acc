#include "workload/geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "network/operator_kinds.h"
#include "workload/layer_geometry.h"

namespace millrace::workload {
namespace {

using network::Shape;
using network::Tensor;

/// The two entries of rows and columns; 1-D windows have columns only.
std::array<std::int64_t, 2> pair_of(const Shape& values, std::int64_t missing) {
  if (values.size() == 1) return {missing, values[0]};
  return {values[0], values[1]};
}

/// N,C,rows,columns of a tensor of 3 or 4 dimensions.
std::array<std::int64_t, 4> image_of(const Shape& shape) {
  if (shape.size() == 3) return {shape[0], shape[1], 1, shape[2]};
  return {shape[0], shape[1], shape[2], shape[3]};
}

TileWindow window_of(const network::Window& window) {
  TileWindow tile;
  tile.kernel = pair_of(window.kernel, 1);
  tile.strides = pair_of(window.strides, 1);
  tile.dilations = pair_of(window.dilations, 1);
  tile.pads = pair_of(window.pads_begin, 0);
  tile.pads_end = pair_of(window.pads_end, 0);
  return tile;
}

/// The strides of an N,C,H,W tensor under the loops; channels are under `channel`.
ByLoop image_strides(const std::array<std::int64_t, 4>& shape, Loop channel) {
  ByLoop strides{};
  strides[at(Loop::image)] = shape[1] * shape[2] * shape[3];
  strides[at(channel)] = shape[2] * shape[3];
  strides[at(Loop::row)] = shape[3];
  strides[at(Loop::col)] = 1;
  return strides;
}

std::vector<SideUnder> image_sides(const ByLoop& strides, Loop channel, bool slides) {
  return {{channel, strides[at(channel)], false, 1},
          {Loop::row, strides[at(Loop::row)], slides, 1},
          {Loop::col, strides[at(Loop::col)], slides, 1}};
}

Operand image_operand(std::string name, TensorId tensor, const std::array<std::int64_t, 4>& shape,
                      Loop channel) {
  Operand operand{std::move(name), tensor, image_strides(shape, channel), {}};
  operand.sides = image_sides(operand.strides, channel, operand.name == "input");
  return operand;
}

}  // namespace

/// One number for each channel.
Operand channel_operand(std::string name, TensorId tensor, Loop channel) {
  Operand operand{std::move(name), tensor, {}, {{channel, 1, false, 1}}};
  operand.strides[at(channel)] = 1;
  return operand;
}

namespace {

/// Rows that are read with their stride: a kernel of one row needs no others.
void skip_rows(LayerGeometry& geometry) {
  TileWindow& w = geometry.window;
  if (w.kernel[0] != 1 || w.strides[0] == 1 || w.pads[0] != 0 || w.pads_end[0] != 0) return;
  Operand& input = geometry.sources[0];
  input.strides[at(Loop::row)] *= w.strides[0];
  input.sides[1].stride *= w.strides[0];
  geometry.input[0] = geometry.totals[at(Loop::row)];
  w.strides[0] = 1;
}

LayerGeometry windows_over(const LayerAt& at_layer, const network::Window& window) {
  const auto in = image_of(at_layer.input(0).shape), out = image_of(at_layer.output().shape);
  LayerGeometry geometry;
  geometry.window = window_of(window);
  geometry.totals = {out[0], 1, 1, out[2], out[3], 1};
  geometry.input = {in[2], in[3]};
  geometry.cuts[at(Loop::row)] = geometry.cuts[at(Loop::col)] = true;
  return geometry;
}

/// Channels that do not mix: depthwise convolutions and pools.
void separate_channels(const LayerAt& layer, LayerGeometry& geometry) {
  const auto in = image_of(layer.input(0).shape), out = image_of(layer.output().shape);
  geometry.totals[at(Loop::group)] = out[1];
  geometry.cuts[at(Loop::group)] = true;
  geometry.sources = {image_operand("input", layer.layer.inputs[0], in, Loop::group)};
  geometry.output = image_operand("output", layer.layer.outputs[0], out, Loop::group);
}

LayerGeometry depthwise(const LayerAt& layer, const network::Conv& conv) {
  LayerGeometry geometry = windows_over(layer, conv.window);
  separate_channels(layer, geometry);
  geometry.operation = TileOperation::depthwise;
  const std::int64_t kernel = geometry.window.kernel[0] * geometry.window.kernel[1];
  Operand weights{"weights",
                  layer.layer.inputs[1],
                  {},
                  {{Loop::group, kernel, false, 1}, {Loop::image, 1, false, kernel}}};
  weights.strides[at(Loop::group)] = kernel;
  geometry.sources.push_back(weights);
  if (layer.has(2))
    geometry.sources.push_back(channel_operand("bias", layer.layer.inputs[2], Loop::group));
  geometry.macs_per_position = kernel;
  skip_rows(geometry);
  return geometry;
}

/// Weights [groups * outs, depth, kernel].
Operand weights_of(const LayerAt& layer, const LayerGeometry& geometry) {
  const std::int64_t kernel = geometry.window.kernel[0] * geometry.window.kernel[1];
  const std::int64_t row = geometry.totals[at(Loop::depth)] * kernel;
  Operand weights{"weights",
                  layer.layer.inputs[1],
                  {},
                  {{Loop::out, row, false, 1}, {Loop::depth, 1, false, kernel}}};
  weights.strides[at(Loop::group)] = geometry.totals[at(Loop::out)] * row;
  weights.strides[at(Loop::out)] = row;
  weights.strides[at(Loop::depth)] = kernel;
  return weights;
}

}  // namespace

LayerGeometry convolution_geometry(const LayerAt& layer, const network::Conv& conv) {
  const auto in = image_of(layer.input(0).shape), out = image_of(layer.output().shape);
  if (conv.groups == in[1] && conv.groups == out[1]) return depthwise(layer, conv);
  LayerGeometry geometry = windows_over(layer, conv.window);
  geometry.operation = TileOperation::convolution;
  geometry.totals[at(Loop::group)] = conv.groups;
  geometry.totals[at(Loop::out)] = out[1] / conv.groups;
  geometry.totals[at(Loop::depth)] = geometry.window.channels = in[1] / conv.groups;
  geometry.cuts[at(Loop::out)] = geometry.cuts[at(Loop::depth)] = true;
  Operand input = image_operand("input", layer.layer.inputs[0], in, Loop::depth);
  input.strides[at(Loop::group)] = in[1] / conv.groups * in[2] * in[3];
  geometry.output = image_operand("output", layer.layer.outputs[0], out, Loop::out);
  geometry.output.strides[at(Loop::group)] = out[1] / conv.groups * out[2] * out[3];
  geometry.sources = {input, weights_of(layer, geometry)};
  if (layer.has(2)) {
    geometry.sources.push_back(channel_operand("bias", layer.layer.inputs[2], Loop::out));
    geometry.sources.back().strides[at(Loop::group)] = out[1] / conv.groups;
  }
  geometry.macs_per_position = geometry.window.kernel[0] * geometry.window.kernel[1];
  skip_rows(geometry);
  return geometry;
}

LayerGeometry pool_geometry(const LayerAt& layer, const network::Pool& pool) {
  LayerGeometry geometry = windows_over(layer, pool.window);
  separate_channels(layer, geometry);
  const bool largest = pool.kind == network::PoolKind::max;
  geometry.operation = largest ? TileOperation::max_pool : TileOperation::average_pool;
  geometry.window.count_padding = pool.count_include_pad;
  return geometry;
}

/// Rows by a matrix: a convolution of one pixel, whose images are columns of rows.
LayerGeometry product_geometry(const LayerAt& layer, bool transposed) {
  const Shape& a = layer.input(0).shape;
  const Shape& b = layer.input(1).shape;
  const std::int64_t depth = a.back(), outs = transposed ? b[0] : b[1];
  const std::int64_t rows = network::element_count(a) / depth;
  LayerGeometry geometry;
  geometry.operation = TileOperation::convolution;
  geometry.totals = {1, 1, outs, rows, 1, depth};
  geometry.window.channels = depth;
  geometry.input = {rows, 1};
  geometry.cuts[at(Loop::out)] = geometry.cuts[at(Loop::row)] = geometry.cuts[at(Loop::depth)] =
      true;
  Operand input{"input", layer.layer.inputs[0], {}, {}};
  input.strides[at(Loop::row)] = depth;
  input.strides[at(Loop::depth)] = 1;
  input.sides = image_sides(input.strides, Loop::depth, true);
  Operand weights{"weights", layer.layer.inputs[1], {}, {}};
  weights.strides[at(Loop::out)] = transposed ? depth : 1;
  weights.strides[at(Loop::depth)] = transposed ? 1 : outs;
  weights.sides = {{Loop::out, weights.strides[at(Loop::out)], false, 1},
                   {Loop::depth, weights.strides[at(Loop::depth)], false, 1}};
  geometry.output = {"output", layer.layer.outputs[0], {}, {}};
  geometry.output.strides[at(Loop::row)] = outs;
  geometry.output.strides[at(Loop::out)] = 1;
  geometry.output.sides = image_sides(geometry.output.strides, Loop::out, false);
  geometry.sources = {input, weights};
  geometry.macs_per_position = 1;
  return geometry;
}

namespace {

/// How a tensor spreads over the output: nothing if its tiles cannot follow the output's.
std::optional<Operand> spread(const LayerAt& layer, std::size_t input,
                              const std::array<std::int64_t, 3>& full) {
  const Tensor& tensor = layer.input(input);
  Operand operand{fmt::format("input{}", input), layer.layer.inputs[input], {}, {}};
  if (tensor.shape == layer.output().shape) {
    operand.strides = {full[1] * full[2], full[2], 0, 0, 1, 0};
    operand.sides = {{Loop::group, full[2], false, 1}, {Loop::col, 1, false, 1}};
    return operand;
  }
  const std::int64_t count = network::element_count(tensor.shape);
  if (count == 1) return operand;
  const Shape& out = layer.output().shape;
  Shape padded(out.size() - std::min(out.size(), tensor.shape.size()), 1);
  padded.insert(padded.end(), tensor.shape.begin(), tensor.shape.end());
  const bool by_channel = padded.size() == out.size() && padded.size() >= 3 &&
                          padded[1] == full[1] && count == padded[0] * full[1];
  if (!by_channel) return std::nullopt;
  operand.strides[at(Loop::group)] = 1;
  operand.strides[at(Loop::image)] = padded[0] == 1 ? 0 : full[1];
  operand.sides = {{Loop::group, 1, false, 1}};
  return operand;
}

/// The output as images, channels, and the elements of each.
std::array<std::int64_t, 3> channels_of(const Shape& shape) {
  if (shape.size() < 3) return {1, 1, network::element_count(shape)};
  const std::int64_t inner = network::element_count(Shape(shape.begin() + 2, shape.end()));
  return {shape[0], shape[1], inner};
}

}  // namespace

std::optional<LayerGeometry> elementwise_geometry(const LayerAt& layer) {
  const std::array<std::int64_t, 3> full = channels_of(layer.output().shape);
  LayerGeometry geometry;
  geometry.operation = TileOperation::layer;
  geometry.totals = {full[0], full[1], 1, 1, full[2], 1};
  geometry.input = {1, full[2]};
  geometry.cuts[at(Loop::group)] = geometry.cuts[at(Loop::col)] = true;
  for (std::size_t i = 0; i < layer.layer.inputs.size(); ++i) {
    std::optional<Operand> operand = spread(layer, i, full);
    if (!operand) return std::nullopt;
    geometry.sources.push_back(*operand);
  }
  geometry.output = {"output", layer.layer.outputs[0], {}, {}};
  geometry.output.strides = {full[1] * full[2], full[2], 0, 0, 1, 0};
  geometry.output.sides = {{Loop::group, full[2], false, 1}, {Loop::col, 1, false, 1}};
  return geometry;
}

namespace {

LayerGeometry normalization(const LayerAt& layer) {
  LayerAt alone = layer;
  network::Layer first = layer.layer;
  first.inputs.resize(1);
  LayerGeometry geometry = *elementwise_geometry({alone.network, first});
  const std::array<std::string_view, 5> names{"input", "scale", "bias", "mean", "variance"};
  for (std::size_t i = 1; i < layer.layer.inputs.size(); ++i)
    geometry.sources.push_back(
        channel_operand(std::string(names[i]), layer.layer.inputs[i], Loop::group));
  return geometry;
}

}  // namespace

LayerGeometry whole_geometry(std::string remark) {
  LayerGeometry geometry;
  geometry.remark = std::move(remark);
  return geometry;
}

namespace {

bool are_floats(const LayerAt& layer) {
  const auto is_float = [&](TensorId id) {
    return id.valid() && layer.network[id].type == network::DataType::float32;
  };
  return std::ranges::all_of(layer.layer.inputs, is_float) && layer.layer.outputs.size() == 1 &&
         std::ranges::all_of(layer.layer.outputs, is_float);
}

bool has_empty_tensor(const LayerAt& here) {
  const auto is_empty = [&](TensorId id) {
    return id.valid() && here.network[id].size().count == 0;
  };
  return std::ranges::any_of(here.layer.inputs, is_empty) ||
         std::ranges::any_of(here.layer.outputs, is_empty);
}

}  // namespace

bool has_images(const LayerAt& layer) {
  const std::size_t rank = layer.input(0).shape.size();
  return rank == 3 || rank == 4;
}

bool has_negative_pads(const network::Window& window) {
  const auto negative = [](std::int64_t pad) { return pad < 0; };
  return std::ranges::any_of(window.pads_begin, negative) ||
         std::ranges::any_of(window.pads_end, negative);
}

namespace {

std::optional<LayerGeometry> sliding_layer(const LayerAt& layer) {
  const auto* conv = std::get_if<network::Conv>(&layer.layer.op);
  const auto* pooled = std::get_if<network::Pool>(&layer.layer.op);
  if (!conv && !pooled) return std::nullopt;
  if (!has_images(layer)) return whole_geometry("its windows have three dimensions");
  if (has_negative_pads(conv ? conv->window : pooled->window))
    return whole_geometry("its padding is negative");
  return conv ? convolution_geometry(layer, *conv) : pool_geometry(layer, *pooled);
}

std::optional<LayerGeometry> product_layer(const LayerAt& layer) {
  const auto* gemm = std::get_if<network::Gemm>(&layer.layer.op);
  if (!gemm && !network::is_one_of<network::MatMul>(layer.layer.op)) return std::nullopt;
  if (layer.input(1).shape.size() != 2 || layer.input(0).shape.size() < 2)
    return whole_geometry("its second factor is no matrix");
  if (!gemm) return product_geometry(layer, false);
  if (gemm->transpose_a || gemm->alpha != 1 || (layer.has(2) && gemm->beta != 1))
    return whole_geometry("it scales or turns its first factor");
  LayerGeometry geometry = product_geometry(layer, gemm->transpose_b);
  if (!layer.has(2)) return geometry;
  const Tensor& bias = layer.input(2);
  if (network::element_count(bias.shape) != geometry.totals[at(Loop::out)] ||
      bias.shape.back() != geometry.totals[at(Loop::out)])
    return whole_geometry("its bias differs by row");
  geometry.sources.push_back(channel_operand("bias", layer.layer.inputs[2], Loop::out));
  return geometry;
}

std::optional<LayerGeometry> pointwise_layer(const LayerAt& layer) {
  if (network::is_one_of<network::BatchNormalization>(layer.layer.op) &&
      layer.output().shape.size() > 2)
    return normalization(layer);
  if (!network::is_one_of<network::Unary, network::Binary>(layer.layer.op)) return std::nullopt;
  if (std::optional<LayerGeometry> geometry = elementwise_geometry(layer)) return geometry;
  return whole_geometry("its inputs spread over the output in a way that tiles do not follow");
}

}  // namespace

std::optional<TileActivation> activation_of(const network::Operator& op) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto* unary = std::get_if<network::Unary>(&op);
  if (!unary) return std::nullopt;
  switch (unary->kind) {
    case network::UnaryKind::relu:
      return TileActivation{.low = 0};
    case network::UnaryKind::leaky_relu:
      if (!std::isfinite(unary->alpha)) return std::nullopt;
      return TileActivation{.slope = unary->alpha};
    case network::UnaryKind::clip:  // a file says ends that are finite, or none
      if (!(unary->alpha < infinity) || !(unary->beta > -infinity)) return std::nullopt;
      return TileActivation{.low = unary->alpha, .high = unary->beta};
    default:
      return std::nullopt;
  }
}

bool only_moves(const network::Operator& op) {
  return network::is_one_of<network::Reshape, network::Concat>(op);
}

LayerGeometry geometry_of(const network::Network& network, LayerId layer, std::int64_t element) {
  const LayerAt here{network, network[layer]};
  if (has_empty_tensor(here)) return whole_geometry("one of its tensors has no elements");
  std::optional<LayerGeometry> geometry = byte_geometry(here);
  if (!geometry && !are_floats(here)) return whole_geometry("its tensors are not all float32");
  if (!geometry) geometry = sliding_layer(here);
  if (!geometry) geometry = product_layer(here);
  if (!geometry) geometry = pointwise_layer(here);
  if (!geometry)
    geometry = whole_geometry(fmt::format("{} has no kernel on tiles", name_of(network[layer].op)));
  const auto set_element = [&](Operand& operand) {
    const network::DataType type = network[operand.tensor].type;
    operand.element = type == network::DataType::float32 ? element : size_of(type).count;
  };
  if (geometry->operation == TileOperation::whole) return *geometry;
  std::ranges::for_each(geometry->sources, set_element);
  set_element(geometry->output);
  return *geometry;
}

}  // namespace millrace::workload
