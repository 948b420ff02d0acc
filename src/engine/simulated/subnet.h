#pragma once
// A subnet that spins and marks its outputs.
#include <chrono>
#include <vector>

#include "engine/engine.h"

namespace millrace::engine::simulated {

class SimulatedSubnet : public Subnet {
 public:
  /// `times`: by layer of the request.
  SimulatedSubnet(const SubnetRequest& request, std::vector<Time> times);

  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override;
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override;
  Memory memory() const override { return {}; }

 private:
  void read_inputs(std::span<const std::byte* const> in);
  void mark_layer(LayerId layer);
  void write_outputs(std::span<std::byte* const> out) const;

  const network::Network* network_;
  std::vector<LayerId> layers_;
  std::vector<Time> times_;
  std::vector<Port> inputs_, outputs_;
  std::vector<std::uint64_t> marks_;  // by tensor
};

}  // namespace millrace::engine::simulated
