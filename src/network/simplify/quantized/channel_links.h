#pragma once
// Inside the room: which channels of a network's tensors can only be multiplied together.
#include <cstddef>
#include <vector>

#include "network/network.h"

namespace millrace::network {

/// All channels (dimension 1) of float32 tensors, numbered one tensor after the other, in classes
/// that share a factor.
class ChannelLinks {
 public:
  /// Each channel is a class of its own.
  explicit ChannelLinks(const Network& network);

  std::size_t count() const { return parent_.size(); }
  std::size_t count(TensorId tensor) const { return size_[tensor.index]; }
  /// Precondition: the tensor has this channel.
  std::size_t class_of(TensorId tensor, std::size_t channel);
  /// Whether the channels of the class keep their factor of 1.
  bool is_fixed(std::size_t its_class) const { return fixed_[its_class]; }

  void join(TensorId a, std::size_t channel_of_a, TensorId b, std::size_t channel_of_b);
  /// Channel by channel; all are fixed if there are not as many.
  void join(TensorId a, TensorId b);
  void fix(TensorId tensor);

 private:
  std::vector<std::size_t> begin_, size_;  // by tensor
  std::vector<std::size_t> parent_;        // by channel of all tensors; a class is its own parent
  std::vector<bool> fixed_;                // by class
};

/// Joins what the layer passes on in proportion, and fixes what it does not.
void link_channels(ChannelLinks& links, const Network& network, const Layer& layer);

}  // namespace millrace::network
