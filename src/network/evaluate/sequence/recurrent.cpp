// RNN, GRU, LSTM and CumSum.
#include <algorithm>
#include <cmath>

#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

template <class T>
T apply(const Gate& gate, T x) {
  const T alpha = static_cast<T>(gate.alpha), beta = static_cast<T>(gate.beta);
  switch (gate.function) {
    case GateFunction::sigmoid:
      return 1 / (1 + std::exp(-x));
    case GateFunction::tanh:
      return std::tanh(x);
    case GateFunction::relu:
      return x > 0 ? x : T{0};
    case GateFunction::affine:
      return alpha * x + beta;
    case GateFunction::leaky_relu:
      return x < 0 ? alpha * x : x;
    case GateFunction::thresholded_relu:
      return x >= alpha ? x : T{0};
    case GateFunction::scaled_tanh:
      return alpha * std::tanh(beta * x);
    case GateFunction::hard_sigmoid:
      return std::min(T{1}, std::max(T{0}, alpha * x + beta));
    case GateFunction::elu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case GateFunction::softsign:
      return x / (1 + std::abs(x));
    case GateFunction::softplus:
      return std::log1p(std::exp(x));
  }
  return x;
}

/// One direction of the layer. Rows of W and R belong to gates; they are kept transposed, so that
/// the innermost loop runs over all gates.
template <class T>
class Pass {
 public:
  Pass(const Recurrent& op, Inputs in, std::size_t direction)
      : op_(op),
        in_(in),
        direction_(static_cast<std::int64_t>(direction)),
        backward_(op.direction == Direction::reverse || direction == 1),
        size_(in[0].shape[2]),
        hidden_(op.hidden),
        rows_(in[1].shape[1]),
        w_(transposed(in[1])),
        r_(transposed(in[2])),
        sums_(index(rows_)),
        own_(index(rows_)) {
    const std::size_t gates = op.kind == RecurrentKind::lstm  ? 3
                              : op.kind == RecurrentKind::gru ? 2
                                                              : 1;
    gates_ = op.gates.data() + direction * gates;
  }

  /// The sequence of one element of the batch. `done(step, h)` is told every new state.
  template <class Done>
  void run(std::int64_t batch, std::vector<T>& h, std::vector<T>& c, Done done) {
    const std::int64_t all = in_[0].shape[op_.batch_first ? 1 : 0];
    const std::int64_t batches = in_[0].shape[op_.batch_first ? 0 : 1];
    const std::int64_t length = length_of(batch, all);
    for (std::int64_t t = 0; t < length; ++t) {
      const std::int64_t step = backward_ ? length - 1 - t : t;
      const std::int64_t row = op_.batch_first ? batch * all + step : step * batches + batch;
      sum(in_[0].as<T>() + row * size_, h);
      advance(h, c);
      done(step, h);
    }
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::vector<T> transposed(const ConstView& matrices) const {
    const std::int64_t rows = matrices.shape[1], columns = matrices.shape[2];
    const T* from = matrices.as<T>() + direction_ * rows * columns;
    std::vector<T> result(index(rows * columns));
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t k = 0; k < columns; ++k)
        result[index(k * rows + r)] = from[r * columns + k];
    return result;
  }
  std::int64_t length_of(std::int64_t batch, std::int64_t all) const {
    const ConstView lengths = optional_input(in_, 4);
    if (!lengths.present()) return all;
    return std::clamp<std::int64_t>(lengths.as<std::int32_t>()[batch], 0, all);
  }
  T bias(std::int64_t row, bool recurrent) const {
    const ConstView biases = optional_input(in_, 3);
    if (!biases.present()) return T{0};
    return biases.as<T>()[(direction_ * 2 + (recurrent ? 1 : 0)) * rows_ + row];
  }
  T peephole(std::int64_t gate, std::int64_t i) const {
    const ConstView p = optional_input(in_, 7);
    return p.present() ? p.as<T>()[(direction_ * 3 + gate) * hidden_ + i] : T{0};
  }
  T gate(std::size_t which, T x) const {
    const T most = static_cast<T>(op_.clip);
    return apply(gates_[which], most > 0 ? std::clamp(x, -most, most) : x);
  }
  static void add_products(std::vector<T>& sums, const std::vector<T>& matrix, const T* x,
                           std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
      const T factor = x[k];
      const T* row = matrix.data() + k * sums.size();
      for (std::size_t r = 0; r < sums.size(); ++r) sums[r] += factor * row[r];
    }
  }
  /// sums_: of the input, with its bias; own_: of the state, with the other bias.
  void sum(const T* x, const std::vector<T>& h) {
    for (std::int64_t r = 0; r < rows_; ++r) {
      sums_[index(r)] = bias(r, false);
      own_[index(r)] = bias(r, true);
    }
    add_products(sums_, w_, x, index(size_));
    add_products(own_, r_, h.data(), h.size());
  }
  T total(std::int64_t gate_row, std::int64_t i) const {
    const std::size_t row = index(gate_row * hidden_ + i);
    return sums_[row] + own_[row];
  }

  void advance(std::vector<T>& h, std::vector<T>& c) {
    if (op_.kind == RecurrentKind::lstm) return advance_lstm(h, c);
    if (op_.kind == RecurrentKind::gru) return advance_gru(h);
    for (std::int64_t i = 0; i < hidden_; ++i) h[index(i)] = gate(0, total(0, i));
  }
  /// Gates in ONNX's order: input, output, forget, cell.
  void advance_lstm(std::vector<T>& h, std::vector<T>& c) {
    for (std::int64_t i = 0; i < hidden_; ++i) {
      T& cell = c[index(i)];
      const T input = gate(0, total(0, i) + peephole(0, i) * cell);
      const T forget = op_.couples_gates ? 1 - input : gate(0, total(2, i) + peephole(2, i) * cell);
      cell = forget * cell + input * gate(1, total(3, i));
      const T output = gate(0, total(1, i) + peephole(1, i) * cell);
      h[index(i)] = output * apply(gates_[2], cell);  // as in ONNX Runtime, it is not clipped
    }
  }
  /// Gates in ONNX's order: update, reset, hidden.
  void advance_gru(std::vector<T>& h) {
    std::vector<T> reset(index(hidden_)), candidate(index(hidden_));
    for (std::int64_t i = 0; i < hidden_; ++i) reset[index(i)] = gate(0, total(1, i));
    if (!op_.linear_before_reset) sum_after_reset(h, reset);
    for (std::int64_t i = 0; i < hidden_; ++i) {
      const std::size_t row = index(2 * hidden_ + i);
      const T factor = op_.linear_before_reset ? reset[index(i)] : T{1};
      candidate[index(i)] = gate(1, sums_[row] + factor * own_[row]);
    }
    for (std::int64_t i = 0; i < hidden_; ++i) {
      const T update = gate(0, total(0, i));
      h[index(i)] = (1 - update) * candidate[index(i)] + update * h[index(i)];
    }
  }
  /// The hidden gate's part of own_, of the state times the reset gate.
  void sum_after_reset(const std::vector<T>& h, const std::vector<T>& reset) {
    for (std::int64_t i = 0; i < hidden_; ++i)
      own_[index(2 * hidden_ + i)] = bias(2 * hidden_ + i, true);
    for (std::int64_t k = 0; k < hidden_; ++k) {
      const T factor = reset[index(k)] * h[index(k)];
      const T* row = r_.data() + k * rows_ + 2 * hidden_;
      for (std::int64_t i = 0; i < hidden_; ++i) own_[index(2 * hidden_ + i)] += factor * row[i];
    }
  }

  const Recurrent& op_;
  Inputs in_;
  std::int64_t direction_;
  bool backward_;
  std::int64_t size_, hidden_, rows_;
  std::vector<T> w_, r_, sums_, own_;
  const Gate* gates_ = nullptr;
};

