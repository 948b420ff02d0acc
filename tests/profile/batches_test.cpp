#include "profile/batches.h"

#include <gtest/gtest.h>

#include "engine/registry.h"
#include "support/network_builder.h"

namespace millrace::profile {
namespace {

/// relu, then a product with a constant, then one with itself.
network::Network products() {
  test::NetworkBuilder builder;
  const TensorId x = builder.unary(network::UnaryKind::relu, builder.input({1, 6}));
  const TensorId w = builder.constant(network::Shape{6, 6});
  const TensorId y = builder.layer(network::MatMul{}, {x, w}, {1, 6});
  builder.output(builder.layer(network::Gemm{.transpose_a = true}, {y, y}, {6, 6}));
  return builder.build();
}

TEST(GainsByBatches, only_products_with_a_constant_matrix_do) {
  const network::Network network = products();
  EXPECT_FALSE(gains_by_batches(network, LayerId(0)));
  EXPECT_TRUE(gains_by_batches(network, LayerId(1)));
  EXPECT_FALSE(gains_by_batches(network, LayerId(2)));
}

TEST(MeasureBatches, times_the_layers_that_gain_on_1_to_16_frames) {
  const network::Network network = products();
  board::Board board = board::this_machine();
  board.processors.resize(1);
  const auto engine = engine::make_engine("reference");
  MeasureOptions options;
  options.warmup = 0;
  options.least = 1;
  options.duration = Time(1);
  Profile profile = measure(network, board, *engine, options);
  EXPECT_FALSE(has_batches(profile, network));
  measure_batches(profile, network, *engine, options);
  EXPECT_TRUE(has_batches(profile, network));
  const auto& layers = profile.processors[0].layers;
  EXPECT_TRUE(layers[0].batches.empty());
  ASSERT_EQ(layers[1].batches.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(layers[1].batches[i].frames, std::int64_t{1} << i);
    EXPECT_GT(layers[1].batches[i].time, Time{});
  }
}

}  // namespace
}  // namespace millrace::profile
