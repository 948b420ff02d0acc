#pragma once
// Operators along a sequence.
#include <array>
#include <cstdint>
#include <vector>

namespace millrace::network {

/// Sums of all elements up to each one.
struct CumSum {
  std::int64_t axis = 0;
  bool exclusive = false, reverse = false;
};

enum class RecurrentKind { rnn, gru, lstm };
enum class Direction { forward, reverse, bidirectional };
enum class GateFunction { sigmoid, tanh, relu, affine, leaky_relu, thresholded_relu, scaled_tanh,
                          hard_sigmoid, elu, softsign, softplus };
struct Gate {
  GateFunction function = GateFunction::sigmoid;
  float alpha = 0, beta = 0;
};
/// ONNX's RNN, GRU and LSTM. Inputs X, W, R, optional B, sequence lengths, first h, first c and
/// peepholes P. Outputs, all optional: all h, the last h, the last c.
struct Recurrent {
  RecurrentKind kind = RecurrentKind::rnn;
  Direction direction = Direction::forward;
  std::int64_t hidden = 0;
  bool batch_first = false;          // ONNX's layout 1
  bool linear_before_reset = false;  // gru
  bool couples_gates = false;        // lstm: the forget gate is one minus the input gate
  float clip = 0;                    // 0: none
  std::vector<Gate> gates;           // by direction: one, two or three
};

}  // namespace millrace::network
