// Products, normalisations, activations, reductions.
#include <array>

#include "cases.h"

namespace millrace::test {

using namespace millrace::network;

namespace {

ConformanceCase gemm_case(const std::string& name, const Gemm& op, const Shape& bias) {
  return {name, [=](NetworkBuilder& b) {
            const TensorId x = b.input(op.transpose_a ? Shape{20, 3} : Shape{3, 20});
            const TensorId w = b.constant(op.transpose_b ? Shape{13, 20} : Shape{20, 13});
            std::vector<TensorId> inputs{x, w};
            if (!bias.empty()) inputs.push_back(b.constant(bias));
            b.output(b.layer(op, inputs, {3, 13}));
          }};
}

ConformanceCase matmul_case(const std::string& name, const Shape& x, const Shape& y,
                            const Shape& out) {
  return {name, [=](NetworkBuilder& b) {
            b.output(b.layer(MatMul{}, {b.input(x), b.input(y)}, out));
          }};
}

void matmul_by_constant(NetworkBuilder& b) {
  const TensorId x = b.input({2, 7, 16}), w = b.constant({16, 11});
  b.output(b.layer(MatMul{}, {x, w}, {2, 7, 11}));
}

/// Its rows are those of an image, but their numbers are no columns.
void matmul_of_an_image(NetworkBuilder& b) {
  const TensorId x = b.unary(UnaryKind::relu, b.input({1, 1, 28, 20}));
  b.output(b.layer(MatMul{}, {x, b.constant({20, 3})}, {1, 1, 28, 3}));
}

void batch_normalization(NetworkBuilder& b, const Shape& shape) {
  const Shape c{shape[1]};
  const TensorId x = b.input(shape);
  const TensorId scale = b.constant(c, {0.5, 2}), bias = b.constant(c), mean = b.constant(c);
  const TensorId variance = b.constant(c, {0.5, 2});
  b.output(b.layer(BatchNormalization{}, {x, scale, bias, mean, variance}, shape));
}

ConformanceCase lrn_case(const std::string& name, const Lrn& op) {
  return {name, [=](NetworkBuilder& b) {
            const Shape shape{2, 12, 5, 6};
            b.output(b.layer(op, {b.input(shape)}, shape));
          }};
}

ConformanceCase softmax_case(const std::string& name, const Softmax& op, const Shape& shape) {
  return {name, [=](NetworkBuilder& b) { b.output(b.layer(op, {b.input(shape)}, shape)); }};
}

/// As detectors weigh the distances of their boxes' sides.
void softmax_of_turned_columns(NetworkBuilder& b) {
  const TensorId sides = b.layer(Reshape{}, {b.input({2, 36, 50})}, {2, 4, 9, 50});
  const TensorId turned = b.layer(Transpose{{0, 2, 1, 3}}, {sides}, {2, 9, 4, 50});
  b.output(b.conv(b.layer(Softmax{1, 2, false}, {turned}, {2, 9, 4, 50}), 1, window(1)));
}

ConformanceCase reduce_case(const std::string& name, const Reduce& op, const Shape& out) {
  return {name, [=](NetworkBuilder& b) { b.output(b.layer(op, {b.input({2, 6, 5, 4})}, out)); }};
}

void arg_max(NetworkBuilder& b, std::int64_t axis, const Shape& out) {
  const TensorId index = b.layer(ArgMax{axis, false}, {b.input({2, 9, 5})}, out);
  b.set_type(index, DataType::int64);
  b.output(index);
}

/// After a convolution, which leaves the channels innermost.
ConformanceCase after_convolution(const std::string& name, const Operator& op, const Shape& out,
                                  DataType type = DataType::float32) {
  return {name, [=](NetworkBuilder& b) {
            const TensorId x = b.conv(b.input({2, 3, 7, 5}), 21, window(3, {.pad = 1}));
            const TensorId y = b.layer(op, {x}, out);
            b.set_type(y, type);
            b.output(y);
          }};
}

struct UnaryCase {
  const char* name;
  UnaryKind kind;
  double alpha = 0, beta = 0;
  bool positive = false;
};

constexpr std::array unary_kinds{
    UnaryCase{"relu", UnaryKind::relu},
    UnaryCase{"leaky_relu", UnaryKind::leaky_relu, 0.1},
    UnaryCase{"clip", UnaryKind::clip, -0.25, 0.5},
    UnaryCase{"clip_to_six", UnaryKind::clip, 0, 6},
    UnaryCase{"sigmoid", UnaryKind::sigmoid},
    UnaryCase{"hard_sigmoid", UnaryKind::hard_sigmoid, 0.2, 0.5},
    UnaryCase{"hard_swish", UnaryKind::hard_swish},
    UnaryCase{"tanh", UnaryKind::tanh},
    UnaryCase{"elu", UnaryKind::elu, 0.8},
    UnaryCase{"softplus", UnaryKind::softplus},
    UnaryCase{"mish", UnaryKind::mish},
    UnaryCase{"erf", UnaryKind::erf},
    UnaryCase{"exp", UnaryKind::exp},
    UnaryCase{"sqrt", UnaryKind::sqrt, 0, 0, true},
    UnaryCase{"round", UnaryKind::round},
};

ConformanceCase unary_case(const UnaryCase& u) {
  return {u.name, [=](NetworkBuilder& b) {
            TensorId x = b.input({2, 5, 3, 7});
            if (u.positive) x = b.unary(UnaryKind::exp, x);
            b.output(b.unary(u.kind, x, u.alpha, u.beta));
          }};
}

struct BinaryCase {
  const char* name;
  BinaryKind kind;
};

constexpr std::array binary_kinds{
    BinaryCase{"add", BinaryKind::add}, BinaryCase{"sub", BinaryKind::sub},
    BinaryCase{"mul", BinaryKind::mul}, BinaryCase{"div", BinaryKind::div},
    BinaryCase{"pow", BinaryKind::pow}, BinaryCase{"max", BinaryKind::max},
    BinaryCase{"min", BinaryKind::min}, BinaryCase{"prelu", BinaryKind::prelu},
};

/// Both operands are computed; the left of pow and the right of div stay away from zero.
ConformanceCase binary_case(const BinaryCase& c, const std::string& suffix, const Shape& right) {
  return {c.name + suffix, [=](NetworkBuilder& b) {
            TensorId x = b.input({2, 6, 4, 5}), y = b.input(right);
            if (c.kind == BinaryKind::pow) x = b.unary(UnaryKind::exp, x);
            if (c.kind == BinaryKind::div) y = b.unary(UnaryKind::exp, y);
            b.output(b.binary(c.kind, x, y));
          }};
}

void smaller_operand_first(NetworkBuilder& b) {
  b.output(b.binary(BinaryKind::sub, b.input({6, 1, 1}), b.input({2, 6, 4, 5})));
}

void both_operands_broadcast(NetworkBuilder& b) {
  b.output(b.binary(BinaryKind::mul, b.input({2, 1, 4, 1}), b.input({6, 1, 5})));
}

void constant_operand(NetworkBuilder& b) {
  b.output(b.binary(BinaryKind::add, b.input({2, 6, 4, 5}), b.constant({6, 1, 1})));
}

void add_to_itself(NetworkBuilder& b) {
  const TensorId x = b.input({1, 8, 3, 3});
  b.output(b.binary(BinaryKind::add, x, x));
}

void integer_arithmetic(NetworkBuilder& b) {
  const TensorId x = b.input({3, 4}, DataType::int64);
  b.output(b.binary(BinaryKind::mul, x, b.integers({4}, {2, -3, 0, 7})));
}

}  // namespace

std::vector<ConformanceCase> product_cases() {
  return {
      gemm_case("gemm", {}, {13}),
      gemm_case("gemm_without_bias", {}, {}),
      gemm_case("gemm_transposed_weight", {.transpose_b = true}, {13}),
      gemm_case("gemm_transposed_both", {.transpose_a = true, .transpose_b = true}, {13}),
      gemm_case("gemm_scaled", {.alpha = 0.5f, .beta = 2}, {3, 13}),
      gemm_case("gemm_column_bias", {}, {3, 1}),
      matmul_case("matmul", {5, 17}, {17, 9}, {5, 9}),
      matmul_case("matmul_batch", {2, 3, 5, 8}, {2, 3, 8, 4}, {2, 3, 5, 4}),
      matmul_case("matmul_broadcast", {2, 1, 5, 8}, {3, 8, 4}, {2, 3, 5, 4}),
      matmul_case("matmul_vectors", {8}, {8}, {}),
      matmul_case("matmul_matrix_vector", {2, 5, 8}, {8}, {2, 5}),
      {"matmul_by_constant", matmul_by_constant},
      {"matmul_of_an_image", matmul_of_an_image},
  };
}

std::vector<ConformanceCase> normalization_cases() {
  return {
      {"batch_normalization",
       [](NetworkBuilder& b) {
         batch_normalization(b, {2, 8, 5, 6});
       }},
      {"batch_normalization_flat",
       [](NetworkBuilder& b) {
         batch_normalization(b, {4, 10});
       }},
      {"batch_normalization_3d",
       [](NetworkBuilder& b) {
         batch_normalization(b, {1, 4, 3, 4, 5});
       }},
      lrn_case("lrn", {5, 1e-4f, 0.75f, 1}),
      lrn_case("lrn_strong", {3, 0.5f, 0.75f, 2}),
      softmax_case("softmax", {1, 2, false}, {3, 10}),
      softmax_case("softmax_channels", {1, 2, false}, {2, 10, 4, 3}),
      softmax_case("softmax_of_all_behind", {1, 4, false}, {2, 10, 4, 3}),
      softmax_case("log_softmax", {1, 2, true}, {3, 10}),
      softmax_case("log_softmax_last", {2, 3, true}, {2, 5, 6}),
      softmax_case("softmax_of_columns", {1, 2, false}, {2, 5, 9, 31}),
      softmax_case("log_softmax_of_columns", {1, 2, true}, {2, 5, 9, 31}),
      softmax_case("softmax_of_rows_between", {2, 3, false}, {2, 3, 9, 33}),
      {"softmax_of_turned_columns", softmax_of_turned_columns},
      after_convolution("softmax_of_columns_inside", Softmax{2, 3, false}, {2, 21, 7, 5}),
      reduce_case("mean_of_plane", {ReduceKind::mean, {2, 3}}, {2, 6, 1, 1}),
      reduce_case("mean_of_plane_dropped", {ReduceKind::mean, {2, 3}}, {2, 6}),
      reduce_case("mean_of_channels", {ReduceKind::mean, {1}}, {2, 1, 5, 4}),
      reduce_case("max_of_plane", {ReduceKind::max, {2, 3}}, {2, 6, 1, 1}),
      reduce_case("max_of_rows", {ReduceKind::max, {2}}, {2, 6, 4}),
      reduce_case("min_of_plane", {ReduceKind::min, {2, 3}}, {2, 6, 1, 1}),
      reduce_case("mean_of_all", {ReduceKind::mean, {0, 1, 2, 3}}, {}),
      softmax_case("softmax_of_odd_rows", {2, 3, false}, {2, 3, 19}),
      softmax_case("log_softmax_of_two_dimensions", {1, 3, true}, {2, 3, 19}),
      reduce_case("mean_of_rows", {ReduceKind::mean, {3}}, {2, 6, 5, 1}),
      reduce_case("max_of_last", {ReduceKind::max, {3}}, {2, 6, 5}),
      reduce_case("l2_of_two_dimensions", {ReduceKind::l2, {2, 3}}, {2, 6}),
      after_convolution("mean_of_innermost_channels", Reduce{ReduceKind::mean, {1}}, {2, 1, 7, 5}),
      after_convolution("max_of_innermost_channels", Reduce{ReduceKind::max, {1}}, {2, 7, 5}),
      after_convolution("arg_max_of_innermost_channels", ArgMax{1, false, false}, {2, 1, 7, 5},
                        DataType::int64),
      after_convolution("softmax_of_innermost_channels", Softmax{1, 2, false}, {2, 21, 7, 5}),
      after_convolution("erf_of_innermost_channels", Unary{UnaryKind::erf}, {2, 21, 7, 5}),
      {"arg_max",
       [](NetworkBuilder& b) {
         arg_max(b, 1, {2, 1, 5});
       }},
      {"arg_max_last",
       [](NetworkBuilder& b) {
         arg_max(b, 2, {2, 9});
       }},
  };
}

std::vector<ConformanceCase> element_cases() {
  std::vector<ConformanceCase> cases;
  for (const UnaryCase& kind : unary_kinds) cases.push_back(unary_case(kind));
  for (const BinaryCase& kind : binary_kinds) {
    cases.push_back(binary_case(kind, "", {2, 6, 4, 5}));
    cases.push_back(binary_case(kind, "_channel", {6, 1, 1}));
    cases.push_back(binary_case(kind, "_scalar", {}));
  }
  cases.push_back({"smaller_operand_first", smaller_operand_first});
  cases.push_back({"both_operands_broadcast", both_operands_broadcast});
  cases.push_back({"constant_operand", constant_operand});
  cases.push_back({"add_to_itself", add_to_itself});
  cases.push_back({"integer_arithmetic", integer_arithmetic});
  return cases;
}

}  // namespace millrace::test
