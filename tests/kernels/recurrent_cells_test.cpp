// RNN, GRU and LSTM against their equations in double precision.
#include "kernels/plain/recurrent_cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace millrace::kernels {
namespace {

std::vector<float> uniform_numbers(Random& random, std::size_t count) {
  std::vector<float> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(random.uniform(-0.5f, 0.5f));
  return result;
}

void expect_product(std::size_t rows, std::size_t columns, std::size_t depth) {
  Random random(rows + columns + depth);
  const auto weights = uniform_numbers(random, columns * depth);
  const auto x = uniform_numbers(random, rows * depth);
  const PackedMatrix matrix(weights, columns);
  const std::vector<float> bias(matrix.width(), 0.25f);
  std::vector<float> y(rows * matrix.width());
  matrix.multiply(rows, x.data(), bias.data(), y.data());
  for (std::size_t i = 0; i < rows * columns; ++i) {
    const std::size_t r = i / columns, c = i % columns;
    double sum = 0.25;
    for (std::size_t k = 0; k < depth; ++k)
      sum += double{x[r * depth + k]} * double{weights[c * depth + k]};
    ASSERT_NEAR(y[r * matrix.width() + c], sum, 1e-5) << rows << " " << columns;
  }
}

TEST(PackedMatrix, multiplies_rows_of_any_number_and_size) {
  for (const std::size_t rows : {1, 2, 3, 7, 200})
    for (const std::size_t columns : {1, 31, 32, 65, 129})
      for (const std::size_t depth : {1, 17, 64}) expect_product(rows, columns, depth);
}

/// One sequence, step by step.
class ExactCell {
 public:
  ExactCell(const Cell& cell, const GivenWeights& weights) : cell_(cell), w_(weights) {}

  std::vector<double> h, c;

  void advance(const float* x) {
    std::vector<double> next(cell_.hidden);
    for (std::size_t i = 0; i < cell_.hidden; ++i) next[i] = next_state(x, i);
    h = next;
  }

 private:
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
  double input(const float* x, std::size_t gate, std::size_t i) const {
    const std::size_t row = gate * cell_.hidden + i;
    double sum = w_.input_bias.empty() ? 0 : double{w_.input_bias[row]};
    for (std::size_t k = 0; k < cell_.inputs; ++k)
      sum += double{x[k]} * double{w_.input[row * cell_.inputs + k]};
    return sum;
  }
  double state(const std::vector<double>& of, std::size_t gate, std::size_t i) const {
    const std::size_t row = gate * cell_.hidden + i;
    double sum = w_.state_bias.empty() ? 0 : double{w_.state_bias[row]};
    for (std::size_t k = 0; k < cell_.hidden; ++k)
      sum += of[k] * double{w_.state[row * cell_.hidden + k]};
    return sum;
  }
  double gate(const float* x, std::size_t g, std::size_t i) const {
    return input(x, g, i) + state(h, g, i);
  }
  double next_state(const float* x, std::size_t i) {
    if (cell_.kind == CellKind::rnn)
      return cell_.relu ? std::max(gate(x, 0, i), 0.0) : std::tanh(gate(x, 0, i));
    if (cell_.kind == CellKind::gru) return next_of_gru(x, i);
    c[i] = sigmoid(gate(x, 2, i)) * c[i] + sigmoid(gate(x, 0, i)) * std::tanh(gate(x, 3, i));
    return sigmoid(gate(x, 1, i)) * std::tanh(c[i]);
  }
  double next_of_gru(const float* x, std::size_t i) const {
    const double update = sigmoid(gate(x, 0, i));
    double candidate = 0;
    if (cell_.linear_before_reset) {
      candidate = input(x, 2, i) + sigmoid(gate(x, 1, i)) * state(h, 2, i);
    } else {
      std::vector<double> reset(cell_.hidden);
      for (std::size_t k = 0; k < cell_.hidden; ++k) reset[k] = sigmoid(gate(x, 1, k)) * h[k];
      candidate = input(x, 2, i) + state(reset, 2, i);
    }
    return (1 - update) * std::tanh(candidate) + update * h[i];
  }

  Cell cell_;
  GivenWeights w_;
};

struct CellTest {
  Cell cell;
  bool backward = false, batch_first = false, biased = true;
};

void expect_right(const CellTest& test) {
  constexpr std::size_t steps = 9, batch = 2;
  const Cell& cell = test.cell;
  Random random(7);
  const std::size_t rows = cell.gates() * cell.hidden;
  const auto w = uniform_numbers(random, rows * cell.inputs);
  const auto r = uniform_numbers(random, rows * cell.hidden);
  const auto bias = uniform_numbers(random, test.biased ? rows : 0);
  const auto own_bias = uniform_numbers(random, test.biased ? rows : 0);
  const auto x = uniform_numbers(random, steps * batch * cell.inputs);
  const auto first_h = uniform_numbers(random, batch * cell.hidden);
  const auto first_c = uniform_numbers(random, batch * cell.hidden);
  const GivenWeights weights{w, r, bias, own_bias};
  auto h = first_h, c = first_c;
  std::vector<float> y(steps * batch * cell.hidden);
  PackedCell::Sequence sequence{steps,    batch,    test.backward,       test.batch_first,
                                x.data(), y.data(), batch * cell.hidden, cell.hidden};
  PackedCell(cell, weights).run(sequence, {h.data(), c.data()});
  for (std::size_t b = 0; b < batch; ++b) {
    ExactCell exact(cell, weights);
    const auto at = static_cast<std::ptrdiff_t>(b * cell.hidden);
    const auto size = static_cast<std::ptrdiff_t>(cell.hidden);
    exact.h.assign(first_h.begin() + at, first_h.begin() + at + size);
    exact.c.assign(first_c.begin() + at, first_c.begin() + at + size);
    for (std::size_t t = 0; t < steps; ++t) {
      const std::size_t step = test.backward ? steps - 1 - t : t;
      const std::size_t row = test.batch_first ? b * steps + step : step * batch + b;
      exact.advance(x.data() + row * cell.inputs);
      for (std::size_t i = 0; i < cell.hidden; ++i)
        ASSERT_NEAR(y[(step * batch + b) * cell.hidden + i], exact.h[i], 5e-6) << step << " " << i;
    }
    for (std::size_t i = 0; i < cell.hidden; ++i)
      ASSERT_NEAR(h[b * cell.hidden + i], exact.h[i], 5e-6);
  }
}

TEST(PackedCell, follows_its_equations) {
  for (const std::size_t hidden : {1, 5, 16, 33}) {
    expect_right({{CellKind::rnn, 3, hidden}});
    expect_right({{CellKind::rnn, 3, hidden, false, true}});
    expect_right({{CellKind::gru, 17, hidden}});
    expect_right({{CellKind::gru, 17, hidden, true}});
    expect_right({{CellKind::lstm, 9, hidden}});
  }
}

TEST(PackedCell, goes_backward_and_takes_batches_in_either_order) {
  for (const CellKind kind : {CellKind::rnn, CellKind::gru, CellKind::lstm}) {
    expect_right({{kind, 6, 19}, true, false, false});
    expect_right({{kind, 6, 19}, true, true, true});
    expect_right({{kind, 6, 19}, false, true, false});
  }
}

}  // namespace
}  // namespace millrace::kernels
