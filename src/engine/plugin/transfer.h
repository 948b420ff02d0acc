#pragma once
// Tensors between the host's memory and a plug-in's.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/plugin/instance.h"
#include "engine/plugin/worker.h"
#include "millrace/engine.h"

namespace millrace::engine::plugin {

/// The first device that works in this memory. NoSuchSpace.
const PluginDevice& device_with(const Instance& instance, const std::string& space);

/// A buffer of the plug-in's in the layout's space, given back with the last copy of what is
/// returned. EngineError if it cannot be had, NoSuchSpace.
std::shared_ptr<std::byte> allocate_in(std::shared_ptr<const Instance> instance,
                                       const Layout& layout);

/// A tensor as the plug-in sees it.
struct MovedTensor {
  explicit MovedTensor(const network::Tensor& tensor);
  std::string name;
  network::Shape shape;
  MillraceTensor shown{};
};

/// Copies one tensor in each run.
class PluginTransfer final : public Subnet {
 public:
  /// NoSuchSpace.
  PluginTransfer(std::shared_ptr<const Instance> instance, const SubnetRequest& request);

  std::span<const Port> inputs() const override { return {&ports_.first, 1}; }
  std::span<const Port> outputs() const override { return {&ports_.second, 1}; }
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override;
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override;
  Memory memory() const override { return {}; }
  std::shared_ptr<std::byte> allocate(const Layout& layout) override {
    return allocate_in(instance_, layout);
  }

 private:
  MillraceBuffer buffer(const Port& port, std::byte* handle) const;
  void move(const MillraceBuffer& from, const MillraceBuffer& to);

  std::shared_ptr<const Instance> instance_;  // sharers: the engine, calls that hang
  std::pair<Port, Port> ports_;               // what it reads, what it writes
  std::shared_ptr<const MovedTensor> tensor_;  // sharers: calls that hang
  const PluginDevice& device_;                // of the instance
  std::string place_;
  Worker worker_;
};

}  // namespace millrace::engine::plugin
