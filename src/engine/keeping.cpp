#include "engine/keeping.h"

#include <algorithm>
#include <list>
#include <mutex>

namespace millrace::engine {
namespace {

/// What makes two requests the same.
struct Key {
  const network::Network* network;
  const network::Calibration* calibration;
  board::Processor processor;
  std::vector<LayerId> layers;
  std::vector<std::pair<TensorId, Layout>> inputs;
  std::vector<TensorId> outputs;
  std::vector<bool> plain;
  std::vector<board::Variant> variants;  // of these layers
  bool operator==(const Key&) const = default;
};

Key key_of(const SubnetRequest& request) {
  Key key{request.network,
          request.calibration,
          request.processor,
          request.layers,
          {},
          request.outputs,
          request.plain,
          {}};
  for (const Port& port : request.inputs) key.inputs.emplace_back(port.tensor, port.layout);
  if (!request.variants.empty())
    for (const LayerId layer : request.layers)
      key.variants.push_back(request.variants[layer.index]);
  return key;
}

/// Free subnets. Any thread.
class Shelf {
 public:
  std::unique_ptr<Subnet> take(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    if (found == kept_.end()) return nullptr;
    std::unique_ptr<Subnet> subnet = std::move(found->second);
    kept_.erase(found);
    return subnet;
  }

  void put(const Key& key, std::unique_ptr<Subnet> subnet) {
    std::unique_ptr<Subnet> oldest;  // goes without the lock
    const std::lock_guard lock(mutex_);
    kept_.emplace_back(key, std::move(subnet));
    if (kept_.size() <= most_kept) return;
    oldest = std::move(kept_.front().second);
    kept_.pop_front();
  }

 private:
  std::mutex mutex_;
  std::list<std::pair<Key, std::unique_ptr<Subnet>>> kept_;  // the oldest first
};

/// Goes back to the shelf.
class KeptSubnet final : public Subnet {
 public:
  KeptSubnet(Key key, std::unique_ptr<Subnet> subnet, std::shared_ptr<Shelf> shelf)
      : key_(std::move(key)), subnet_(std::move(subnet)), shelf_(std::move(shelf)) {}
  ~KeptSubnet() override { shelf_->put(key_, std::move(subnet_)); }
  KeptSubnet(const KeptSubnet&) = delete;
  KeptSubnet& operator=(const KeptSubnet&) = delete;

  std::span<const Port> inputs() const override { return subnet_->inputs(); }
  std::span<const Port> outputs() const override { return subnet_->outputs(); }
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override {
    subnet_->run(in, out);
  }
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override {
    return subnet_->run_timed(in, out);
  }
  Memory memory() const override { return subnet_->memory(); }
  std::shared_ptr<std::byte> allocate(const Layout& layout) override {
    return subnet_->allocate(layout);
  }

 private:
  Key key_;
  std::unique_ptr<Subnet> subnet_;
  std::shared_ptr<Shelf> shelf_;  // sharers: the engine and its subnets
};

class KeepingEngine final : public Engine {
 public:
  explicit KeepingEngine(Engine& engine) : engine_(engine) {}

  std::string name() const override { return engine_.name(); }
  std::string version() const override { return engine_.version(); }
  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor& processor) const override {
    return engine_.supports(network, layers, processor);
  }
  std::vector<board::Variant> variants(const network::Network& network, LayerId layer,
                                       const board::Processor& processor) const override {
    return engine_.variants(network, layer, processor);
  }
  std::optional<Traits> traits(const board::Processor& processor) const override {
    return engine_.traits(processor);
  }
  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    Key key = key_of(request);
    std::unique_ptr<Subnet> subnet = shelf_->take(key);
    if (!subnet) subnet = engine_.prepare(request);
    return std::make_unique<KeptSubnet>(std::move(key), std::move(subnet), shelf_);
  }

 private:
  Engine& engine_;
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();  // sharers: the subnets
};

}  // namespace

std::unique_ptr<Engine> make_keeping_engine(Engine& engine) {
  return std::make_unique<KeepingEngine>(engine);
}

}  // namespace millrace::engine
