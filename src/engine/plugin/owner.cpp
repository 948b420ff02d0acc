#include "engine/plugin/owner.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/plugin/devices.h"
#include "engine/plugin/opened.h"
#include "engine/plugin/plugin.h"
#include "network/evaluate/evaluate.h"

namespace millrace::engine::plugin {
namespace {

using network::ConstView;
using network::Network;
using network::Opaque;
using network::View;

network::Shape shape_of(std::span<const std::int64_t> sizes) {
  return {sizes.begin(), sizes.end()};
}

network::Array copy_of(const ConstView& view) {
  const Bytes size = network::size_of(view.type) * network::element_count(shape_of(view.shape));
  network::Buffer memory = network::Buffer::uninitialized(size);
  std::copy_n(view.data, size.count, memory.data());
  return make_array(view.type, shape_of(view.shape), std::move(memory));
}

/// The layer by itself. Constants are copied.
Network network_of(const Opaque& op, std::span<const ConstView> in, std::span<const View> out) {
  Network result;
  result.name = op.name;
  network::Layer layer{op.name, op, {}, {}};
  for (std::size_t i = 0; i < in.size(); ++i) {
    layer.inputs.emplace_back(result.tensors.size());
    result.tensors.push_back({op.inputs[i], in[i].type, shape_of(in[i].shape), std::nullopt});
    if (op.constant[i])
      result.tensors.back().constant = copy_of(in[i]);
    else
      result.inputs.push_back(layer.inputs.back());
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i].present()) {
      layer.outputs.emplace_back();
      continue;
    }
    layer.outputs.emplace_back(result.tensors.size());
    result.tensors.push_back({op.outputs[i], out[i].type, shape_of(out[i].shape), std::nullopt});
    result.outputs.push_back(layer.outputs.back());
  }
  result.layers.push_back(std::move(layer));
  return result;
}

/// A layer that is ready to run.
struct Ready {
  Network network;
  std::unique_ptr<Subnet> subnet;
};

/// The layer, and types and shapes of what it is given.
struct Key {
  std::shared_ptr<const std::string> model;
  std::vector<std::int64_t> sizes;
  auto operator<=>(const Key&) const = default;
};

Key key_of(const Opaque& op, std::span<const ConstView> in, std::span<const View> out) {
  Key key{op.model, {}};
  const auto add = [&](const auto& view) {
    key.sizes.push_back(view.present() ? static_cast<std::int64_t>(view.type) : -1);
    key.sizes.push_back(std::ssize(view.shape));
    key.sizes.insert(key.sizes.end(), view.shape.begin(), view.shape.end());
  };
  for (const ConstView& view : in) add(view);
  for (const View& view : out) add(view);
  return key;
}

class Owner final : public network::OperatorOwner {
 public:
  Owner(const std::string& name, const EngineOptions& options)
      : name_(name), engine_(make(name, options)), processor_(processor_of(*open(name, options))) {}

  std::string name() const override { return name_; }

  void run(const Opaque& op, std::span<const ConstView> in,
           std::span<const View> out) const override {
    const Key key = key_of(op, in, out);
    std::unique_ptr<Ready> ready = take(key);
    if (!ready) ready = prepare(network_of(op, in, out));
    std::vector<const std::byte*> from;
    std::vector<std::byte*> to;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!op.constant[i]) from.push_back(in[i].data);
    for (const View& view : out)
      if (view.present()) to.push_back(view.data);
    ready->subnet->run(from, to);
    keep(key, std::move(ready));
  }

 private:
  /// A core of any number; without cores the plug-in has any device.
  static board::Processor processor_of(const Instance& instance) {
    board::Processor processor;
    processor.name = "core0";
    if (instance.devices().empty()) return processor;
    for (const PluginDevice& device : instance.devices())
      if (device.kind == millrace_cores) return processor;
    processor.name = instance.devices().front().name;
    processor.kind = kind_of(instance.devices().front());
    return processor;
  }

  std::unique_ptr<Ready> prepare(Network network) const {
    auto ready = std::make_unique<Ready>(Ready{std::move(network), nullptr});
    ready->subnet = engine_->prepare(whole_network(ready->network, processor_));
    return ready;
  }

  std::unique_ptr<Ready> take(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto at = ready_.find(key);
    if (at == ready_.end() || at->second.empty()) return nullptr;
    std::unique_ptr<Ready> ready = std::move(at->second.back());
    at->second.pop_back();
    return ready;
  }

  void keep(const Key& key, std::unique_ptr<Ready> ready) const {
    constexpr std::size_t most_kept = 256;  // where sizes change from frame to frame
    const std::lock_guard lock(mutex_);
    if (ready_.size() > most_kept) ready_.clear();
    ready_[key].push_back(std::move(ready));
  }

  const std::string name_;
  const std::unique_ptr<Engine> engine_;
  const board::Processor processor_;
  mutable std::mutex mutex_;
  mutable std::map<Key, std::vector<std::unique_ptr<Ready>>> ready_;
};

}  // namespace

std::shared_ptr<const network::OperatorOwner> make_owner(const std::string& name,
                                                         const EngineOptions& options) {
  return std::make_shared<const Owner>(name, options);
}

}  // namespace millrace::engine::plugin
