// Operators beyond the classical ones: comparisons, indices, sequences, samples.
#include "cases.h"

namespace millrace::test {

using namespace millrace::network;

namespace {

ConformanceCase function_case(const std::string& name, const Unary& op,
                              std::pair<double, double> range = {-3, 3}) {
  return {name, [=](NetworkBuilder& b) {
            const TensorId x = b.input({2, 3, 4, 5});
            const double middle = (range.first + range.second) / 2;
            const double half = (range.second - range.first) / 2;
            const TensorId scaled = b.binary(BinaryKind::mul, x, b.constant(Shape{}, {half, half}));
            const TensorId moved =
                b.binary(BinaryKind::add, scaled, b.constant(Shape{}, {middle, middle}));
            b.output(b.layer(op, {moved}, b.shape(moved)));
          }};
}

TensorId typed(NetworkBuilder& b, TensorId id, DataType type) {
  b.set_type(id, type);
  return id;
}

/// The second spreads over the first.
TensorId compared(NetworkBuilder& b, CompareKind kind, TensorId a, TensorId c) {
  return typed(b, b.layer(Compare{kind}, {a, c}, b.shape(a)), DataType::boolean);
}

void where_larger(NetworkBuilder& b) {
  const TensorId x = b.input({2, 3, 4}), y = b.input({3, 1});
  const TensorId larger = compared(b, CompareKind::greater, x, y);
  b.output(typed(b, b.layer(Where{}, {larger, x, y}, {2, 3, 4}), DataType::float32));
}

void logic(NetworkBuilder& b) {
  const TensorId x = b.input({2, 6}), y = b.input({2, 6});
  const TensorId less = compared(b, CompareKind::less, x, y);
  const TensorId zero = b.constant(Shape{}, {0, 0});
  const TensorId positive = compared(b, CompareKind::greater_or_equal, x, zero);
  const TensorId both = b.layer(Binary{BinaryKind::logical_and}, {less, positive}, {2, 6});
  const TensorId one = b.layer(Binary{BinaryKind::logical_xor}, {both, positive}, {2, 6});
  b.output(b.layer(Unary{UnaryKind::logical_not}, {one}, {2, 6}));
}

ConformanceCase reduce_case(const std::string& name, ReduceKind kind, const Shape& axes,
                            const Shape& out) {
  return {name, [=](NetworkBuilder& b) {
            const TensorId x = b.unary(UnaryKind::sigmoid, b.input({2, 8, 4, 6}));
            b.output(b.layer(Reduce{kind, axes}, {x}, out));
          }};
}

std::vector<ConformanceCase> reduce_cases() {
  return {
      reduce_case("reduce_sum_spatial", ReduceKind::sum, {2, 3}, {2, 8, 1, 1}),
      reduce_case("reduce_sum_last", ReduceKind::sum, {3}, {2, 8, 4}),
      reduce_case("reduce_prod_channels", ReduceKind::prod, {1}, {2, 4, 6}),
      reduce_case("reduce_l1_spatial", ReduceKind::l1, {2, 3}, {2, 8, 1, 1}),
      reduce_case("reduce_l2_last", ReduceKind::l2, {3}, {2, 8, 4, 1}),
      reduce_case("reduce_log_sum_spatial", ReduceKind::log_sum, {2, 3}, {2, 8, 1, 1}),
      reduce_case("reduce_log_sum_exp_all", ReduceKind::log_sum_exp, {0, 1, 2, 3}, {1, 1, 1, 1}),
      reduce_case("reduce_sum_square_first", ReduceKind::sum_square, {0}, {8, 4, 6}),
  };
}

void layer_normalization(NetworkBuilder& b) {
  const TensorId x = b.input({2, 5, 16});
  b.output(
      b.layer(Normalization{2, 1e-5f, true}, {x, b.constant({16}), b.constant({16})}, {2, 5, 16}));
}

void instance_normalization(NetworkBuilder& b) {
  const TensorId x = b.input({2, 8, 5, 3});
  const TensorId y = b.layer(Normalization{2, 1e-5f, true},
                             {x, b.constant({8, 1, 1}), b.constant({8, 1, 1})}, {2, 8, 5, 3});
  b.output(b.unary(UnaryKind::relu, y));
}

/// Normalises groups of two channels; each channel has its own scale.
void group_normalization(NetworkBuilder& b) {
  const Shape grouped{2, 3, 2, 5, 7};
  const TensorId x = b.layer(Reshape{}, {b.input({2, 6, 5, 7})}, grouped);
  const Shape values{3, 2, 1, 1};
  const TensorId y =
      b.layer(Normalization{2, 1e-5f, true}, {x, b.constant(values), b.constant(values)}, grouped);
  b.output(b.layer(Reshape{}, {y}, {2, 6, 5, 7}));
}

void layer_normalization_without_bias(NetworkBuilder& b) {
  const TensorId x = b.input({2, 3, 37});
  b.output(b.layer(Normalization{2, 1e-5f, true}, {x, b.constant({37})}, {2, 3, 37}));
}

void layer_normalization_with_moments(NetworkBuilder& b) {
  const TensorId x = b.input({2, 3, 5, 7});
  const auto made =
      b.layers(Normalization{2, 1e-5f, true}, {x, b.constant({5, 7}), b.constant({7})},
               {{2, 3, 5, 7}, {2, 3, 1, 1}, {2, 3, 1, 1}});
  for (const TensorId each : made) b.output(each);
}

void rms_normalization(NetworkBuilder& b) {
  const TensorId x = b.input({3, 24});
  b.output(b.layer(Normalization{1, 1e-6f, false}, {x, b.constant({24})}, {3, 24}));
}

void top_k(NetworkBuilder& b, bool largest) {
  const auto outputs = b.layers(TopK{1, largest}, {b.input({2, 9, 3})}, {{2, 4, 3}, {2, 4, 3}});
  b.set_type(outputs[1], DataType::int64);
  for (const TensorId output : outputs) b.output(output);
}

void gather_elements(NetworkBuilder& b) {
  b.output(
      b.layer(GatherElements{1}, {b.input({2, 3}), b.integers({2, 2}, {0, -1, 2, 1})}, {2, 2}));
}

void scatter_elements(NetworkBuilder& b) {
  const TensorId indices = b.integers({2, 2}, {0, 2, 2, 2});
  b.output(b.layer(ScatterElements{1, Reduction::add}, {b.input({2, 3}), indices, b.input({2, 2})},
                   {2, 3}));
}

void scatter_nd(NetworkBuilder& b) {
  const TensorId indices = b.integers({2, 1}, {3, 0});
  b.output(b.layer(ScatterNd{}, {b.input({4, 3}), indices, b.input({2, 3})}, {4, 3}));
}

void gather_nd(NetworkBuilder& b) {
  b.output(b.layer(GatherNd{1}, {b.input({2, 3, 4}), b.integers({2, 1}, {2, 0})}, {2, 4}));
}

void grid_sample(NetworkBuilder& b, SampleMode mode, SamplePadding padding) {
  b.output(b.layer(GridSample{mode, padding, false}, {b.input({2, 3, 5, 4}), b.input({2, 3, 2, 2})},
                   {2, 3, 3, 2}));
}

Recurrent recurrent(RecurrentKind kind, Direction direction) {
  Recurrent op;
  op.kind = kind;
  op.direction = direction;
  op.hidden = 4;
  for (int d = 0; d < (direction == Direction::bidirectional ? 2 : 1); ++d) {
    if (kind != RecurrentKind::rnn) op.gates.push_back({GateFunction::sigmoid});
    op.gates.push_back({GateFunction::tanh});
    if (kind == RecurrentKind::lstm) op.gates.push_back({GateFunction::tanh});
  }
  return op;
}

struct RecurrentCase {
  RecurrentKind kind = RecurrentKind::rnn;
  Direction direction = Direction::forward;
  std::int64_t hidden = 4;
  bool batch_first = false, linear_before_reset = false, has_states = false;
  float clip = 0;
};

void build_recurrent(NetworkBuilder& b, const RecurrentCase& c) {
  const std::int64_t gates = c.kind == RecurrentKind::lstm  ? 4
                             : c.kind == RecurrentKind::gru ? 3
                                                            : 1;
  const std::int64_t d = c.direction == Direction::bidirectional ? 2 : 1, h = c.hidden;
  const Shape sequence = c.batch_first ? Shape{2, 6, 3} : Shape{6, 2, 3};
  const Shape state = c.batch_first ? Shape{2, d, h} : Shape{d, 2, h};
  const Shape all = c.batch_first ? Shape{2, 6, d, h} : Shape{6, d, 2, h};
  std::vector<TensorId> inputs{b.input(sequence), b.constant({d, gates * h, 3}),
                               b.constant({d, gates * h, h}), b.constant({d, gates * 2 * h})};
  if (c.has_states) inputs.insert(inputs.end(), {TensorId(), b.input(state)});
  if (c.has_states && c.kind == RecurrentKind::lstm) inputs.push_back(b.input(state));
  Recurrent op = recurrent(c.kind, c.direction);
  op.hidden = h;
  op.batch_first = c.batch_first;
  op.linear_before_reset = c.linear_before_reset;
  op.clip = c.clip;
  for (const TensorId output : b.layers(op, inputs, {all, state})) b.output(output);
}

ConformanceCase recurrent_case(const std::string& name, const RecurrentCase& c) {
  return {name, [=](NetworkBuilder& b) { build_recurrent(b, c); }};
}

std::vector<ConformanceCase> recurrent_cases() {
  using enum RecurrentKind;
  return {
      recurrent_case("rnn", {rnn}),
      recurrent_case("rnn_of_nineteen", {rnn, Direction::bidirectional, 19}),
      recurrent_case("gru_reverse", {gru, Direction::reverse}),
      recurrent_case("gru_linear_before_reset", {gru, Direction::forward, 35, false, true}),
      recurrent_case("gru_batch_first", {gru, Direction::bidirectional, 19, true, false, true}),
      recurrent_case("lstm", {lstm}),
      recurrent_case("lstm_bidirectional", {lstm, Direction::bidirectional}),
      recurrent_case("lstm_with_states", {lstm, Direction::bidirectional, 33, false, false, true}),
      recurrent_case("lstm_batch_first", {lstm, Direction::reverse, 16, true, false, true}),
      recurrent_case("lstm_clipped", {lstm, Direction::forward, 5, false, false, true, 0.2f}),
      recurrent_case("gru_clipped", {gru, Direction::reverse, 5, false, true, false, 0.2f}),
  };
}

ConformanceCase kept_shape(const std::string& name, const Operator& op, const Shape& x,
                           const Shape& out) {
  return {name, [=](NetworkBuilder& b) { b.output(b.layer(op, {b.input(x)}, out)); }};
}

}  // namespace

std::vector<ConformanceCase> function_cases() {
  using enum UnaryKind;
  return {
      function_case("neg", {neg}),
      function_case("abs", {UnaryKind::abs}),
      function_case("sign", {sign}),
      function_case("reciprocal", {reciprocal}, {1, 3}),
      function_case("log", {UnaryKind::log}, {1, 3}),
      function_case("sin", {UnaryKind::sin}),
      function_case("cos", {UnaryKind::cos}),
      function_case("atan", {UnaryKind::atan}),
      function_case("floor", {UnaryKind::floor}),
      function_case("ceil", {UnaryKind::ceil}),
      function_case("gelu", {gelu}),
      function_case("gelu_tanh", {gelu_tanh}),
      function_case("celu", {celu, 1.5}),
      function_case("selu", {selu, 1.67, 1.05}),
      function_case("thresholded_relu", {thresholded_relu, 0.7}),
      function_case("softsign", {softsign}),
      function_case("shrink", {shrink, 0.5, 0.2}),
      function_case("swish", {swish, 1.2}),
      function_case("swish_of_one", {swish, 1}),
  };
}

std::vector<ConformanceCase> sequence_cases() {
  std::vector<ConformanceCase> cases{
      {"where_larger", where_larger},
      {"logic", logic},
      {"layer_normalization", layer_normalization},
      {"instance_normalization", instance_normalization},
      {"rms_normalization", rms_normalization},
      {"group_normalization", group_normalization},
      {"layer_normalization_without_bias", layer_normalization_without_bias},
      {"layer_normalization_with_moments", layer_normalization_with_moments},
      {"top_k_largest", [](NetworkBuilder& b) { top_k(b, true); }},
      {"top_k_smallest", [](NetworkBuilder& b) { top_k(b, false); }},
      {"gather_elements", gather_elements},
      {"gather_nd", gather_nd},
      {"scatter_elements", scatter_elements},
      {"scatter_nd", scatter_nd},
      {"grid_sample_linear",
       [](NetworkBuilder& b) { grid_sample(b, SampleMode::linear, SamplePadding::border); }},
      {"grid_sample_nearest",
       [](NetworkBuilder& b) { grid_sample(b, SampleMode::nearest, SamplePadding::zeros); }},
      {"grid_sample_cubic",
       [](NetworkBuilder& b) { grid_sample(b, SampleMode::cubic, SamplePadding::reflection); }},
      kept_shape("tile", Tile{}, {2, 1, 3}, {4, 5, 3}),
      kept_shape("tile_of_four_dimensions", Tile{}, {2, 3, 2, 3}, {4, 6, 4, 6}),
      kept_shape("tile_of_five_dimensions", Tile{}, {2, 3, 2, 3, 2}, {4, 6, 4, 6, 4}),
      kept_shape("cum_sum", CumSum{1, false, true}, {2, 5, 3}, {2, 5, 3}),
      kept_shape("cum_sum_last", CumSum{2, true, false}, {2, 5, 37}, {2, 5, 37}),
      kept_shape("cum_sum_first", CumSum{0, false, false}, {5, 2, 37}, {5, 2, 37}),
  };
  for (ConformanceCase& test : recurrent_cases()) cases.push_back(std::move(test));
  for (ConformanceCase& test : reduce_cases()) cases.push_back(std::move(test));
  return cases;
}

}  // namespace millrace::test
