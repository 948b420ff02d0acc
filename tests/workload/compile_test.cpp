#include "workload/compile.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "sample_program.h"
#include "support/message_of.h"
#include "support/network_builder.h"

namespace millrace::workload {
namespace {

TEST(Compile, says_how_much_the_smallest_tile_needs) {
  TileTarget target;
  target.scratchpad = Bytes{64};
  try {
    compile(sample_network(), target);
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("the scratchpad has 64 bytes; the smallest tile"),
              std::string::npos)
        << error.what();
  }
}

TEST(Compile, fits_what_the_smallest_tile_needs) {
  TileTarget target;
  target.scratchpad = Bytes{64};
  std::int64_t needed = 0;
  try {
    compile(sample_network(), target);
  } catch (const InputError& error) {
    const std::string text = error.what();
    needed = std::stoll(text.substr(text.rfind(' ') + 1));
  }
  target.scratchpad = Bytes{needed};
  expect_equal_to_the_loops(sample_network(), target);
}

TEST(Compile, keeps_weights_where_they_fit) {
  TileTarget target;
  target.scratchpad = Bytes{64 * 1024};
  const Compiled compiled = compile(sample_network(), target);
  EXPECT_EQ(compiled.tilings[0].cost.traffic, compiled.tilings[0].bound.traffic);
}

TEST(Compile, moves_more_with_less_memory) {
  std::int64_t last = 0;
  for (const std::int64_t kib : {64, 16, 8, 4, 2}) {
    TileTarget target;
    target.scratchpad = Bytes{kib * 1024};
    const TilingCost cost = compile(sample_network(), target).tilings[0].cost;
    EXPECT_LE(cost.scratch, target.scratchpad.count);
    EXPECT_GE(cost.traffic, last);
    last = cost.traffic;
  }
}

TEST(Compile, is_never_faster_than_its_lower_bound) {
  for (const bool may_overlap : {false, true}) {
    TileTarget target = sample_target();
    target.may_overlap = may_overlap;
    const LayerTiling tiling = compile(sample_network(), target).tilings[0];
    EXPECT_GE(tiling.cost.seconds, tiling.bound.compute_seconds);
    EXPECT_GE(tiling.cost.seconds, tiling.bound.transfer_seconds);
    EXPECT_EQ(tiling.tiling.overlapped, may_overlap);
  }
}

/// Pieces of one tile, with kernels that take a second for each piece or row of numbers only.
double pieces_of_the_first_layer(const network::Network& network) {
  TileTarget target;
  target.macs_per_second = target.window_numbers_per_second = 1e30;
  target.pixels_together = 32;
  target.outputs_together = 4;
  target.gathered_piece_seconds = target.window_row_seconds = 1;
  const LayerGeometry geometry = geometry_of(network, LayerId(0), 4);
  return kernel_seconds(geometry, {geometry.totals, false, false}, target);
}

TEST(Compile, counts_the_rows_that_kernels_put_in_place) {
  const auto convolution = [](std::int64_t kernel, const test::WindowOptions& options) {
    test::NetworkBuilder builder;
    builder.output(builder.conv(builder.input({1, 3, 10, 10}), 5, test::window(kernel, options)));
    return builder.build();
  };
  // 27 numbers under a window. 100 pixels: four lots that begin anew in each of ten rows. Five
  // outputs: twice.
  EXPECT_NEAR(pieces_of_the_first_layer(convolution(3, {.pad = 1})), 27 * (4 + 10) * 2, 1e-6);
  EXPECT_NEAR(pieces_of_the_first_layer(convolution(1, {})), 3 * 4 * 2, 1e-6);
  test::NetworkBuilder builder;
  const TensorId x = builder.input({1, 3, 9, 9});
  builder.output(builder.conv(x, 3, test::window(3, {.stride = 2, .pad = 1}), 3));
  // Three channels: eleven rows of two phases of columns, then five rows of the output.
  EXPECT_NEAR(pieces_of_the_first_layer(builder.build()), 3 * (11 * 2 + 5), 1e-6);
}

TEST(Compile, computes_an_activation_with_its_convolution) {
  test::NetworkBuilder builder;
  const TensorId x = builder.conv(builder.input({1, 4, 8, 8}), 4, test::window(3));
  builder.output(builder.unary(network::UnaryKind::relu, x));
  network::Network network = builder.build();
  const Compiled joined = compile(network, TileTarget{});
  ASSERT_EQ(joined.program.workloads.size(), 1u);
  EXPECT_EQ(joined.tilings[0].activation, LayerId(1));
  const std::vector<LayerId> layers{LayerId(0), LayerId(1)};
  const std::vector<TensorId> kept{x};
  EXPECT_EQ(compile(network, {layers, kept}, TileTarget{}).program.workloads.size(), 2u);
  network.outputs.push_back(x);
  EXPECT_EQ(compile(network, TileTarget{}).program.workloads.size(), 2u);
}

TEST(Compile, says_why_a_layer_has_no_tiles) {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({1, 4, 5});
  network::Softmax softmax;
  softmax.axis = 2;
  softmax.end = 3;
  builder.output(builder.layer(softmax, {x}, {1, 4, 5}));
  const Compiled compiled = compile(builder.build(), TileTarget{});
  EXPECT_FALSE(compiled.tilings[0].tiled);
  EXPECT_EQ(compiled.program.workloads[0].remark, "Softmax has no kernel on tiles");
}

}  // namespace
}  // namespace millrace::workload
