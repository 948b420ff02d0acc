// What the zoo's seeded weights compute is worth comparing: finite, and not constant.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "network/evaluate/evaluate.h"

namespace millrace::formats {

using namespace network;
namespace {

class ZooValues : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(each, ZooValues, testing::Values("squeezenet1_1", "mobilenet_v1"),
                         [](const auto& test) { return std::string(test.param); });

std::vector<float> outputs_for(const Network& network, std::uint64_t seed) {
  const Tensor& input = network[network.inputs[0]];
  std::vector<float> values(static_cast<std::size_t>(element_count(input.shape)));
  Random random(seed);
  for (float& value : values) value = random.uniform(0, 1);
  const Array image = make_array<float>(input.type, input.shape, values);
  const std::vector<Array> results = evaluate(network, std::span(&image, 1));
  const auto first = results.at(0).values<float>();
  return {first.begin(), first.end()};
}

TEST_P(ZooValues, outputs_are_finite_and_depend_on_the_input) {
  const Network network = read_onnx(zoo_model(GetParam()), std::string(GetParam()), {});
  const std::vector<float> one = outputs_for(network, 1), two = outputs_for(network, 2);
  EXPECT_TRUE(std::ranges::all_of(one, [](float value) { return std::isfinite(value); }));
  const auto [low, high] = std::ranges::minmax(one);
  EXPECT_GT(high, 2 * low);
  EXPECT_NE(one, two);
}

}  // namespace
}  // namespace millrace::formats
