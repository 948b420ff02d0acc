#include "engine/keeping.h"

#include <gtest/gtest.h>

#include "engine/reference/reference.h"
#include "support/network_builder.h"

namespace millrace::engine {
namespace {

/// The reference engine, and how often it was asked to prepare.
class CountingEngine final : public Engine {
 public:
  std::string name() const override { return engine_->name(); }
  std::string version() const override { return engine_->version(); }
  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor& processor) const override {
    return engine_->supports(network, layers, processor);
  }
  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    ++prepared;
    return engine_->prepare(request);
  }
  int prepared = 0;

 private:
  std::unique_ptr<Engine> engine_ = reference::make();
};

network::Network two_layers() {
  test::NetworkBuilder builder;
  TensorId x = builder.input({1, 4});
  x = builder.unary(network::UnaryKind::relu, x);
  builder.output(builder.unary(network::UnaryKind::clip, x, 0, 2));
  return builder.build();
}

const board::Processor core{"core0", board::ProcessorKind::cpu, {0}};

TEST(KeepingEngine, prepares_a_subnet_once_for_those_that_follow_each_other) {
  const network::Network network = two_layers();
  CountingEngine counting;
  const auto engine = make_keeping_engine(counting);
  const Subnet* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    const auto subnet = engine->prepare(whole_network(network, core));
    ASSERT_EQ(subnet->outputs().size(), 1u);
    first = subnet.get();
  }
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(counting.prepared, 1);
}

TEST(KeepingEngine, prepares_another_while_the_first_is_in_use) {
  const network::Network network = two_layers();
  CountingEngine counting;
  const auto engine = make_keeping_engine(counting);
  const auto one = engine->prepare(whole_network(network, core));
  const auto other = engine->prepare(whole_network(network, core));
  EXPECT_EQ(counting.prepared, 2);
}

TEST(KeepingEngine, tells_apart_what_differs_in_anything) {
  const network::Network network = two_layers();
  CountingEngine counting;
  const auto engine = make_keeping_engine(counting);
  const SubnetRequest request = whole_network(network, core);
  engine->prepare(request);
  SubnetRequest first_layer = request;
  first_layer.layers = {LayerId(0)};
  first_layer.outputs = border_of(network, first_layer.layers).outputs;
  engine->prepare(first_layer);
  SubnetRequest other_core = request;
  other_core.processor = {"core1", board::ProcessorKind::cpu, {1}};
  engine->prepare(other_core);
  const network::Network copy = two_layers();
  engine->prepare(whole_network(copy, core));
  EXPECT_EQ(counting.prepared, 4);
  engine->prepare(request);
  EXPECT_EQ(counting.prepared, 4);
}

TEST(KeepingEngine, a_kept_subnet_computes_the_same) {
  const network::Network network = two_layers();
  CountingEngine counting;
  const auto engine = make_keeping_engine(counting);
  alignas(network::tensor_alignment) const float in[4] = {1, -2, 3, -4};
  alignas(network::tensor_alignment) float out[4] = {};
  const std::byte* inputs[] = {reinterpret_cast<const std::byte*>(in)};
  std::byte* outputs[] = {reinterpret_cast<std::byte*>(out)};
  for (int i = 0; i < 2; ++i) {
    std::fill(std::begin(out), std::end(out), 7.0f);
    engine->prepare(whole_network(network, core))->run(inputs, outputs);
    EXPECT_EQ(out[0], 1);
    EXPECT_EQ(out[1], 0);
    EXPECT_EQ(out[2], 2);
    EXPECT_EQ(out[3], 0);
  }
  EXPECT_EQ(counting.prepared, 1);
}

TEST(KeepingEngine, keeps_no_more_than_so_many) {
  const network::Network network = two_layers();
  CountingEngine counting;
  const auto engine = make_keeping_engine(counting);
  const auto request_on = [&](int number) {
    return whole_network(network,
                         {"core" + std::to_string(number), board::ProcessorKind::cpu, {number}});
  };
  const int more = static_cast<int>(most_kept) + 1;
  for (int i = 0; i < more; ++i) engine->prepare(request_on(i));
  engine->prepare(request_on(more - 1));
  EXPECT_EQ(counting.prepared, more);
  engine->prepare(request_on(0));  // the oldest had to go
  EXPECT_EQ(counting.prepared, more + 1);
}

}  // namespace
}  // namespace millrace::engine
