#pragma once
// A subnet that evaluates its layers one after the other.
#include <vector>

#include "engine/engine.h"
#include "network/evaluate/evaluate.h"

namespace millrace::engine::reference {

class ReferenceSubnet : public Subnet {
 public:
  /// All layers can be evaluated, all inputs are plain.
  explicit ReferenceSubnet(const SubnetRequest& request);

  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override;
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override;
  Memory memory() const override { return {buffers_size_, buffers_size_, {}, moved_, moved_}; }

 private:
  /// A view whose memory is known only at each run.
  struct Border {
    std::size_t port;
    std::size_t view;
  };
  /// One layer; its views point into buffers, constants or, at the borders, nowhere until run.
  struct Step {
    LayerId layer;
    std::vector<network::ConstView> in;
    std::vector<network::View> out;
    std::vector<Border> from_inputs, from_outputs, to_outputs;
  };

  network::ConstView input_view(TensorId id, Step& step);
  network::View output_view(TensorId id, Step& step);
  void run_step(Step& step, std::span<const std::byte* const> in,
                std::span<std::byte* const> out) const;

  const network::Network* network_;
  std::vector<Port> inputs_, outputs_;
  std::vector<network::Buffer> buffers_;  // by tensor; empty where not needed
  Bytes buffers_size_;
  Bytes moved_;
  std::vector<Step> steps_;
};

}  // namespace millrace::engine::reference
