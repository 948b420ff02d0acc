// Layers that are divided give what the whole gives.
#include "network/simplify/divide.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "network/simplify/simplified.h"

namespace millrace::network {
namespace {

std::vector<std::string> names_of(const Network& network) {
  std::vector<std::string> names;
  for (const Layer& layer : network.layers) names.push_back(layer.name);
  return names;
}

/// The parts compute the same sums in the same order.
void expect_same_bits(Maker& maker, const Division& division) {
  const Network parts = divided(maker.network, division);
  validate(parts);
  const std::vector<Array> frame{maker.frame(maker.network[maker.network.inputs[0]].shape)};
  EXPECT_EQ(evaluate(parts, frame), evaluate(maker.network, frame));
}

TEST(Divide, products_of_rows_of_columns_and_convolutions_keep_their_bits) {
  Maker maker;
  const TensorId image =
      maker.layer(Conv{window_of_3(), 1},
                  {maker.input({1, 3, 5, 5}), maker.constant({35, 3, 3, 3}), maker.constant({35})},
                  {1, 35, 5, 5});
  const TensorId flat = maker.layer(Reshape{}, {image}, {1, 875});
  const TensorId rows =
      maker.layer(Gemm{.transpose_b = true, .alpha = 0.5f, .beta = 2},
                  {flat, maker.constant({70, 875}), maker.constant({70})}, {1, 70});
  const TensorId columns =
      maker.layer(Gemm{}, {rows, maker.constant({70, 33}), maker.constant({1, 1})}, {1, 33});
  maker.network.outputs = {maker.layer(MatMul{}, {columns, maker.constant({33, 5})}, {1, 5})};
  expect_same_bits(maker, {{"layer0", 2}, {"layer2", 3}, {"layer3", 2}, {"layer4", 2}});
}

TEST(Divide, a_function_that_alone_reads_the_result_comes_before_the_joining) {
  Maker maker;
  const TensorId sum = maker.layer(Gemm{.transpose_b = true},
                                   {maker.input({1, 8}), maker.constant({64, 8})}, {1, 64});
  maker.network.outputs = {maker.layer(Unary{UnaryKind::relu}, {sum}, {1, 64})};
  expect_same_bits(maker, {{"layer0", 2}});
  EXPECT_EQ(names_of(divided(maker.network, {{"layer0", 2}})),
            (std::vector<std::string>{"layer0/part1", "layer0/part2", "layer1/part1",
                                      "layer1/part2", "layer0/joined"}));
}

TEST(Divide, a_result_that_others_read_is_joined_at_once) {
  Maker maker;
  const TensorId sum = maker.layer(Gemm{.transpose_b = true},
                                   {maker.input({1, 8}), maker.constant({64, 8})}, {1, 64});
  maker.network.outputs = {maker.layer(Unary{UnaryKind::relu}, {sum}, {1, 64}), sum};
  expect_same_bits(maker, {{"layer0", 2}});
}

TEST(Divide, rows_share_the_memory_of_the_whole) {
  Maker maker;
  const TensorId weights = maker.constant({64, 16});
  maker.network.outputs = {
      maker.layer(Gemm{.transpose_b = true}, {maker.input({1, 16}), weights}, {1, 64})};
  const std::byte* const whole = maker.network[weights].constant->bytes().data();
  const Network parts = divided(maker.network, {{"layer0", 2}});
  const auto at = [&](std::size_t layer) {
    return parts[parts.layers[layer].inputs[1]].constant->bytes().data();
  };
  EXPECT_EQ(at(0), whole);
  EXPECT_EQ(at(1), whole + 32 * 16 * sizeof(float));
}

TEST(Divide, what_cannot_be_divided_says_why) {
  Maker maker;
  const TensorId grouped =
      maker.layer(Conv{window_of_3(), 2}, {maker.input({1, 4, 5, 5}), maker.constant({8, 2, 3, 3})},
                  {1, 8, 5, 5});
  maker.network.outputs = {maker.layer(Unary{UnaryKind::relu}, {grouped}, {1, 8, 5, 5})};
  EXPECT_EQ(can_be_divided(maker.network, LayerId(0), 2).reason(), "its channels are in groups");
  EXPECT_THROW(divided(maker.network, {{"layer1", 2}}), InputError);
  EXPECT_THROW(divided(maker.network, {{"fc6", 2}}), InputError);
}

}  // namespace
}  // namespace millrace::network
