#include "product/results.h"

#include <gtest/gtest.h>

#include <cmath>

namespace millrace::product {
namespace {

runtime::Result result_of(const std::vector<float>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {.outputs = {network::make_array<float>(network::DataType::float32, {1, count}, values)}};
}

TEST(Results, equal_values_are_told_in_the_order_of_their_positions) {
  network::Network network;
  network.tensors.emplace_back().name = "y";
  network.outputs = {TensorId(0)};
  std::vector<float> values(1000, 0.001f);
  const auto begins = [&] { return json_line(network, "a", result_of(values)); };
  EXPECT_NE(
      begins().find(R"("top":[{"index":0,"value":0.001},{"index":1,"value":0.001},{"index":2,)"),
      std::string::npos)
      << begins();
  values[7] = 0.002f;
  values[3] = std::nanf("");
  EXPECT_NE(
      begins().find(R"("top":[{"index":7,"value":0.002},{"index":0,"value":0.001},{"index":1,)"),
      std::string::npos)
      << begins();
}

TEST(Results, what_is_not_a_number_is_no_class) {
  const float nan = std::nanf("");
  EXPECT_EQ(top_class(result_of({nan, 1, 2, nan, 2})), 2);
  EXPECT_EQ(top_class(result_of({nan, nan})), std::nullopt);
}

}  // namespace
}  // namespace millrace::product
