#pragma once
// Which operators can be lowered, by topic.
#include <cstddef>
#include <span>
#include <string_view>

namespace millrace::formats::onnx {

class Node;

struct OperatorEntry {
  std::string_view name;
  void (*lower)(Node&);
  std::size_t least_inputs, most_inputs;
  std::string_view attributes;  // with spaces between them
};

inline constexpr std::size_t any_number = 1 << 20;

/// Each in the order of names.
std::span<const OperatorEntry> element_operators();        // functions, comparisons, logic
std::span<const OperatorEntry> repetition_operators();     // Expand, Tile, Range and other patterns
std::span<const OperatorEntry> indexing_operators();       // GatherElements, TopK, OneHot, ...
std::span<const OperatorEntry> normalization_operators();  // over layers, groups and instances
std::span<const OperatorEntry> sequence_operators();       // RNN, GRU, LSTM, CumSum
std::span<const OperatorEntry> attention_operators();      // Attention, RotaryEmbedding
std::span<const OperatorEntry> deformed_operators();       // DeformConv
std::span<const OperatorEntry> fused_operators();          // of ONNX Runtime's optimisers
std::span<const OperatorEntry> optimised_operators();      // of its optimiser, layers of a network
std::span<const OperatorEntry> learned_operators();        // of ai.onnx.ml
std::span<const OperatorEntry> quantized_operators();      // of ONNX Runtime's quantiser
std::span<const OperatorEntry> rearranged_operators();     // that only move elements
std::span<const OperatorEntry> loss_operators();           // of classifiers
std::span<const OperatorEntry> lp_pool_operators();        // LpPool, GlobalLpPool
std::span<const OperatorEntry> spectrum_operators();       // DFT, STFT
std::span<const OperatorEntry> vision_operators();  // of images, boxes and grids

/// Einsum, as products of matrices, transpositions and sums.
void lower_einsum(Node& node);

}  // namespace millrace::formats::onnx
