// RNN, GRU, LSTM and CumSum.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/onnx/node/node.h"
#include "formats/onnx/operators/tables.h"

namespace millrace::formats::onnx {
namespace {

struct Function {
  std::string_view name;
  GateFunction function;
  float alpha, beta;
  bool has_alpha, has_beta;
};

constexpr std::array functions{
    Function{"sigmoid", GateFunction::sigmoid, 0, 0, false, false},
    Function{"tanh", GateFunction::tanh, 0, 0, false, false},
    Function{"relu", GateFunction::relu, 0, 0, false, false},
    Function{"affine", GateFunction::affine, 1, 0, true, true},
    Function{"leakyrelu", GateFunction::leaky_relu, 0.01f, 0, true, false},
    Function{"thresholdedrelu", GateFunction::thresholded_relu, 1, 0, true, false},
    Function{"scaledtanh", GateFunction::scaled_tanh, 1, 1, true, true},
    Function{"hardsigmoid", GateFunction::hard_sigmoid, 0.2f, 0.5f, true, true},
    Function{"elu", GateFunction::elu, 1, 0, true, false},
    Function{"softsign", GateFunction::softsign, 0, 0, false, false},
    Function{"softplus", GateFunction::softplus, 0, 0, false, false},
};

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

/// What is special to one kind.
struct Recipe {
  RecurrentKind kind;
  std::int64_t gates;                           // rows of W, in times the hidden size
  std::array<std::string_view, 3> activations;  // of one direction
  std::size_t activation_count, outputs;
};

constexpr Recipe rnn{RecurrentKind::rnn, 1, {"Tanh", "", ""}, 1, 2};
constexpr Recipe gru{RecurrentKind::gru, 3, {"Sigmoid", "Tanh", ""}, 2, 2};
constexpr Recipe lstm{RecurrentKind::lstm, 4, {"Sigmoid", "Tanh", "Tanh"}, 3, 3};

Direction direction_of(const Node& node) {
  const std::string text = node.attributes().text("direction", "forward");
  if (text == "forward") return Direction::forward;
  if (text == "reverse") return Direction::reverse;
  if (text != "bidirectional")
    node.fail(
        fmt::format("the attribute 'direction' is '{}', expected forward, reverse or "
                    "bidirectional",
                    text));
  return Direction::bidirectional;
}

/// Parameters are given only for the functions that have them, in order.
std::vector<Gate> gates_of(const Node& node, const Recipe& recipe, std::size_t directions) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < directions; ++i)
    for (std::size_t k = 0; k < recipe.activation_count; ++k)
      names.emplace_back(recipe.activations[k]);
  const std::vector<std::string> given = node.attributes().texts("activations");
  if (!given.empty() && given.size() != names.size())
    node.fail(fmt::format("the attribute 'activations' has {} entries, expected {}", given.size(),
                          names.size()));
  if (!given.empty()) names = given;
  const std::vector<float> alphas =
      node.attributes().numbers("activation_alpha").value_or(std::vector<float>());
  const std::vector<float> betas =
      node.attributes().numbers("activation_beta").value_or(std::vector<float>());
  std::size_t alpha = 0, beta = 0;
  std::vector<Gate> gates;
  for (const std::string& name : names) {
    const auto known = std::find_if(functions.begin(), functions.end(),
                                    [&](const Function& f) { return f.name == lower_case(name); });
    if (known == functions.end())
      node.fail(
          fmt::format("the activation '{}' is not known; expected one such as Sigmoid, Tanh "
                      "or Relu",
                      name));
    Gate gate{known->function, known->alpha, known->beta};
    if (known->has_alpha && alpha < alphas.size()) gate.alpha = alphas[alpha++];
    if (known->has_beta && beta < betas.size()) gate.beta = betas[beta++];
    gates.push_back(gate);
  }
  return gates;
}

void need_shape(const Node& node, std::size_t input, const Shape& shape) {
  if (node.has(input) && node.shape(input) != shape)
    node.fail(fmt::format("the input '{}' has shape {}, expected {}", node.tensor(input).name,
                          to_text(node.shape(input)), to_text(shape)));
}

/// Sizes of one layer.
struct Sizes {
  std::int64_t steps, batch, input, hidden, directions;
};

