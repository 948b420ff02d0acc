#pragma once
// Which layers run as one kernel.
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "network/network.h"

namespace millrace::engine {

/// Layers whose work is done on the result of the layer before them, before it is stored.
struct Fused {
  /// attention: what is multiplied or added to products of matrices, if anything, the softmax of
  /// their rows, and the product of that with the operand.
  enum class Kind { unary, swish, hard_swish, binary, residual, attention };
  Kind kind = Kind::unary;
  std::vector<LayerId> layers;  // one; for x * sigmoid(x) two; for attention two to four
  TensorId operand;             // the other input of a binary; a residual is added whole
  TensorId result;
};

/// A layer and what is fused into it, of which at most one is a residual. It runs when its last
/// layer would: by then every operand is there.
struct Group {
  LayerId head;
  std::vector<Fused> tail;
};
std::vector<LayerId> layers_of(const Group& group);
TensorId result_of(const network::Network& network, const Group& group);

/// The part of a network that is looked at.
struct Scope {
  const network::Network* network = nullptr;
  std::span<const LayerId> layers;    // ascending
  std::span<const TensorId> outputs;  // must exist outside: never inside a group
};
/// Whether a kernel can do the whole group.
using Accepts = std::function<bool(const Group&)>;

/// Every layer in exactly one group, in an order in which they can run. Groups grow as long as
/// `accepts` says yes; a layer alone is never asked about. Where two heads meet in one addition
/// the later one takes it.
std::vector<Group> make_groups(const Scope& scope, const Accepts& accepts);

/// The group of Fused::Kind::attention that this layer would lead, if kernels can do all of it.
std::optional<Group> attention_led_by(const Scope& scope, LayerId head, const Accepts& accepts);

}  // namespace millrace::engine
