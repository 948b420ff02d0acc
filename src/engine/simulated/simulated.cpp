#include "engine/simulated/simulated.h"

#include "engine/request.h"
#include "engine/simulated/subnet.h"

namespace millrace::engine::simulated {
namespace {

class SimulatedEngine : public Engine {
 public:
  explicit SimulatedEngine(LayerTime time) : time_(std::move(time)) {}

  std::string name() const override { return "simulated"; }
  std::string version() const override { return "1"; }

  using Engine::supports;
  Verdict supports(const network::Network&, std::span<const LayerId>,
                   const board::Processor&) const override {
    return Verdict::yes();
  }

  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    check_support(*this, request);
    check_plain(*this, request);
    std::vector<Time> times;
    for (const LayerId layer : request.layers)
      times.push_back(time_(*request.network, layer, request.processor));
    return std::make_unique<SimulatedSubnet>(request, std::move(times));
  }

 private:
  LayerTime time_;
};

}  // namespace

Time one_gmac_per_second(const network::Network& network, LayerId layer, const board::Processor&) {
  const network::Cost cost = cost_of(network, layer);
  return Time(cost.macs + (cost.read + cost.written).count / 8);
}

std::unique_ptr<Engine> make(LayerTime time) {
  return std::make_unique<SimulatedEngine>(std::move(time));
}

std::unique_ptr<Engine> make(const EngineOptions& options) {
  refuse_settings(options, "simulated");
  return make();
}

}  // namespace millrace::engine::simulated