template <class T>
class Layers {
 public:
  Layers(const Recurrent& op, Inputs in, Outputs out)
      : op_(op),
        in_(in),
        out_(out),
        directions_(op.direction == Direction::bidirectional ? 2 : 1),
        steps_(in[0].shape[op.batch_first ? 1 : 0]),
        batches_(in[0].shape[op.batch_first ? 0 : 1]) {}

  void run() {
    if (has(0)) std::fill_n(out_[0].as<T>(), count(out_[0].shape), T{0});
    for (std::int64_t d = 0; d < directions_; ++d) {
      Pass<T> pass(op_, in_, static_cast<std::size_t>(d));
      for (std::int64_t b = 0; b < batches_; ++b) run(pass, d, b);
    }
  }

 private:
  bool has(std::size_t output) const { return output < out_.size() && out_[output].present(); }
  /// Where the state of one direction and element of the batch begins.
  std::int64_t state(std::int64_t d, std::int64_t b) const {
    return (op_.batch_first ? b * directions_ + d : d * batches_ + b) * op_.hidden;
  }
  std::int64_t place(std::int64_t d, std::int64_t b, std::int64_t step) const {
    const std::int64_t row = op_.batch_first ? (b * steps_ + step) * directions_ + d
                                             : (step * directions_ + d) * batches_ + b;
    return row * op_.hidden;
  }
  std::vector<T> first(std::size_t input, std::int64_t at) const {
    const ConstView given = optional_input(in_, input);
    std::vector<T> result(static_cast<std::size_t>(op_.hidden));
    if (given.present()) std::copy_n(given.as<T>() + at, result.size(), result.begin());
    return result;
  }
  void run(Pass<T>& pass, std::int64_t d, std::int64_t b) {
    const std::int64_t at = state(d, b);
    std::vector<T> h = first(5, at), c = first(6, at);
    pass.run(b, h, c, [&](std::int64_t step, const std::vector<T>& now) {
      if (has(0)) std::copy(now.begin(), now.end(), out_[0].as<T>() + place(d, b, step));
    });
    if (has(1)) std::copy(h.begin(), h.end(), out_[1].as<T>() + at);
    if (has(2)) std::copy(c.begin(), c.end(), out_[2].as<T>() + at);
  }

  const Recurrent& op_;
  Inputs in_;
  Outputs out_;
  std::int64_t directions_, steps_, batches_;
};

template <class T>
void cumulative_sum(const CumSum& op, const ConstView& in, const View& out) {
  const AroundAxis axis = around(in.shape, op.axis);
  for (std::int64_t row = 0; row < axis.outer * axis.inner; ++row) {
    const std::int64_t first = row / axis.inner * axis.size * axis.inner + row % axis.inner;
    Wrapping<T> sum{};
    for (std::int64_t n = 0; n < axis.size; ++n) {
      const std::int64_t at = first + (op.reverse ? axis.size - 1 - n : n) * axis.inner;
      const auto value = static_cast<Wrapping<T>>(in.as<T>()[at]);
      if (!op.exclusive) sum += value;
      out.as<T>()[at] = static_cast<T>(sum);
      if (op.exclusive) sum += value;
    }
  }
}

}  // namespace

void run(const Recurrent& op, Inputs in, Outputs out) {
  visit_float(in[0].type, [&]<class T>(std::type_identity<T>) { Layers<T>(op, in, out).run(); });
}

void run(const CumSum& op, Inputs in, Outputs out) {
  visit_number(out[0].type,
               [&]<class T>(std::type_identity<T>) { cumulative_sum<T>(op, in[0], out[0]); });
}

}  // namespace millrace::network::loops
