// Programs between 8-bit integers: the outputs are bit by bit those of the plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "network/evaluate/evaluate.h"
#include "random_byte_network.h"
#include "random_targets.h"
#include "sample_program.h"
#include "support/network_builder.h"
#include "workload/check/check.h"
#include "workload/facts.h"

namespace millrace::workload {
namespace {

TEST(Bytes, in_tiles_of_any_memories_are_those_of_the_loops) {
  Random random(21);
  int sums = 0, by_channel = 0, whole = 0, staged = 0;
  for (int round = 0; round < 150; ++round) {
    const network::Network network = random_byte_network(random);
    const TileTarget target = random_target(random, {600, 8000});
    SCOPED_TRACE(round);
    const Program program = compile(network, target).program;
    EXPECT_EQ(violations(program), std::vector<std::string>{});
    EXPECT_EQ(violations(program, network), std::vector<std::string>{});
    const auto inputs = test::random_inputs(random, network);
    const auto expected = network::evaluate(network, inputs);
    const auto found = run_program(program, network, inputs);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(std::ranges::equal(found[i].bytes(), expected[i].bytes()));
    for (const Workload& one : program.workloads) {
      staged += facts_of(one, program.memories.size()).between > 0 ? 1 : 0;
      whole += one.remark.empty() ? 0 : 1;
      for (const Link& link : one.links) {
        sums += link.operation == TileOperation::requantize ? 1 : 0;
        by_channel += link.scaling && link.scaling->by_channel ? 1 : 0;
      }
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(sums, 20);
  EXPECT_GT(by_channel, 80);
  EXPECT_GE(staged, 10);
  EXPECT_EQ(whole, 0);
}

/// With scales of what it reads and writes.
TensorId byte_convolution(test::NetworkBuilder& builder, TensorId x,
                            std::pair<float, float> scales) {
  const auto byte = [&](std::uint8_t value) {
    return builder.constant(
        network::make_array<std::uint8_t>(network::DataType::uint8, {}, std::array{value}));
  };
  const auto scale = [&](float value) {
    return builder.constant(
        network::make_array<float>(network::DataType::float32, {}, std::array{value}));
  };
  const std::int64_t channels = builder.shape(x)[1];
  std::vector<std::uint8_t> weights(static_cast<std::size_t>(4 * channels * 9));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<std::uint8_t>(i * 7);
  const TensorId w = builder.constant(network::make_array<std::uint8_t>(
      network::DataType::int8, {4, channels, 3, 3}, weights));
  const TensorId zero = builder.constant(network::make_array<std::uint8_t>(
      network::DataType::int8, {}, std::array<std::uint8_t, 1>{0}));
  const TensorId y = builder.layer(
      network::QLinearConv{test::window(3, {.pad = 1}), 1},
      {x, scale(scales.first), byte(100), w, scale(0.25f), zero, scale(scales.second), byte(100)},
      {1, 4, 6, 6});
  return y;
}

/// Two convolutions by tensor of 8-bit integers, so that both have a scaling.
class CheckedBytes : public testing::Test {
 protected:
  CheckedBytes() {
    test::NetworkBuilder builder;
    const TensorId x = builder.input({1, 64, 6, 6}, network::DataType::uint8);
    const TensorId y = byte_convolution(builder, x, {0.5f, 2000});
    builder.output(byte_convolution(builder, y, {2000, 4e5f}));
    network_ = builder.build();
    TileTarget target;
    target.scratchpad = Bytes{900};
    program_ = compile(network_, {layers_, {}, false}, target).program;
  }

  Link& link(std::size_t workload, std::string_view name) {
    return *std::ranges::find(program_.workloads[workload].links, name,
                              [](const Link& one) { return one.name; });
  }
  void expect(const std::vector<std::string>& found, std::string_view words) {
    ASSERT_FALSE(found.empty());
    EXPECT_NE(found[0].find(words), std::string::npos) << found[0];
  }

  network::Network network_;
  std::vector<LayerId> layers_{LayerId(0), LayerId(1)};
  Program program_;
};

TEST_F(CheckedBytes, are_right_as_compiled) {
  ASSERT_EQ(program_.workloads.size(), 2u);
  EXPECT_EQ(link(0, "requantize").operation, TileOperation::requantize);
  EXPECT_EQ(violations(program_), std::vector<std::string>{});
  EXPECT_EQ(violations(program_, network_), std::vector<std::string>{});
}

TEST_F(CheckedBytes, are_read_in_other_steps_than_they_were_written) {
  link(1, "compute").scaling->input.zero = 90;
  expect(violations(program_),
         "is uint8, zero 90, scale 2000, in workload 'layer0' uint8, zero 100");
}

TEST_F(CheckedBytes, have_steps_that_are_not_the_layers) {
  link(1, "compute").scaling->output.scale *= 2;
  EXPECT_EQ(violations(program_), std::vector<std::string>{});
  expect(violations(program_, network_), "its scales and zero points are not those of the layer");
}

TEST_F(CheckedBytes, are_a_tensor_of_another_size) {
  Region& buffer = program_.workloads[1].buffers[0];
  buffer.row_bytes += 8;
  expect(violations(program_), "has 152 elements, in workload 'layer0' 144");
}

TEST(Bytes, that_are_read_in_other_steps_than_written_run_whole) {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({1, 4, 6, 6}, network::DataType::uint8);
  const TensorId y = byte_convolution(builder, x, {1, 2000});
  builder.output(byte_convolution(builder, y, {1, 2000}));
  const network::Network network = builder.build();
  const Program program = compile(network, TileTarget{}).program;
  ASSERT_EQ(program.workloads.size(), 2u);
  EXPECT_EQ(program.workloads[1].remark, "it reads a tensor in other steps than it was written in");
  EXPECT_EQ(violations(program), std::vector<std::string>{});
}

TEST_F(CheckedBytes, sum_up_in_8_bits) {
  Link& compute = link(0, "compute");
  compute.sink.element = 1;
  for (Side& side : compute.sink.sides) side.stride /= 4;
  const auto found = violations(program_);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].find("for 4 bytes long, another link for 1"), std::string::npos) << found[0];
}

TEST_F(CheckedBytes, are_requantised_without_a_scaling) {
  link(0, "requantize").scaling.reset();
  expect(violations(program_), "it requantises without a scaling");
}

TEST_F(CheckedBytes, are_finished_before_they_are_summed_up) {
  link(0, "requantize").delay -= 1;
  EXPECT_FALSE(violations(program_).empty());
}

}  // namespace
}  // namespace millrace::workload
