#pragma once
// Attention as products of matrices and a softmax.
#include <cstdint>
#include <optional>

#include "formats/onnx/operators/steps.h"

namespace millrace::formats::onnx {

/// Queries, keys and values by head: batch x heads x tokens x numbers. Each head of the keys may
/// serve several heads of the queries, which follow each other.
struct Heads {
  TensorId queries, keys, values;
};

struct Scores {
  double scale = 1;
  double softcap = 0;            // above 0: scores become softcap * tanh(score / softcap)
  std::optional<TensorId> bias;  // added to the scores; what is masked is minus infinity
  bool may_mask_all = false;     // a query whose keys are all masked gives zeros
};

/// The results of the four steps; all of batch x heads x queries x keys but the last.
struct Attended {
  TensorId product, capped, biased, probabilities;
  TensorId result;  // batch x heads x queries x numbers
};

/// Puts the keys of input `past`, and the values of the one after it, before these. How many tokens
/// they are: 0 if neither is there.
std::int64_t join_past(Node& node, std::size_t past, Heads& heads);
/// InputError unless they are floating-point numbers whose shapes fit.
void check_heads(const Node& node, const Heads& heads);
Attended attend(Node& node, const Heads& heads, const Scores& scores);

/// batch x tokens x (heads * numbers) as batch x heads x tokens x numbers.
TensorId by_head(Node& node, TensorId id, std::int64_t heads);
/// And back.
TensorId without_heads(Node& node, TensorId id);

/// Adds to a bias that may not be there yet.
void add_bias(Node& node, std::optional<TensorId>& bias, TensorId more);

/// Zero where query i may see key j, else `masked`: j <= i + offset for causal attention, and
/// within the windows to the left and right of i + offset, if these are not negative.
struct Sight {
  std::int64_t queries = 0, keys = 0, offset = 0;
  bool causal = false;
  std::int64_t left = -1, right = -1;
  bool sees(std::int64_t query, std::int64_t key) const;
};
TensorId sight_bias(Node& node, const Sight& sight, float masked, DataType type);

}  // namespace millrace::formats::onnx
