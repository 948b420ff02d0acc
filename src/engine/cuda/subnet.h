#pragma once
// Layers as one graph of kernels, which the GPU runs by itself.
#include <memory>
#include <optional>
#include <vector>

#include "engine/cuda/device/gpu.h"
#include "engine/cuda/program.h"
#include "engine/engine.h"

namespace millrace::engine::cuda {

class CudaSubnet final : public Subnet {
 public:
  /// `gpu` is shared with the engine and all subnets on it. Ports may lie in the memory space that
  /// has the processor's name. EngineError that names the first layer and the processor.
  CudaSubnet(std::shared_ptr<Gpu> gpu, const SubnetRequest& request);
  ~CudaSubnet() override;

  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override;
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override;
  Memory memory() const override { return memory_; }
  std::shared_ptr<std::byte> allocate(const Layout& layout) override;

 private:
  using Graph = Owned<ExecutableGraphObject>;

  void prepare(const SubnetRequest& request);
  void lay_out();
  void start_steps(bool with_events);
  void start_all(bool with_events);
  Graph capture(bool with_events);
  void run_graph(const Graph& graph, std::span<const std::byte* const> in,
                 std::span<std::byte* const> out);
  Time time_of_group(std::size_t group) const;
  void check_faults() const;
  [[noreturn]] void fail(const std::string& reason) const;

  std::shared_ptr<Gpu> gpu_;
  std::string space_;  // the GPU's memory, by the processor's name
  std::string place_;  // the first layer and the processor, for errors
  std::vector<Port> inputs_, outputs_;
  Program program_;
  Memory memory_;
  DeviceMemory arena_;
  std::vector<Address> addresses_;  // by storage
  // By port, what the GPU copies from and to; nothing for a port in its own memory.
  std::vector<PinnedMemory> sent_, received_;
  std::vector<PinnedMemory> faults_;
  Owned<StreamObject> stream_;
  Owned<EventObject> done_;
  std::vector<Owned<EventObject>> between_;  // the groups; made when times are first asked for
  Graph graph_, timed_graph_;
};

}  // namespace millrace::engine::cuda
