#pragma once
// Which tensors of a subnet lie in 8 bits, and how.
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/onednn/primitives/quantize.h"

namespace millrace::engine::onednn {

/// Borrows the request and the topology of its whole network.
class EightBits {
 public:
  EightBits(const SubnetRequest& request, const network::Topology& topology);

  /// Whether its int8 kernel reads integers of which another than 0 stands for 0.
  bool takes_zero(LayerId id) const;
  /// In 8 bits, as the calibration says. Tensors that are concatenated in 8 bits agree on one
  /// encoding. InputError naming the tensor if the calibration lacks it.
  Quantization quantization(TensorId id) const;
  /// For a layer that reads it: the same, or symmetric if its kernel takes no other integer for 0.
  Quantization quantization(TensorId id, LayerId reader) const;
  /// By channel, if the calibration has them.
  std::span<const float> means(TensorId id) const;
  /// Whether all that reads the tensor, in this subnet or not, reads 8 bits.
  bool is_read_in_8_bits(TensorId id) const { return read_in_8_bits_[id.index]; }

 private:
  bool is_int8(LayerId id) const;
  const network::Range& range(TensorId id) const;

  const SubnetRequest& request_;
  const network::Network& network_;  // the whole
  const network::Topology& topology_;
  std::vector<bool> read_in_8_bits_;  // by tensor; only if any of the network runs in int8
};

}  // namespace millrace::engine::onednn
