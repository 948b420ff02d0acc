#include "kernels/plain/recurrent_cells.h"

#include <algorithm>

#include "kernels/bend.h"
#include "kernels/plain/lanes.h"
#include "kernels/plain/smooth.h"

namespace millrace::kernels {
namespace {

/// For one element of the batch: what its gates sum up of the input and of the state, each with its
/// bias.
struct GateSums {
  const float *input, *state;
  std::size_t hidden;

  template <class Vector>
  [[gnu::always_inline]] void read(Vector& to, std::size_t gate, std::size_t i,
                                   std::size_t some) const {
    Vector own{};
    read_first(to, input + gate * hidden + i, some);
    read_first(own, state + gate * hidden + i, some);
    to += own;
  }
};

struct LstmStep {
  const GateSums& sums;
  float *h, *c;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    for_each_vector<lanes>(
        sums.hidden, [&](std::size_t i, std::size_t some) __attribute__((always_inline)) {
          typename LanesOf<lanes>::Type in{}, out{}, forget{}, next{}, cell{};
          sums.read(in, 0, i, some);
          sums.read(out, 1, i, some);
          sums.read(forget, 2, i, some);
          sums.read(next, 3, i, some);
          read_first(cell, c + i, some);
          cell = sigmoid(forget) * cell + sigmoid(in) * hyperbolic_tangent_of(next);
          write_first(c + i, cell, some);
          cell = sigmoid(out) * hyperbolic_tangent_of(cell);
          write_first(h + i, cell, some);
        });
  }
};

struct GruStep {
  const GateSums& sums;
  const float* candidate;  // what the hidden gate sums up of the state
  bool resets;
  float* h;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    for_each_vector<lanes>(
        sums.hidden, [&](std::size_t i, std::size_t some) __attribute__((always_inline)) {
          typename LanesOf<lanes>::Type next{}, own{}, gate{}, state{};
          read_first(own, candidate + i, some);
          if (resets) {
            sums.read(gate, 1, i, some);
            own *= sigmoid(gate);
          }
          read_first(next, sums.input + 2 * sums.hidden + i, some);
          next = hyperbolic_tangent_of(next + own);
          sums.read(gate, 0, i, some);
          const auto update = sigmoid(gate);
          read_first(state, h + i, some);
          state = (1.f - update) * next + update * state;
          write_first(h + i, state, some);
        });
  }
};

struct ResetState {
  const GateSums& sums;
  const float* h;
  float* to;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    for_each_vector<lanes>(
        sums.hidden, [&](std::size_t i, std::size_t some) __attribute__((always_inline)) {
          typename LanesOf<lanes>::Type gate{}, state{};
          sums.read(gate, 1, i, some);
          read_first(state, h + i, some);
          state *= sigmoid(gate);
          write_first(to + i, state, some);
        });
  }
};

struct RnnStep {
  const GateSums& sums;
  bool relu;
  float* h;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    for_each_vector<lanes>(
        sums.hidden, [&](std::size_t i, std::size_t some) __attribute__((always_inline)) {
          using Vector = typename LanesOf<lanes>::Type;
          Vector x{};
          sums.read(x, 0, i, some);
          if (relu)
            x = x > 0 ? x : Vector{};
          else
            x = hyperbolic_tangent_of(x);
          write_first(h + i, x, some);
        });
  }
};

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
      run_in_lanes(LstmStep{gates, h, state.c + b * hidden});
    } else if (cell_.kind == CellKind::rnn) {
      run_in_lanes(RnnStep{gates, cell_.relu, h});
    } else if (cell_.linear_before_reset) {
      run_in_lanes(GruStep{gates, gates.state + 2 * hidden, true, h});
    } else {
      float* const reset = own + batch * state_.width();  // room behind: see run()
      run_in_lanes(ResetState{gates, h, reset});
      reset_.multiply(1, reset, reset_bias_.data(), reset + hidden);
      run_in_lanes(GruStep{gates, reset + hidden, false, h});
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
