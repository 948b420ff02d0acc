// Layers along a sequence: RNN, GRU, LSTM and cumulative sums.
#include <algorithm>
#include <array>
#include <memory>

#include "engine/onednn/lower/lower.h"
#include "kernels/plain/cumulate.h"
#include "kernels/plain/recurrent_cells.h"

namespace millrace::engine::onednn {
namespace {

using kernels::PackedCell;
using network::Direction;
using network::GateFunction;
using network::Recurrent;
using network::RecurrentKind;

bool is_usual(const Recurrent& op, std::size_t direction) {
  constexpr std::array lstm{GateFunction::sigmoid, GateFunction::tanh, GateFunction::tanh};
  const std::size_t count = op.kind == RecurrentKind::lstm  ? 3
                            : op.kind == RecurrentKind::gru ? 2
                                                            : 1;
  const network::Gate* const gates = op.gates.data() + direction * count;
  if (op.kind == RecurrentKind::rnn)
    return gates[0].function == GateFunction::tanh || gates[0].function == GateFunction::relu;
  return std::equal(gates, gates + count, lstm.begin(),
                    [](const network::Gate& gate, GateFunction f) { return gate.function == f; });
}

std::size_t directions_of(const Recurrent& op) {
  return op.direction == Direction::bidirectional ? 2 : 1;
}

bool has_input(const network::Layer& layer, std::size_t input) {
  return input < layer.inputs.size() && layer.inputs[input].valid();
}

/// No lengths, no peepholes, no clipping; weights and biases are constants.
bool suits_own_cells(const Builder& builder, const network::Layer& layer) {
  const auto& op = std::get<Recurrent>(layer.op);
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    if (!layer.inputs[i].valid()) continue;
    const network::Tensor& tensor = builder.tensor(layer.inputs[i]);
    const bool weights = i >= 1 && i <= 3;
    if (tensor.type != network::DataType::float32 || (weights && !tensor.constant)) return false;
  }
  if (has_input(layer, 4) || has_input(layer, 7) || op.couples_gates || op.clip != 0) return false;
  for (std::size_t d = 0; d < directions_of(op); ++d)
    if (!is_usual(op, d)) return false;
  return true;
}

kernels::Cell cell_of(const Builder& builder, const network::Layer& layer, std::size_t direction) {
  const auto& op = std::get<Recurrent>(layer.op);
  kernels::Cell cell;
  cell.kind = op.kind == RecurrentKind::lstm  ? kernels::CellKind::lstm
              : op.kind == RecurrentKind::gru ? kernels::CellKind::gru
                                              : kernels::CellKind::rnn;
  cell.inputs = static_cast<std::size_t>(builder.tensor(layer.inputs[0]).shape[2]);
  cell.hidden = static_cast<std::size_t>(op.hidden);
  cell.linear_before_reset = op.linear_before_reset;
  cell.relu = op.kind == RecurrentKind::rnn && op.gates[direction].function == GateFunction::relu;
  return cell;
}

PackedCell packed_cell(const Builder& builder, const network::Layer& layer, std::size_t direction) {
  const kernels::Cell cell = cell_of(builder, layer, direction);
  const std::size_t rows = cell.gates() * cell.hidden;
  const auto part = [&](std::size_t input, std::size_t first, std::size_t count) {
    return builder.tensor(layer.inputs[input]).constant->values<float>().subspan(first, count);
  };
  const auto matrix = [&](std::size_t input, std::size_t columns) {
    return part(input, direction * rows * columns, rows * columns);
  };
  kernels::GivenWeights weights{matrix(1, cell.inputs), matrix(2, cell.hidden), {}, {}};
  if (has_input(layer, 3)) {
    weights.input_bias = part(3, direction * 2 * rows, rows);
    weights.state_bias = part(3, (direction * 2 + 1) * rows, rows);
  }
  return {cell, weights};
}

/// All directions of a layer; the same for every run.
struct RecurrentLoop {
  std::vector<PackedCell> cells;
  bool batch_first = false, reverse = false;
  std::size_t steps = 1, batch = 1, hidden = 1;

