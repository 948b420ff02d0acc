// Operators on quantised tensors that ONNX Runtime's quantiser writes: what they compute in real
// numbers, between a DequantizeLinear of each input and a QuantizeLinear of the result.
#include "formats/onnx/quantized.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "formats/onnx/lower.h"
#include "formats/onnx/operators/steps.h"
#include "formats/onnx/operators/tables.h"
#include "formats/onnx/tensor_data.h"
#include "formats/onnx/window.h"

namespace millrace::formats::onnx {
namespace {

/// Where a node has a tensor, its scale, and its zero point, which may be left out.
struct Quantized {
  std::size_t values = 0, scale = 0, zero = 0;
};
constexpr Quantized first_three{0, 1, 2};

void check_scale(const Node& node, const Quantized& at) {
  if (node.type(at.scale) != DataType::float32)
    node.fail(fmt::format("the scale '{}' has type {}, expected float32",
                          node.tensor(at.scale).name, to_text(node.type(at.scale))));
  check_single(node, at.scale);
  check_single(node, at.zero);
}

/// The tensor's real numbers.
TensorId real(Node& node, const Quantized& at) {
  const DataType type = node.type(at.values);
  if (!is_small_integer(type))
    node.fail(fmt::format("the input '{}' has type {}, expected int8 or uint8",
                          node.tensor(at.values).name, to_text(type)));
  check_scale(node, at);
  if (node.has(at.zero) && node.type(at.zero) != type)
    node.fail(fmt::format("the zero point '{}' has type {}, expected {} like the input",
                          node.tensor(at.zero).name, to_text(node.type(at.zero)), to_text(type)));
  std::vector<TensorId> inputs{node.input(at.values), node.input(at.scale)};
  if (node.has(at.zero)) inputs.push_back(node.input(at.zero));
  return node.add(DequantizeLinear{}, inputs, {DataType::float32, node.shape(at.values)});
}

/// The node's output: these numbers with the scale and zero point of the inputs `at`.
void give_quantized(Node& node, TensorId numbers, const Quantized& at) {
  check_scale(node, at);
  const DataType type = node.has(at.zero) ? node.type(at.zero) : DataType::uint8;
  if (!is_small_integer(type))
    node.fail(fmt::format("the zero point '{}' has type {}, expected int8 or uint8",
                          node.tensor(at.zero).name, to_text(type)));
  std::vector<TensorId> inputs{numbers, node.input(at.scale)};
  if (node.has(at.zero)) inputs.push_back(node.input(at.zero));
  node.give(0, node.add(QuantizeLinear{}, inputs, {type, node.tensor(numbers).shape}));
}

template <BinaryKind kind>
void lower_q_linear_binary(Node& node) {
  const std::optional<Shape> shape = broadcast(node.shape(0), node.shape(3));
  if (!shape)
    node.fail(fmt::format("the input '{}' has shape {}, which cannot be broadcast to {}",
                          node.tensor(3).name, to_text(node.shape(3)), to_text(node.shape(0))));
  const TensorId a = real(node, first_three), b = real(node, {3, 4, 5});
  give_quantized(node, node.add(Binary{kind}, {a, b}, {DataType::float32, *shape}), {0, 6, 7});
}

void give_unary(Node& node, const Unary& op) {
  const TensorId x = real(node, first_three);
  give_quantized(node, node.add(op, {x}, {DataType::float32, node.shape(0)}), {0, 3, 4});
}

void lower_q_linear_sigmoid(Node& node) { give_unary(node, {UnaryKind::sigmoid}); }

void lower_q_linear_leaky_relu(Node& node) {
  give_unary(node, {UnaryKind::leaky_relu, double{node.attributes().number("alpha", 0.01f)}});
}

/// Before opset 13 also over all dimensions behind the axis.
void lower_q_linear_softmax(Node& node) {
  const bool over_one = node.attributes().integer("opset", 13) >= 13;
  const std::int64_t rank = node.rank(0);
  const std::int64_t axis =
      normalized(node, node.attributes().integer("axis", over_one ? -1 : 1), rank);
  const TensorId x = real(node, first_three);
  const Softmax op{axis, over_one ? axis + 1 : rank, false};
  give_quantized(node, node.add(op, {x}, {DataType::float32, node.shape(0)}), {0, 3, 4});
}

/// Over all spatial dimensions, which stay as ones.
void lower_q_linear_global_average_pool(Node& node) {
  const bool channels_last = node.attributes().flag("channels_last", false);
  Shape shape = node.shape(0);
  const Shape sizes = spatial_sizes(node, shape);
  if (std::ranges::find(sizes, 0) != sizes.end()) node.fail("the input has no elements to pool");
  Reduce mean{ReduceKind::mean, {}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    mean.axes.push_back(static_cast<std::int64_t>(i) + (channels_last ? 1 : 2));
    shape[i + (channels_last ? 1 : 2)] = 1;
  }
  const TensorId x = real(node, first_three);
  give_quantized(node, node.add(mean, {x}, {DataType::float32, shape}), {0, 3, 4});
}

void lower_q_linear_average_pool(Node& node) {
  if (node.attributes().flag("channels_last", false))
    node.fail("the attribute 'channels_last' is 1, which is not supported; export it with 0");
  const Shape sizes = spatial_sizes(node, node.shape(0));
  Pool pool{PoolKind::average, read_window(node, sizes.size(), {})};
  pool.count_include_pad = node.attributes().flag("count_include_pad", false);
  Shape shape = slide(node, sizes, node.attributes().flag("ceil_mode", false), pool.window);
  shape.insert(shape.begin(), node.shape(0).begin(), node.shape(0).begin() + 2);
  const TensorId x = real(node, first_three);
  give_quantized(node, node.add(pool, {x}, {DataType::float32, shape}), {0, 3, 4});
}

/// Scale and zero point of the result, then each part with its own.
void lower_q_linear_concat(Node& node) {
  if ((node.optional_inputs().size() - 2) % 3 != 0)
    node.fail(fmt::format("has {} inputs, expected two and three for each part",
                          node.optional_inputs().size()));
  Shape shape = node.shape(2);
  const std::int64_t axis = normalized(node, node.attributes().integer("axis", 1), node.rank(2));
  const auto at = static_cast<std::size_t>(axis);
  std::int64_t size = 0;
  std::vector<TensorId> parts;
  for (std::size_t i = 2; i < node.optional_inputs().size(); i += 3) {
    const Shape& part = node.shape(i);
    shape[at] = part.size() == shape.size() ? part[at] : 0;
    if (part != shape)
      node.fail(
          fmt::format("the part '{}' has shape {}, which differs from {} along another axis "
                      "than {}",
                      node.tensor(i).name, to_text(part), to_text(node.shape(2)), axis));
    size += part[at];
    parts.push_back(real(node, {i, i + 1, i + 2}));
  }
  shape[at] = size;
  give_quantized(node, node.add(Concat{axis}, parts, {DataType::float32, shape}), {0, 0, 1});
}

constexpr Quantized product_a{0, 1, 2}, product_b{3, 4, 5};
constexpr std::size_t product_bias = 6;
constexpr Quantized product_result{0, 7, 8};

/// With a 1x1 window, rows are images: exact, and with one rounding.
void give_product_as_convolution(Node& node, const Made& made) {
  const bool transposed = node.attributes().integer("transB", 0) != 0;
  const std::int64_t rows = made.shape[0], columns = made.shape[1], inner = node.shape(0)[1];
  TensorId weights = node.input(product_b.values);
  const DataType type = node.type(product_b.values);
  if (!transposed) weights = node.add(Transpose{{1, 0}}, {weights}, {type, {columns, inner}});
  weights = node.add(Reshape{}, {weights}, {type, {columns, inner, 1, 1}});
  const TensorId x = node.add(Reshape{}, {node.input(0)}, {node.type(0), {rows, inner, 1, 1}});
  std::vector<TensorId> inputs{x,
                               node.input(1),
                               node.input(2),
                               weights,
                               node.input(4),
                               node.input(5),
                               node.input(7),
                               node.input(8)};
  if (node.has(product_bias))
    inputs.push_back(node.add(Reshape{}, {node.input(product_bias)}, {DataType::int32, {columns}}));
  const QLinearConv op{{{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, 1};
  const TensorId result = node.add(op, inputs, {made.type, {rows, columns, 1, 1}});
  node.give(0, node.add(Reshape{}, {result}, made));
}

/// In real numbers: without a scale of the result these are given.
void give_product_of_numbers(Node& node, const Gemm& gemm, const Shape& shape) {
  std::vector<TensorId> inputs{real(node, product_a), real(node, product_b)};
  if (node.has(product_bias)) {
    const TensorId steps =
        node.add(Binary{BinaryKind::mul}, {node.input(1), node.input(4)}, {DataType::float32, {}});
    const Made bias{DataType::float32, node.shape(product_bias)};
    const TensorId whole = node.add(Cast{}, {node.input(product_bias)}, bias);
    inputs.push_back(node.add(Binary{BinaryKind::mul}, {whole, steps}, bias));
  }
  const TensorId product = node.add(gemm, inputs, {DataType::float32, shape});
  if (node.has(product_result.scale)) return give_quantized(node, product, product_result);
  node.give(0, product);
}

void check_quantized_product(const Node& node, std::int64_t columns) {
  check_factors(node, {.values = 0, .zero = 2}, {.values = 3, .zero = 5});
  check_scale(node, product_a);
  check_scale(node, product_result);
  for (const std::size_t input : {product_b.scale, product_b.zero})
    check_single_or(node, input, {Shape{columns}});
}

void lower_q_gemm(Node& node) {
  const Shape a = node.shape(0), b = node.shape(product_b.values);
  Gemm gemm;
  gemm.transpose_a = node.attributes().integer("transA", 0) != 0;
  gemm.transpose_b = node.attributes().integer("transB", 0) != 0;
  gemm.alpha = node.attributes().number("alpha", 1);
  if (a.size() != 2 || b.size() != 2 || a[gemm.transpose_a ? 0 : 1] != b[gemm.transpose_b ? 1 : 0])
    node.fail(fmt::format("the factors have shapes {} and {}, expected two matrices that fit",
                          to_text(a), to_text(b)));
  const Shape shape{a[gemm.transpose_a ? 1 : 0], b[gemm.transpose_b ? 0 : 1]};
  if (node.has(product_bias) && (node.type(product_bias) != DataType::int32 ||
                                 broadcast(node.shape(product_bias), shape) != shape))
    node.fail(fmt::format("the bias '{}' is {} of shape {}, expected int32 for the result {}",
                          node.tensor(product_bias).name, to_text(node.type(product_bias)),
                          to_text(node.shape(product_bias)), to_text(shape)));
  const bool by_column =
      !node.has(product_bias) || element_count(node.shape(product_bias)) == shape[1];
  const bool has_zeros = node.has(2) && node.has(5) && node.has(8);
  if (node.has(product_result.scale) && has_zeros && by_column && !gemm.transpose_a &&
      gemm.alpha == 1) {
    check_quantized_product(node, shape[1]);
    return give_product_as_convolution(node, {node.type(product_result.zero), shape});
  }
  give_product_of_numbers(node, gemm, shape);
}

/// A matrix of few bits by column, in blocks of a column with a scale and a zero point each.
struct BlockMatrix {
  std::int64_t rows = 0, columns = 0;
  std::int64_t bits = 0, block = 0;
  std::int64_t blocks = 0, bytes = 0;  // of a column; of a block

  std::int64_t zeros() const { return (blocks * bits + 7) / 8; }  // bytes of a column's zero points
};
constexpr std::size_t block_weights = 1, block_scales = 2, block_zeros = 3, block_order = 4,
                      block_bias = 5;  // inputs

/// Number `index` of those that lie there one behind the other, the first in the lowest bits.
std::int64_t number_of(const BlockMatrix& matrix, const std::byte* at, std::int64_t index) {
  const std::int64_t bit = index * matrix.bits;
  const int byte = std::to_integer<int>(at[bit / 8]);
  return (byte >> (bit % 8)) & ((1 << matrix.bits) - 1);
}

void check_blocks(const Node& node, std::size_t input, DataType type, std::int64_t count) {
  const Tensor& tensor = node.tensor(input);
  if (!tensor.constant)
    node.fail(fmt::format("the input '{}' {}; it must be a weight", tensor.name,
                          computed_from(node, node.input(input))));
  if (tensor.type != type || element_count(tensor.shape) != count)
    node.fail(fmt::format("the input '{}' is {} of shape {}, expected {} with {} numbers",
                          tensor.name, to_text(tensor.type), to_text(tensor.shape), to_text(type),
                          count));
}

BlockMatrix read_block_matrix(const Node& node) {
  BlockMatrix matrix;
  const auto size = [&](std::string_view name, std::int64_t most) {
    const std::int64_t value = node.attributes().required_integer(name);
    if (value < 1 || value > most)
      node.fail(fmt::format("the attribute '{}' is {}, expected 1 to {}", name, value, most));
    return value;
  };
  constexpr std::int64_t most = std::int64_t{1} << 31;
  matrix.rows = size("K", most);
  matrix.columns = size("N", most);
  matrix.block = size("block_size", most);
  matrix.bits = node.attributes().integer("bits", 4);
  if (matrix.bits != 2 && matrix.bits != 4 && matrix.bits != 8)
    node.fail(fmt::format("the attribute 'bits' is {}, expected 2, 4 or 8", matrix.bits));
  matrix.blocks = (matrix.rows + matrix.block - 1) / matrix.block;
  matrix.bytes = (matrix.block * matrix.bits + 7) / 8;
  check_shape(DataType::float32, {matrix.rows, matrix.columns}, node.place());
  check_shape(DataType::uint8, {matrix.columns, matrix.blocks, matrix.bytes}, node.place());
  return matrix;
}

/// An order of rows that leaves each where it is has no effect.
void check_order(const Node& node, const BlockMatrix& matrix) {
  if (node.attributes().flag("weight_prepacked", false))
    node.fail("the attribute 'weight_prepacked' is 1, which is for one device; save the model "
              "without it");
  if (!node.has(block_order)) return;
  const Shape order = integers(node, block_order, "the order of rows");
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<std::int64_t>(i) / matrix.block)
      node.fail("has an order of rows (the input 'g_idx'), which is not supported; quantise "
                "without it");
}

/// By column and block.
std::vector<double> zero_points(const Node& node, const BlockMatrix& matrix) {
  const std::int64_t all = matrix.columns * matrix.blocks;
  if (!node.has(block_zeros))
    return std::vector<double>(static_cast<std::size_t>(all),
                               static_cast<double>(1 << (matrix.bits - 1)));
  if (node.type(block_zeros) != DataType::uint8) {
    check_blocks(node, block_zeros, node.type(0), all);
    return numbers(node, block_zeros, "the zero points");
  }
  check_blocks(node, block_zeros, DataType::uint8, matrix.columns * matrix.zeros());
  const std::byte* at = node.tensor(block_zeros).constant->bytes().data();
  std::vector<double> zeros;
  for (std::int64_t column = 0; column < matrix.columns; ++column, at += matrix.zeros())
    for (std::int64_t i = 0; i < matrix.blocks; ++i)
      zeros.push_back(static_cast<double>(number_of(matrix, at, i)));
  return zeros;
}

/// The matrix in real numbers, row by row.
Array real_numbers(const Node& node, const BlockMatrix& matrix) {
  const std::int64_t all = matrix.columns * matrix.blocks;
  check_blocks(node, block_weights, DataType::uint8, all * matrix.bytes);
  check_blocks(node, block_scales, node.type(0), all);
  const std::vector<double> scales = numbers(node, block_scales, "the scales");
  const std::vector<double> zeros = zero_points(node, matrix);
  const std::byte* at = node.tensor(block_weights).constant->bytes().data();
  Buffer buffer =
      Buffer::uninitialized(size_of(DataType::float32) * (matrix.rows * matrix.columns));
  auto* const to = reinterpret_cast<float*>(buffer.data());
  for (std::int64_t i = 0; i < all; ++i, at += matrix.bytes) {
    const std::int64_t column = i / matrix.blocks, first = i % matrix.blocks * matrix.block;
    const double scale = scales[static_cast<std::size_t>(i)];
    const double zero = zeros[static_cast<std::size_t>(i)];
    for (std::int64_t k = 0; k < matrix.block && first + k < matrix.rows; ++k)
      to[(first + k) * matrix.columns + column] =
          static_cast<float>((static_cast<double>(number_of(matrix, at, k)) - zero) * scale);
  }
  return make_array(DataType::float32, {matrix.rows, matrix.columns}, std::move(buffer));
}

void lower_mat_mul_n_bits(Node& node) {
  const BlockMatrix matrix = read_block_matrix(node);
  check_order(node, matrix);
  const DataType type = node.type(0);
  if (type != DataType::float32 && type != DataType::float16)
    node.fail(fmt::format("the input '{}' has type {}, expected float32 or float16",
                          node.tensor(0).name, to_text(type)));
  if (node.has(block_bias) && node.shape(block_bias) != Shape{matrix.columns})
    node.fail(fmt::format("the bias '{}' has shape {}, expected {}", node.tensor(block_bias).name,
                          to_text(node.shape(block_bias)), matrix.columns));
  take_memory(node, size_of(DataType::float32) * (matrix.rows * matrix.columns));
  Steps steps(node);
  const TensorId weights = steps.as(node.add_constant(real_numbers(node, matrix)), type);
  const TensorId product = steps.product(node.input(0), weights);
  node.give(0, node.has(block_bias) ? steps.sum(product, node.input(block_bias)) : product);
}

constexpr std::array table_of_quantized{
    OperatorEntry{"com.microsoft.DequantizeLinear", lower_dequantize_linear, 2, 3,
                  "axis block_size"},
    OperatorEntry{"com.microsoft.MatMulNBits", lower_mat_mul_n_bits, 3, 6,
                  "K N accuracy_level bits block_size weight_prepacked"},
    OperatorEntry{"com.microsoft.QGemm", lower_q_gemm, 6, 9, "alpha transA transB"},
    OperatorEntry{"com.microsoft.QLinearAdd", lower_q_linear_binary<BinaryKind::add>, 7, 8, ""},
    OperatorEntry{"com.microsoft.QLinearAveragePool", lower_q_linear_average_pool, 4, 5,
                  "auto_pad ceil_mode channels_last count_include_pad kernel_shape pads strides"},
    OperatorEntry{"com.microsoft.QLinearConcat", lower_q_linear_concat, 5, any_number, "axis"},
    OperatorEntry{"com.microsoft.QLinearGlobalAveragePool", lower_q_linear_global_average_pool, 4,
                  5, "channels_last"},
    OperatorEntry{"com.microsoft.QLinearLeakyRelu", lower_q_linear_leaky_relu, 4, 5, "alpha"},
    OperatorEntry{"com.microsoft.QLinearMul", lower_q_linear_binary<BinaryKind::mul>, 7, 8, ""},
    OperatorEntry{"com.microsoft.QLinearSigmoid", lower_q_linear_sigmoid, 4, 5, ""},
    OperatorEntry{"com.microsoft.QLinearSoftmax", lower_q_linear_softmax, 4, 5, "axis opset"},
    OperatorEntry{"com.microsoft.QuantizeLinear", lower_quantize_linear, 2, 3, "axis block_size"},
};

}  // namespace

std::span<const OperatorEntry> quantized_operators() { return table_of_quantized; }

}  // namespace millrace::formats::onnx
