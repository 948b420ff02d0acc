#pragma once
// A subnet that runs its layers' workloads one after the other.
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/tiled/copy_thread.h"
#include "engine/tiled/settings.h"
#include "workload/compile.h"
#include "workload/executable.h"

namespace millrace::engine::tiled {

class TiledSubnet : public Subnet {
 public:
  /// All layers can be evaluated, all inputs are plain. InputError if the scratchpad is too small.
  TiledSubnet(const SubnetRequest& request, const TiledSettings& settings);

  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override;
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override;
  Memory memory() const override;

 private:
  void run(workload::Executable& executable);
  void make_tensors(const SubnetRequest& request);
  bool is_between(LayerId layer) const;
  void set_borders(std::span<const std::byte* const> in, std::span<std::byte* const> out);

  const network::Network* network_;
  std::vector<Port> inputs_, outputs_;
  workload::Compiled compiled_;
  workload::FastMemories memories_;
  std::vector<workload::Executable> executables_;  // by workload
  std::vector<network::Buffer> buffers_;           // by tensor; empty where not needed
  workload::TensorTable tensors_;
  Bytes buffers_size_, moved_, moved_layer_by_layer_;
  std::unique_ptr<CopyThread> copy_thread_;  // null: transfers are copies on the calling thread
};

}  // namespace millrace::engine::tiled
