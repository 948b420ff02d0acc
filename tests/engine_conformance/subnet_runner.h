#pragma once
// Runs prepared subnets on arrays.
#include <map>
#include <vector>

#include "engine/engine.h"

namespace millrace::test {

/// A subnet with plain borders, its inputs and outputs as arrays in the order of the network's.
class SubnetRunner {
 public:
  SubnetRunner(engine::Engine& engine, const engine::SubnetRequest& request);

  std::vector<network::Array> run(const std::vector<network::Array>& inputs);
  /// The results go into `outputs`.
  std::vector<engine::GroupTime> run_timed(const std::vector<network::Array>& inputs,
                                           std::vector<network::Array>& outputs);
  engine::Memory memory() const { return subnet_->memory(); }

 private:
  std::vector<const std::byte*> input_pointers(const std::vector<network::Array>& inputs) const;
  std::vector<std::byte*> fresh_outputs();
  std::vector<network::Array> take_outputs();

  const network::Network& network_;
  std::unique_ptr<engine::Subnet> subnet_;
  std::map<TensorId, network::Buffer> results_;
};

/// How a network is cut into subnets.
struct Cut {
  const network::Network& network;
  board::Processor processor;
  std::size_t run_length = 1;  // layers per subnet
  bool plain = false;          // between subnets; else the engine's own layouts
};

/// Runs the subnets one after the other, handing tensors on in the layouts that they come in.
std::vector<network::Array> run_in_parts(engine::Engine& engine, const Cut& cut,
                                         const std::vector<network::Array>& inputs);

/// Runs all frames in one run of a subnet prepared for so many; the results of each.
std::vector<std::vector<network::Array>> run_at_once(
    engine::Engine& engine, const engine::SubnetRequest& request,
    const std::vector<std::vector<network::Array>>& frames);

}  // namespace millrace::test
