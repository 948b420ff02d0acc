#include "engine/reference/reference.h"

#include "engine/reference/subnet.h"
#include "engine/request.h"
#include "network/evaluate/evaluate.h"

namespace millrace::engine::reference {
namespace {

class ReferenceEngine : public Engine {
 public:
  std::string name() const override { return "reference"; }
  std::string version() const override { return "1"; }

  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor&) const override {
    return all_of(layers, [&](LayerId layer) { return network::can_evaluate(network, layer); });
  }

  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    check_support(*this, request);
    check_plain(*this, request);
    return std::make_unique<ReferenceSubnet>(request);
  }
};

}  // namespace

std::unique_ptr<Engine> make(const EngineOptions& options) {
  refuse_settings(options, "reference");
  return std::make_unique<ReferenceEngine>();
}

}  // namespace millrace::engine::reference
