// Ways to run a layer that this machine has not are refused, and named.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/onednn/onednn.h"
#include "nets.h"

namespace millrace::engine::onednn {
namespace {

using namespace test::onednn;  // NOLINT: the vocabulary of these tests
using board::Precision;
using board::Variant;

/// A convolution.
network::Network network_to_refuse() {
  Net net;
  net.output(net.conv(net.input({1, 3, 28, 28}), 32, 3));
  return net.build();
}

void expect_refused(const Variant& variant, const std::string& words) {
  const network::Network network = network_to_refuse();
  SubnetRequest request = whole_network(network, cores());
  request.variants = {variant};
  try {
    make()->prepare(request);
    FAIL() << "prepared";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

bool is_offered(Precision precision) {
  const network::Network network = network_to_refuse();
  return std::ranges::count(make()->variants(network, LayerId(0), cores()), precision,
                            &Variant::precision) > 0;
}

TEST(RefusedWays, float16_where_it_is_not_offered) {
  if (is_offered(Precision::f16)) GTEST_SKIP() << "it is offered here";
  expect_refused({Precision::f16, {}}, "millrace plan");
}

#if defined(__aarch64__)  // elsewhere oneDNN imitates it
TEST(RefusedWays, bfloat16_where_it_is_not_offered) {
  if (is_offered(Precision::bf16)) GTEST_SKIP() << "it is offered here";
  expect_refused({Precision::bf16, {}}, "'bf16' in 'millrace board'");
}
#endif

TEST(RefusedWays, an_algorithm_that_is_not_there_is_named) {
  expect_refused({Precision::f32, "magic"}, "'magic'");
}

}  // namespace
}  // namespace millrace::engine::onednn
