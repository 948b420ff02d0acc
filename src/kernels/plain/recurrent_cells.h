#pragma once
// Layers that go through a sequence step by step: RNN, GRU and LSTM with their usual functions.
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/plain/packed_matrix.h"

namespace millrace::kernels {

enum class CellKind { rnn, gru, lstm };

/// Rows of weights belong to gates in ONNX's order: lstm input, output, forget, cell; gru update,
/// reset, hidden. Gates are logistic, states the hyperbolic tangent, of an rnn perhaps the positive
/// part.
struct Cell {
  CellKind kind = CellKind::rnn;
  std::size_t inputs = 1, hidden = 1;
  bool linear_before_reset = false;  // gru
  bool relu = false;                 // rnn

  std::size_t gates() const { return kind == CellKind::lstm ? 4 : kind == CellKind::gru ? 3 : 1; }
};

/// Row-major; of one direction. Biases may be empty.
struct GivenWeights {
  std::span<const float> input, state;            // gates * hidden rows
  std::span<const float> input_bias, state_bias;  // gates * hidden
};

class PackedCell {
 public:
  PackedCell(const Cell& cell, const GivenWeights& weights);

  /// What a pass has per element of the batch; each with `hidden` numbers.
  struct State {
    float* h = nullptr;  // batch rows; changed
    float* c = nullptr;  // lstm; the same
  };
  struct Sequence {
    std::size_t steps = 1, batch = 1;
    bool backward = false;
    bool batch_first = false;     // of the input: the steps of a sequence follow each other
    const float* from = nullptr;  // steps * batch rows of `inputs` numbers
    float* to = nullptr;          // may be null: every new state
    std::size_t to_step = 0, to_batch = 0;  // distances of its rows, in numbers
  };
  /// All steps. Products with the inputs run on the calling thread and its OpenMP helpers.
  void run(const Sequence& sequence, const State& state) const;

 private:
  void advance(const float* sums, float* own, const State& state, std::size_t batch) const;

  Cell cell_;
  PackedMatrix input_, state_;
  PackedMatrix reset_;  // gru that resets first: of the hidden gate
  std::vector<float> input_bias_, state_bias_, reset_bias_;
};

}  // namespace millrace::kernels
