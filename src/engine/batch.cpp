#include "engine/batch.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engine/request.h"
#include "network/batch.h"

namespace millrace::engine {
namespace {

/// A subnet together with the network that it was prepared from.
class BatchSubnet final : public Subnet {
 public:
  BatchSubnet(Engine& engine, SubnetRequest request, network::Network network)
      : network_(std::make_unique<network::Network>(std::move(network))) {
    request.network = network_.get();
    for (Port& port : request.inputs) port.layout = plain_layout((*network_)[port.tensor]);
    request.plain.assign(request.outputs.size(), true);
    subnet_ = engine.prepare(request);
  }

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

 private:
  std::unique_ptr<network::Network> network_;  // outlives the subnet, which borrows it
  std::unique_ptr<Subnet> subnet_;
};

void check_layers(const SubnetRequest& request, std::int64_t batch) {
  for (const LayerId layer : request.layers)
    if (const Verdict verdict = network::can_batch(*request.network, layer); !verdict)
      throw InputError((*request.network)[layer].name,
                       fmt::format("cannot work on {} frames at once: {}; prepare it for one",
                                   batch, verdict.reason()));
}

}  // namespace

std::unique_ptr<Subnet> prepare_batch(Engine& engine, const SubnetRequest& request,
                                      std::int64_t batch) {
  if (batch == 1) return engine.prepare(request);
  check_layers(request, batch);
  check_plain(engine, request);
  return std::make_unique<BatchSubnet>(
      engine, request, network::with_batch(*request.network, request.layers, batch));
}

}  // namespace millrace::engine
