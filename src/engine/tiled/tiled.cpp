#include "engine/tiled/tiled.h"

#include "engine/request.h"
#include "engine/tiled/settings.h"
#include "engine/tiled/subnet.h"
#include "network/evaluate/evaluate.h"

namespace millrace::engine::tiled {
namespace {

class TiledEngine : public Engine {
 public:
  explicit TiledEngine(TiledSettings settings) : settings_(std::move(settings)) {}

  std::string name() const override { return "tiled"; }
  std::string version() const override { return "4"; }

  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor&) const override {
    return all_of(layers, [&](LayerId layer) { return network::can_evaluate(network, layer); });
  }

  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    check_support(*this, request);
    check_plain(*this, request);
    return std::make_unique<TiledSubnet>(request, settings_);
  }

 private:
  TiledSettings settings_;
};

}  // namespace

std::unique_ptr<Engine> make(const EngineOptions& options) {
  return std::make_unique<TiledEngine>(settings_of(options));
}

}  // namespace millrace::engine::tiled
