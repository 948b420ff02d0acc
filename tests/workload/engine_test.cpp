// What the engine's options change, and what they do not: the results.
#include <gtest/gtest.h>

#include "base/error.h"
#include "board/board.h"
#include "engine/tiled/tiled.h"
#include "network/evaluate/evaluate.h"
#include "support/message_of.h"
#include "support/network_builder.h"

namespace millrace::workload {
namespace {

using network::Network;
using Options = std::map<std::string, std::string>;

std::unique_ptr<engine::Engine> tiled_with(const Options& options) {
  engine::EngineOptions given;
  given.settings["tiled"] = options;
  return engine::tiled::make(given);
}

Network separable_network() {
  test::NetworkBuilder builder;
  TensorId x = builder.input({1, 6, 40, 40});
  for (int i = 0; i < 3; ++i) {
    x = builder.unary(
        network::UnaryKind::relu,
        builder.conv(x, builder.shape(x)[1], test::window(3, {.pad = 1}), builder.shape(x)[1]));
    x = builder.unary(network::UnaryKind::relu, builder.conv(x, 12, test::window(1)));
  }
  builder.output(x);
  return builder.build();
}

struct TiledRun {
  double difference = 0;
  std::int64_t moved = 0;
};

TiledRun run_with(const Options& options, const std::vector<int>& cores) {
  const Network network = separable_network();
  const auto engine = tiled_with(options);
  const auto subnet =
      engine->prepare(engine::whole_network(network, {.name = "cores", .cores = cores}));
  Random random(4);
  const auto inputs = test::random_inputs(random, network);
  network::Buffer output(subnet->outputs()[0].layout.size);
  const std::vector<const std::byte*> in{inputs[0].memory->data()};
  const std::vector<std::byte*> out{output.data()};
  const auto expected = network::evaluate(network, inputs);
  const auto values = expected[0].values<float>();
  TiledRun result;
  for (int repetition = 0; repetition < 3; ++repetition) {
    subnet->run(in, out);
    const auto* found = reinterpret_cast<const float*>(output.data());
    for (std::size_t i = 0; i < values.size(); ++i)
      result.difference =
          std::max(result.difference, std::abs(static_cast<double>(found[i]) - values[i]));
  }
  result.moved = subnet->memory().moved.count;
  return result;
}

constexpr double tolerance = 1e-4;

TEST(TiledEngine, moves_less_if_layers_are_fused) {
  const TiledRun fused = run_with({{"scratchpad_kib", "64"}, {"check", "yes"}}, {0});
  const TiledRun alone = run_with({{"scratchpad_kib", "64"}, {"fuse", "no"}}, {0});
  EXPECT_LE(fused.difference, tolerance);
  EXPECT_LE(alone.difference, tolerance);
  EXPECT_LT(2 * fused.moved, alone.moved);
}

TEST(TiledEngine, copies_on_a_second_core) {
  const std::vector<int> cores = board::cores_of_this_thread();
  if (cores.size() < 2) GTEST_SKIP() << "there is one core only";
  for (const char* fuse : {"yes", "no"}) {
    const TiledRun run =
        run_with({{"scratchpad_kib", "24"}, {"copy", "yes"}, {"check", "yes"}, {"fuse", fuse}},
                 {cores[0], cores[1]});
    EXPECT_LE(run.difference, tolerance);
  }
}

TEST(TiledEngine, needs_a_second_core_to_copy) {
  const std::string message = test::message_of([] { run_with({{"copy", "yes"}}, {0}); });
  EXPECT_NE(message.find("has one core; a second one is needed to copy"), std::string::npos)
      << message;
}

TEST(TiledEngine, gets_a_part_of_the_scratchpad) {
  const TiledRun part = run_with({{"scratchpad_kib", "64"}, {"parts", "4"}}, {0});
  const TiledRun same = run_with({{"scratchpad_kib", "16"}}, {0});
  EXPECT_EQ(part.moved, same.moved);
  const std::string message = test::message_of([] { run_with({{"parts", "0"}}, {0}); });
  EXPECT_NE(message.find("expected a number of networks from 1 to 64"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace millrace::workload
