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

  Verdict supports(const network::Network& network, LayerId layer,
                   const board::Processor&) const override {
    return network::can_evaluate(network, layer);
  }

  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    check_support(*this, request);
    check_plain(*this, request);
    return std::make_unique<ReferenceSubnet>(request);
  }
};

}  // namespace

std::unique_ptr<Engine> make(const EngineOptions&) { return std::make_unique<ReferenceEngine>(); }

}  // namespace millrace::engine::reference
