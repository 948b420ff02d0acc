#include "formats/onnx_writer/interpolated.h"

#include <algorithm>

#include "network/evaluate/evaluate.h"
#include "network/evaluate/resize/interpolation.h"

namespace millrace::formats::onnx_writer {
namespace {

/// What each output takes of each input along one axis.
Array matrix_of(const network::Interpolation& way, const Shape& shape, DataType type) {
  std::vector<double> weights(static_cast<std::size_t>(element_count(shape)));
  const auto columns = static_cast<std::size_t>(shape[1]);
  for (std::size_t i = 0; i < way.positions.size(); ++i)
    weights[i / way.taps * columns + static_cast<std::size_t>(way.positions[i])] += way.weights[i];
  const Array exact = make_array<double>(DataType::float64, shape, weights);
  return type == DataType::float64 ? exact : network::converted(exact, type);
}

/// A tensor between the steps.
struct Step {
  std::string name;
  Shape shape;
};

Step picked(const Step& x, const network::Interpolation& way, std::size_t axis, LayerNodes& layer) {
  const NodeToWrite node = layer.inner("Gather", {x.name, integers(layer, way.positions)});
  node.set("axis", static_cast<std::int64_t>(axis));
  Step y{node.output(), x.shape};
  y.shape[axis] = std::ssize(way.positions);
  return y;
}

/// The axis becomes the rows of matrices, from which another matrix makes new rows.
Step blended(const Step& x, const network::Interpolation& way, std::size_t axis,
             LayerNodes& layer) {
  const auto at = x.shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const std::int64_t rows = std::ssize(way.positions) / static_cast<std::int64_t>(way.taps);
  const Shape matrices{element_count(Shape(x.shape.begin(), at)), *at,
                       element_count(Shape(at + 1, x.shape.end()))};
  const std::string from = reshaped(layer, x.name, matrices);
  const std::string weights = layer.constant(matrix_of(way, {rows, *at}, layer.type()));
  Step y{{}, x.shape};
  y.shape[axis] = rows;
  y.name = reshaped(layer, layer.inner("MatMul", {weights, from}).output(), y.shape);
  return y;
}

}  // namespace

void write_interpolated(const Resize& op, LayerNodes& layer) {
  const std::vector<network::Interpolation> ways =
      network::interpolations(op, layer.input_shape(), layer.output_shape());
  Step now{layer.input(), layer.input_shape()};
  for (std::size_t axis = ways.size(); axis-- > 0;) {
    const network::Interpolation& way = ways[axis];
    if (way.identity) continue;
    if (std::find(way.outside.begin(), way.outside.end(), true) != way.outside.end())
      return layer.refuse(
          "it takes values from outside of its input, by scales and sizes that do "
          "not follow from each other");
    now = op.mode == ResizeMode::nearest ? picked(now, way, axis, layer)
                                         : blended(now, way, axis, layer);
  }
  layer.node("Identity", {now.name}, {layer.output()});
}

}  // namespace millrace::formats::onnx_writer
