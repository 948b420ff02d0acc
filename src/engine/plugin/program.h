#pragma once
// A subnet that a plug-in has loaded.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/plugin/instance.h"
#include "engine/plugin/run_event.h"
#include "engine/plugin/subnet_view.h"

namespace millrace::engine::plugin {

/// What a program is loaded from, kept as long as the plug-in may read it.
struct ProgramSource {
  std::shared_ptr<const Instance> instance;  // sharers: the engine, its subnets
  const PluginDevice* device = nullptr;      // of the instance
  std::string blob;                          // empty: the plug-in reads the subnet
  std::shared_ptr<const SubnetView> view;    // sharers: a call that hangs
};

class PluginSubnet final : public Subnet {
 public:
  /// EngineError if the plug-in fails, hangs, or would write other shapes than the network has.
  /// For a device that is not here nothing is loaded, and runs fail.
  PluginSubnet(ProgramSource source, const SubnetRequest& request);
  ~PluginSubnet() override;
  PluginSubnet(const PluginSubnet&) = delete;
  PluginSubnet& operator=(const PluginSubnet&) = delete;

  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override;
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override;
  Memory memory() const override { return memory_; }
  std::shared_ptr<std::byte> allocate(const Layout& layout) override;

 private:
  struct Loaded;

  void load(const SubnetRequest& request);
  void check_outputs(const network::Network& network) const;
  void allocate_on_device();
  void call_run();
  std::int32_t run_blocking();
  std::int32_t run_with_event();
  void take_outputs(std::span<std::byte* const> out);
  void move(std::span<const std::byte* const> in, std::span<std::byte* const> out, bool into);

  std::vector<LayerId> layers_;
  std::vector<Port> inputs_, outputs_;
  std::string device_, place_;
  Memory memory_;
  std::shared_ptr<Loaded> loaded_;  // sharers: a call that hangs
  Worker worker_;                   // gone before what its calls use
  std::optional<RunEvent> event_;   // of a device that signals
};

}  // namespace millrace::engine::plugin
