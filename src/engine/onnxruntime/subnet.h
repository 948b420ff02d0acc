#pragma once
// Layers as one session.
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/onnxruntime/session.h"
#include "engine/onnxruntime/shares.h"

namespace millrace::engine::onnxruntime {

class OnnxSubnet final : public Subnet {
 public:
  /// Inputs are plain. EngineError that names the first layer and the processor.
  OnnxSubnet(const Provider& provider, const SubnetRequest& request);

  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override;
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override;
  Memory memory() const override { return memory_; }

 private:
  const Provider provider_;
  const network::Network* network_;
  const board::Processor processor_;
  std::vector<LayerId> layers_;
  std::vector<Port> inputs_, outputs_;
  std::vector<TensorId> input_ids_, output_ids_;
  Memory memory_;
  std::optional<OnnxSession> session_;
  std::vector<GroupShare> shares_;  // of the time of a run; empty: not known yet
};

}  // namespace millrace::engine::onnxruntime