Sizes sizes_of(const Node& node, const Recurrent& op, const Recipe& recipe) {
  const Shape& x = node.shape(0);
  const Shape& r = node.shape(2);
  const std::int64_t directions = op.direction == Direction::bidirectional ? 2 : 1;
  if (x.size() != 3 || r.size() != 3)
    node.fail(
        fmt::format("the input is {} and the recurrence weights {}, expected three dimensions "
                    "of each",
                    to_text(x), to_text(r)));
  const Sizes s{x[op.batch_first ? 1 : 0], x[op.batch_first ? 0 : 1], x[2], r[2], directions};
  if (s.hidden < 1 || s.hidden > 1 << 20) node.fail("the hidden size is not one from 1 to 2^20");
  if (node.attributes().integer("hidden_size", s.hidden) != s.hidden)
    node.fail(fmt::format("the attribute 'hidden_size' is {}, but the recurrence weights are {}",
                          node.attributes().integer("hidden_size", 0), to_text(r)));
  const std::int64_t rows = recipe.gates * s.hidden;
  need_shape(node, 1, {directions, rows, s.input});
  need_shape(node, 2, {directions, rows, s.hidden});
  need_shape(node, 3, {directions, 2 * rows});
  need_shape(node, 4, {s.batch});
  const Shape state =
      op.batch_first ? Shape{s.batch, directions, s.hidden} : Shape{directions, s.batch, s.hidden};
  need_shape(node, 5, state);
  need_shape(node, 6, state);
  need_shape(node, 7, {directions, 3 * s.hidden});
  return s;
}

void need_types(const Node& node) {
  for (std::size_t i = 1; i < node.optional_inputs().size(); ++i) {
    if (!node.has(i)) continue;
    const DataType wanted = i == 4 ? DataType::int32 : node.type(0);
    if (node.type(i) != wanted)
      node.fail(fmt::format("the input '{}' has type {}, expected {}", node.tensor(i).name,
                            to_text(node.type(i)), to_text(wanted)));
  }
  if (node.has(4) && !is_known(node, 4))
    node.fail(
        fmt::format("the sequence lengths '{}' are computed from the network's inputs, and "
                    "vary from frame to frame; pad sequences to one length{}",
                    node.tensor(4).name, or_fix(node, node.input(4))));
}

void lower_recurrent(Node& node, const Recipe& recipe) {
  need_types(node);
  Recurrent op;
  op.kind = recipe.kind;
  op.direction = direction_of(node);
  op.batch_first = node.attributes().flag("layout", false);
  op.linear_before_reset = node.attributes().integer("linear_before_reset", 0) != 0;
  op.couples_gates = node.attributes().integer("input_forget", 0) != 0;
  op.clip = node.attributes().number("clip", 0);
  const Sizes s = sizes_of(node, op, recipe);
  op.hidden = s.hidden;
  op.gates = gates_of(node, recipe, static_cast<std::size_t>(s.directions));
  const Made all{node.type(0), op.batch_first ? Shape{s.batch, s.steps, s.directions, s.hidden}
                                              : Shape{s.steps, s.directions, s.batch, s.hidden}};
  const Made last{node.type(0), op.batch_first ? Shape{s.batch, s.directions, s.hidden}
                                               : Shape{s.directions, s.batch, s.hidden}};
  std::vector<std::optional<Made>> made{all, last};
  if (recipe.outputs == 3) made.emplace_back(last);
  const std::vector<TensorId> outputs = node.add(op, node.optional_inputs(), made);
  for (std::size_t i = 0; i < outputs.size(); ++i) node.give(i, outputs[i]);
}

void lower_rnn(Node& node) { lower_recurrent(node, rnn); }
void lower_gru(Node& node) { lower_recurrent(node, gru); }
void lower_lstm(Node& node) { lower_recurrent(node, lstm); }

void lower_cum_sum(Node& node) {
  const std::int64_t axis = integer(node, 1, "the axis");
  if (node.rank(0) == 0) node.fail("the input is a scalar, expected at least one dimension");
  const CumSum op{normalized(node, axis, node.rank(0)), node.attributes().flag("exclusive", false),
                  node.attributes().flag("reverse", false)};
  node.give(0, node.add(op, {node.input(0)}, {node.type(0), node.shape(0)}));
}

constexpr std::array table_of_sequences{
    OperatorEntry{"CumSum", lower_cum_sum, 2, 2, "exclusive reverse"},
    OperatorEntry{"GRU", lower_gru, 3, 6,
                  "activation_alpha activation_beta activations clip direction hidden_size layout "
                  "linear_before_reset"},
    OperatorEntry{
        "LSTM", lower_lstm, 3, 8,
        "activation_alpha activation_beta activations clip direction hidden_size input_forget "
        "layout"},
    OperatorEntry{"RNN", lower_rnn, 3, 6,
                  "activation_alpha activation_beta activations clip direction hidden_size layout"},
};

}  // namespace

std::span<const OperatorEntry> sequence_operators() { return table_of_sequences; }

}  // namespace millrace::formats::onnx
