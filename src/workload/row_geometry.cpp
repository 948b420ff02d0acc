#include "workload/row_geometry.h"

#include <algorithm>

#include "network/operator_kinds.h"

namespace millrace::workload {
namespace {

bool is_one_image(const LayerGeometry& geometry) { return geometry.totals[at(Loop::image)] == 1; }

/// A tensor of a layer that works element by element: its columns as rows of columns.
void spread_over_rows(Operand& operand, std::int64_t rows, std::int64_t columns) {
  if (operand.sides.size() != 2) return;
  operand.strides[at(Loop::row)] = columns;
  operand.sides = {{Loop::group, rows * columns, false, 1},
                   {Loop::row, columns, false, 1},
                   {Loop::col, 1, false, 1}};
}

std::string spread_over_rows(LayerGeometry& geometry, const network::Shape& output) {
  if (output.size() != 4) return "its output is no image";
  const std::int64_t rows = output[2], columns = output[3];
  geometry.totals[at(Loop::row)] = rows;
  geometry.totals[at(Loop::col)] = columns;
  geometry.input = {rows, columns};
  for (Operand& source : geometry.sources) spread_over_rows(source, rows, columns);
  spread_over_rows(geometry.output, rows, columns);
  return {};
}

std::string check_windows(const LayerGeometry& geometry, const network::Shape& input) {
  if (input.size() != 4) return "its input has no rows";
  if (geometry.operation == TileOperation::convolution && geometry.totals[at(Loop::group)] != 1)
    return "its channels are in groups";
  return geometry.input[0] == input[2] ? "" : "it skips rows";
}

}  // namespace

bool has_rows(const Operand& operand) { return operand.strides[at(Loop::row)] != 0; }

std::variant<RowLayer, std::string> row_layer(const network::Network& network, LayerId layer,
                                              std::int64_t element) {
  RowLayer result{geometry_of(network, layer, element)};
  LayerGeometry& geometry = result.geometry;
  if (geometry.operation == TileOperation::whole) return geometry.remark;
  if (!is_one_image(geometry)) return "it has several images";
  // Its rows lie otherwise than those of images, whatever its dimensions are.
  if (network::is_one_of<network::Gemm, network::MatMul, network::QLinearMatMul>(network[layer].op))
    return "it multiplies matrices";
  const network::Shape& output = network[network[layer].outputs[0]].shape;
  const std::string why = slides(geometry.operation)
                              ? check_windows(geometry, network[network[layer].inputs[0]].shape)
                              : spread_over_rows(geometry, output);
  if (!why.empty()) return why;
  const auto input = std::ranges::find_if(geometry.sources, has_rows);
  if (input == geometry.sources.end()) return "none of its inputs has rows";
  result.input = static_cast<std::size_t>(input - geometry.sources.begin());
  return result;
}

}  // namespace millrace::workload