  void run(std::span<const network::ConstView> in, std::span<const network::View> out) const {
    for (std::size_t d = 0; d < cells.size(); ++d) {
      std::vector<float> h = first_state(in, 5, d), c = first_state(in, 6, d);
      PackedCell::Sequence sequence{steps, batch, reverse || d == 1, batch_first,
                                    in[0].as<float>()};
      if (const auto* y = output(out, 0)) {
        const std::size_t row = cells.size() * hidden;  // of one step and element of the batch
        sequence.to = y->as<float>() + d * (batch_first ? hidden : batch * hidden);
        sequence.to_step = batch_first ? row : batch * row;
        sequence.to_batch = batch_first ? steps * row : hidden;
      }
      cells[d].run(sequence, {h.data(), c.data()});
      give_state(output(out, 1), h, d);
      give_state(output(out, 2), c, d);
    }
  }

 private:
  static const network::View* output(std::span<const network::View> out, std::size_t i) {
    return i < out.size() && out[i].present() ? &out[i] : nullptr;
  }
  std::size_t state_at(std::size_t direction, std::size_t b) const {
    return (batch_first ? b * cells.size() + direction : direction * batch + b) * hidden;
  }
  std::vector<float> first_state(std::span<const network::ConstView> in, std::size_t input,
                                 std::size_t direction) const {
    std::vector<float> state(batch * hidden);
    if (input >= in.size() || !in[input].present()) return state;
    for (std::size_t b = 0; b < batch; ++b)
      std::copy_n(in[input].as<float>() + state_at(direction, b), hidden,
                  state.begin() + static_cast<std::ptrdiff_t>(b * hidden));
    return state;
  }
  void give_state(const network::View* to, const std::vector<float>& state,
                  std::size_t direction) const {
    for (std::size_t b = 0; b < batch && to != nullptr; ++b)
      std::copy_n(state.begin() + static_cast<std::ptrdiff_t>(b * hidden), hidden,
                  to->as<float>() + state_at(direction, b));
  }
};

}  // namespace

bool lower_recurrent(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<Recurrent>(layer.op);
  if (!suits_own_cells(builder, layer)) return false;
  const network::Shape& x = builder.tensor(layer.inputs[0]).shape;
  auto loop = std::make_shared<RecurrentLoop>();  // shared by copies of the step
  for (std::size_t d = 0; d < directions_of(op); ++d)
    loop->cells.push_back(packed_cell(builder, layer, d));
  loop->batch_first = op.batch_first;
  loop->reverse = op.direction == Direction::reverse;
  loop->steps = static_cast<std::size_t>(x[op.batch_first ? 1 : 0]);
  loop->batch = static_cast<std::size_t>(x[op.batch_first ? 0 : 1]);
  loop->hidden = static_cast<std::size_t>(op.hidden);
  loops(
      builder, id, [loop](auto in, auto out) { loop->run(in, out); }, "recurrent");
  return true;
}

bool lower_cumulation(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::CumSum>(layer.op);
  const network::Shape& shape = builder.tensor(layer.inputs[0]).shape;
  if (builder.tensor(layer.outputs[0]).type != network::DataType::float32) return false;
  kernels::Cumulation axis{1, 1, 1, op.exclusive, op.reverse};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto at = static_cast<std::int64_t>(d);
    auto& count = at < op.axis ? axis.outer : at == op.axis ? axis.size : axis.inner;
    count *= static_cast<std::size_t>(shape[d]);
  }
  loops(
      builder, id,
      [axis](std::span<const network::ConstView> in, std::span<const network::View> out) {
        cumulate(axis, in[0].as<float>(), out[0].as<float>());
      },
      "cumulate");
  return true;
}

}  // namespace millrace::engine::onednn
