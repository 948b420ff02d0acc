#include "runtime/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "network/evaluate/evaluate.h"
#include "support/network_builder.h"

namespace millrace::runtime {
namespace {

using network::Array;
using test::NetworkBuilder;

constexpr double tolerance = 1e-4;

/// Whether these values are as good as what float32 gives.
bool agree(const network::Network& network, const std::vector<Array>& inputs,
           const std::vector<float>& found) {
  const Frames reference{network::evaluate(network, inputs)};
  const Array& like = reference[0][0];
  const Frames results{{network::make_array<float>(like.type, like.shape, found)}};
  return Float64Reference(network, {inputs}, reference).beside(results).agrees(tolerance);
}

std::vector<float> moved(const network::Network& network, const std::vector<Array>& inputs,
                         float by) {
  const auto outputs = network::evaluate(network, inputs);
  const auto values = outputs.at(0).values<float>();
  std::vector<float> result(values.begin(), values.end());
  for (float& value : result) value += by;
  return result;
}

/// x + 100000 - 100000: a float32 sum near 100000 is rounded by up to 0.004.
TEST(Float64Reference, allows_what_float32_loses_and_no_more) {
  NetworkBuilder builder;
  const TensorId up = builder.constant({1, 64}, {1e5, 1e5});
  const TensorId sum = builder.binary(network::BinaryKind::add, builder.input({1, 64}), up);
  builder.output(builder.binary(network::BinaryKind::sub, sum, up));
  const network::Network network = builder.build();
  Random random(1);
  const auto inputs = test::random_inputs(random, network);
  EXPECT_TRUE(agree(network, inputs, moved(network, inputs, 0.004f)));
  EXPECT_FALSE(agree(network, inputs, moved(network, inputs, 0.06f)));
}

/// Libraries add one half to what they compute of a logistic function.
TEST(Float64Reference, allows_formulas_that_add_small_results_to_one) {
  NetworkBuilder builder;
  builder.output(builder.unary(network::UnaryKind::sigmoid, builder.input({1, 64})));
  const network::Network network = builder.build();
  Random random(1);
  const std::vector<Array> inputs{
      test::random_array(random, network::DataType::float32, {1, 64}, {-12, -9})};
  EXPECT_TRUE(agree(network, inputs, moved(network, inputs, 6e-8f)));
  EXPECT_FALSE(agree(network, inputs, moved(network, inputs, 1e-6f)));
}

TEST(Float64Reference, allows_no_nan_that_float64_does_not_give) {
  NetworkBuilder builder;
  builder.output(builder.unary(network::UnaryKind::sqrt, builder.input({1, 2})));
  const network::Network network = builder.build();
  const std::vector<float> values{1, 4};
  const std::vector<Array> inputs{
      network::make_array<float>(network::DataType::float32, {1, 2}, values)};
  EXPECT_TRUE(agree(network, inputs, {1, 2}));
  EXPECT_FALSE(agree(network, inputs, {1, std::nanf("")}));
  EXPECT_FALSE(agree(network, inputs, {1, INFINITY}));
}

}  // namespace
}  // namespace millrace::runtime
