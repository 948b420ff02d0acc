#include "kernels/plain/recurrent_cells.h"

#include <algorithm>

#include "kernels/plain/exponentials.h"

namespace millrace::kernels {
namespace {

/// Of one element of the batch: what its gates sum up of the input and of the state, each with its
/// bias.
struct GateSums {
  const float *input, *state;
  std::size_t hidden;

  [[gnu::always_inline]] float total(std::size_t gate, std::size_t i) const {
    return input[gate * hidden + i] + state[gate * hidden + i];
  }
};

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void advance_lstm(const GateSums& sums, float* __restrict h, float* __restrict c) {
  for (std::size_t i = 0; i < sums.hidden; ++i) {
    const float input = logistic(sums.total(0, i)), forget = logistic(sums.total(2, i));
    const float cell = forget * c[i] + input * hyperbolic_tangent(sums.total(3, i));
    c[i] = cell;
    h[i] = logistic(sums.total(1, i)) * hyperbolic_tangent(cell);
  }
}

/// `candidate`: what the hidden gate sums up of the state.
#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void advance_gru(const GateSums& sums, const float* __restrict candidate, bool resets,
                 float* __restrict h) {
  const std::size_t hidden = sums.hidden;
  for (std::size_t i = 0; i < hidden; ++i) {
    const float factor = resets ? logistic(sums.total(1, i)) : 1.f;
    const float update = logistic(sums.total(0, i));
    const float next = hyperbolic_tangent(sums.input[2 * hidden + i] + factor * candidate[i]);
    h[i] = (1.f - update) * next + update * h[i];
  }
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void write_reset(const GateSums& sums, const float* __restrict h, float* __restrict to) {
  for (std::size_t i = 0; i < sums.hidden; ++i) to[i] = logistic(sums.total(1, i)) * h[i];
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void advance_rnn(const GateSums& sums, bool relu, float* __restrict h) {
  for (std::size_t i = 0; i < sums.hidden; ++i) {
    const float x = sums.total(0, i);
    h[i] = relu ? (x > 0.f ? x : 0.f) : hyperbolic_tangent(x);
  }
}

std::vector<float> whole_bias(std::span<const float> bias, std::size_t width) {
  std::vector<float> result(bias.begin(), bias.end());
  result.resize(width, 0.f);
  return result;
}

bool resets_first(const Cell& cell) {
  return cell.kind == CellKind::gru && !cell.linear_before_reset;
}

}  // namespace

PackedCell::PackedCell(const Cell& cell, const GivenWeights& weights)
    : cell_(cell), input_(weights.input, cell.gates() * cell.hidden) {
  const std::size_t gates = resets_first(cell) ? 2 : cell.gates();
  const std::size_t columns = gates * cell.hidden, numbers = columns * cell.hidden;
  state_ = PackedMatrix(weights.state.first(numbers), columns);
  input_bias_ = whole_bias(weights.input_bias, input_.width());
  const bool biased = !weights.state_bias.empty();
  state_bias_ =
      whole_bias(biased ? weights.state_bias.first(columns) : weights.state_bias, state_.width());
  if (!resets_first(cell)) return;
  reset_ = PackedMatrix(weights.state.subspan(numbers), cell.hidden);
  reset_bias_ =
      whole_bias(biased ? weights.state_bias.subspan(columns) : weights.state_bias, reset_.width());
}

void PackedCell::advance(const float* sums, float* own, const State& state,
                         std::size_t batch) const {
  const std::size_t hidden = cell_.hidden;
  for (std::size_t b = 0; b < batch; ++b) {
    const GateSums gates{sums + b * input_.width(), own + b * state_.width(), hidden};
    float* const h = state.h + b * hidden;
    if (cell_.kind == CellKind::lstm) {
      advance_lstm(gates, h, state.c + b * hidden);
    } else if (cell_.kind == CellKind::rnn) {
      advance_rnn(gates, cell_.relu, h);
    } else if (cell_.linear_before_reset) {
      advance_gru(gates, gates.state + 2 * hidden, true, h);
    } else {
      float* const reset = own + batch * state_.width();  // room behind: see run()
      write_reset(gates, h, reset);
      reset_.multiply(1, reset, reset_bias_.data(), reset + hidden);
      advance_gru(gates, reset + hidden, false, h);
    }
  }
}

void PackedCell::run(const Sequence& s, const State& state) const {
  const std::size_t hidden = cell_.hidden, width = input_.width();
  std::vector<float> sums(s.steps * s.batch * width);
  input_.multiply(s.steps * s.batch, s.from, input_bias_.data(), sums.data());
  std::vector<float> own(s.batch * state_.width() + hidden + reset_.width()), gathered;
  if (s.batch_first && s.batch > 1) gathered.resize(s.batch * width);
  for (std::size_t t = 0; t < s.steps; ++t) {
    const std::size_t step = s.backward ? s.steps - 1 - t : t;
    const float* inputs = sums.data() + step * s.batch * width;
    for (std::size_t b = 0; b < s.batch && !gathered.empty(); ++b) {
      std::copy_n(sums.data() + (b * s.steps + step) * width, width, gathered.data() + b * width);
      inputs = gathered.data();
    }
    state_.multiply(s.batch, state.h, state_bias_.data(), own.data());
    advance(inputs, own.data(), state, s.batch);
    for (std::size_t b = 0; b < s.batch && s.to; ++b)
      std::copy_n(state.h + b * hidden, hidden, s.to + step * s.to_step + b * s.to_batch);
  }
}

}  // namespace millrace::kernels
