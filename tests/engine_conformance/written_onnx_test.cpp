// What is written as ONNX computes what the network computes: read back and run by the loops.
#include <gtest/gtest.h>

#include "agreement.h"
#include "base/random.h"
#include "cases.h"
#include "network/evaluate/evaluate.h"
#include "network/onnx_writer/write_onnx.h"
#include "network/read.h"
#include "network/simplify.h"
#include "support/varied_network.h"

namespace millrace::test {
namespace {

using namespace millrace::network;

/// Reading computes in float32 what was half precision.
double error_of_written(const Network& network) {
  Random random(5);
  const std::vector<Array> inputs = random_inputs(random, network);
  const Network written = read_onnx(write_onnx(network).bytes, "written", {});
  return largest_difference(evaluate(written, inputs), evaluate(widen_half(network), inputs));
}

class WrittenOnnx : public testing::TestWithParam<ConformanceCase> {};
INSTANTIATE_TEST_SUITE_P(each, WrittenOnnx, testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });

TEST_P(WrittenOnnx, gives_the_results_of_the_loops) {
  EXPECT_LE(error_of_written(network_of(GetParam())), 1e-6);
}

TEST(WrittenRandomOnnx, gives_the_results_of_the_loops) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const Network network = varied_network(random, 12);
    EXPECT_LE(error_of_written(network), 1e-6) << "seed " << seed << "\n" << text_of(network);
  }
}

}  // namespace
}  // namespace millrace::test
