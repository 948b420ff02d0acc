// Normalisations, over batches, channels and probabilities.
#include <algorithm>
#include <array>

#include "formats/onnx_writer/operators.h"
#include "formats/onnx_writer/reductions.h"
#include "formats/onnx_writer/windows.h"

namespace millrace::formats::onnx_writer {
namespace {

/// Whether it is InstanceNormalization, whose scale and bias have one value for every channel.
bool is_by_channel(const Normalization& op, LayerNodes& layer) {
  const Shape& x = layer.input_shape();
  if (!op.centred || op.axis != 2 || x.size() < 3 || layer.has_output(1) || layer.has_output(2))
    return false;
  Shape per_channel(x.size() - 1, 1);
  per_channel[0] = x[1];
  for (std::size_t i = 1; i < 3; ++i)
    if (!layer.has_input(i) || layer.input_shape(i) != per_channel) return false;
  return true;
}

void write_by_channel(const Normalization& op, LayerNodes& layer) {
  const Shape list{layer.input_shape()[1]};
  const std::string scale = reshaped(layer, layer.input(1), list);
  const std::string bias = reshaped(layer, layer.input(2), list);
  layer.node("InstanceNormalization", {layer.input(), scale, bias}, layer.outputs())
      .set("epsilon", op.epsilon);
}

/// Whether it is LayerNormalization, whose scale has the shape of what is normalised.
bool is_by_layer(const Normalization& op, LayerNodes& layer) {
  const Shape& x = layer.input_shape();
  const Shape normalised(x.begin() + op.axis, x.end());
  return op.centred && layer.has_input(1) && layer.input_shape(1) == normalised &&
         (!layer.has_input(2) || layer.input_shape(2) == normalised);
}

void write_by_layer(const Normalization& op, LayerNodes& layer) {
  layer.need_opset(17);
  layer.node("LayerNormalization").set("axis", op.axis).set("epsilon", op.epsilon);
}

Shape axes_from(std::int64_t axis, std::size_t rank) {
  Shape axes;
  for (auto i = axis; i < static_cast<std::int64_t>(rank); ++i) axes.push_back(i);
  return axes;
}

/// By mean and root, as the definition says.
void write_by_steps(const Normalization& op, LayerNodes& layer) {
  const Shape axes = axes_from(op.axis, layer.input_shape().size());
  std::string x = layer.input();
  if (op.centred) {
    const Names mean{layer.has_output(1) ? layer.output(1) : std::string()};
    const std::string centre = add_reduction(layer, {"ReduceMean", axes, true}, {x, mean[0]});
    x = layer.inner("Sub", {x, centre}).output();
  }
  const std::string square = layer.inner("Mul", {x, x}).output();
  const std::string variance = add_reduction(layer, {"ReduceMean", axes, true}, {square, ""});
  const std::string epsilon = number(layer, double{op.epsilon});
  const std::string sum = layer.inner("Add", {variance, epsilon}).output();
  const std::string root = layer.inner("Sqrt", {sum}).output();
  if (layer.has_output(2)) layer.node("Reciprocal", {root}, {layer.output(2)});
  const std::array<const char*, 2> steps{"Mul", "Add"};
  Names now{x, root};
  std::string type = "Div";
  for (std::size_t i = 1; i < 3; ++i) {
    if (!layer.has_input(i)) continue;
    now = {layer.inner(type, now).output(), layer.input(i)};
    type = steps[i - 1];
  }
  layer.node(type, now, {layer.output()});
}

/// Libraries have only odd sizes. The average over a window of channels, zeros outside counted, is
/// their sum over the size.
void write_lrn_by_steps(const Lrn& op, LayerNodes& layer) {
  const Shape& shape = layer.input_shape();
  const Shape image{shape[0], 1, shape[1], element_count(Shape(shape.begin() + 2, shape.end()))};
  const std::int64_t before = (op.size - 1) / 2;
  const Window window{{op.size, 1}, {1, 1}, {1, 1}, {before, 0}, {op.size - 1 - before, 0}};
  const std::string square = layer.inner("Mul", {layer.input(), layer.input()}).output();
  const NodeToWrite pool =
      set_window(layer.inner("AveragePool", {reshaped(layer, square, image)}), window);
  pool.set("count_include_pad", std::int64_t{1});
  const std::string mean = reshaped(layer, pool.output(), shape);
  const std::string part = layer.inner("Mul", {mean, number(layer, double{op.alpha})}).output();
  const std::string sum = layer.inner("Add", {part, number(layer, double{op.bias})}).output();
  const std::string divisor = layer.inner("Pow", {sum, number(layer, double{op.beta})}).output();
  layer.node("Div", {layer.input(), divisor}, layer.outputs());
}

}  // namespace

void write(const BatchNormalization& op, LayerNodes& layer) {
  layer.node("BatchNormalization").set("epsilon", op.epsilon);
}

void write(const Normalization& op, LayerNodes& layer) {
  if (!op.centred && layer.has_output(1)) return layer.refuse("its mean is wanted, which is 0");
  if (is_by_channel(op, layer)) return write_by_channel(op, layer);
  if (is_by_layer(op, layer)) return write_by_layer(op, layer);
  write_by_steps(op, layer);
}

void write(const Lrn& op, LayerNodes& layer) {
  if (op.size % 2 == 0) return write_lrn_by_steps(op, layer);
  layer.node("LRN")
      .set("size", op.size)
      .set("alpha", op.alpha)
      .set("beta", op.beta)
      .set("bias", op.bias);
}

void write(const Softmax& op, LayerNodes& layer) {
  const char* const type = op.log ? "LogSoftmax" : "Softmax";
  if (op.end == op.axis + 1) {
    layer.node(type).set("axis", op.axis);
    return;
  }
  const Shape& shape = layer.input_shape();
  const auto first = shape.begin() + op.axis, last = shape.begin() + op.end;
  Shape flat(shape.begin(), first);
  flat.push_back(element_count(Shape(first, last)));
  flat.insert(flat.end(), last, shape.end());
  const std::string x = reshaped(layer, layer.input(), flat);
  const NodeToWrite soft = layer.inner(type, {x});
  soft.set("axis", op.axis);
  layer.node("Reshape", {soft.output(), integers(layer, shape)}, layer.outputs());
}

}  // namespace millrace::formats::onnx_writer
