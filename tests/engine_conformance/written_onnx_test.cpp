// What is written as ONNX computes what the network computes: read back and run by the loops.
#include <gtest/gtest.h>

#include <map>

#include "agreement.h"
#include "base/random.h"
#include "cases.h"
#include "engine/engine.h"
#include "formats/onnx_writer/write_onnx.h"
#include "formats/read.h"
#include "network/evaluate/evaluate.h"
#include "network/simplify/simplify.h"
#include "support/varied_network.h"

namespace millrace::test {
namespace {

using namespace millrace::network;

/// Reading computes in float32 what was half precision.
double error_of_written(const Network& network, const formats::OnnxWriting& how = {}) {
  Random random(5);
  const std::vector<Array> inputs = random_inputs(random, network);
  const std::string bytes = formats::write_onnx(network, how).bytes;
  const Network written = formats::read_onnx(bytes, "written", {});
  return largest_difference(evaluate(written, inputs), evaluate(widen_half(network), inputs));
}

class WrittenOnnx : public testing::TestWithParam<ConformanceCase> {};
INSTANTIATE_TEST_SUITE_P(each, WrittenOnnx, testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });

TEST_P(WrittenOnnx, gives_the_results_of_the_loops) {
  EXPECT_LE(error_of_written(network_of(GetParam())), 1e-6);
}

TEST_P(WrittenOnnx, gives_the_results_of_the_loops_if_quantised_in_pairs) {
  const Network network = network_of(GetParam());
  const formats::OnnxWriting how{.quantized_in_pairs = true};
  if (formats::write_onnx(network, how).bytes == formats::write_onnx(network).bytes)
    GTEST_SKIP() << "has no products of quantised tensors";
  EXPECT_LE(error_of_written(network, how), 1e-6);
}

TEST(WrittenRandomOnnx, gives_the_results_of_the_loops) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const Network network = varied_network(random, 12);
    EXPECT_LE(error_of_written(network), 1e-6) << "seed " << seed << "\n" << text_of(network);
  }
}

/// The values of all tensors as far as they are known.
using Values = std::map<TensorId, Array>;

/// Computes layers [first, last) from their model.
void compute_part(const Network& network, std::pair<std::size_t, std::size_t> range,
                  Values& values) {
  std::vector<LayerId> layers;
  for (std::size_t i = range.first; i < range.second; ++i) layers.emplace_back(i);
  const engine::Border border = engine::border_of(network, layers);
  if (border.outputs.empty()) return;
  const formats::OnnxModel model =
      formats::write_onnx(network, {layers, border.inputs, border.outputs});
  const Network written = formats::read_onnx(model.bytes, "part", {});
  std::vector<Array> inputs;
  for (const TensorId id : border.inputs) inputs.push_back(values.at(id));
  const std::vector<Array> outputs = evaluate(written, inputs);
  for (std::size_t i = 0; i < border.outputs.size(); ++i) {
    EXPECT_EQ(written[written.outputs[i]].name, model.outputs[i]);
    values.insert_or_assign(border.outputs[i], outputs[i]);
  }
}

TEST(WrittenPartsOnnx, compute_together_what_the_network_computes) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Network network = varied_network(random, 12);
    const std::vector<Array> inputs = random_inputs(random, network);
    Values values;
    for (std::size_t i = 0; i < inputs.size(); ++i) values.emplace(network.inputs[i], inputs[i]);
    const std::size_t cut = random.below(network.layers.size() + 1);
    compute_part(network, {0, cut}, values);
    compute_part(network, {cut, network.layers.size()}, values);
    std::vector<Array> found;
    for (const TensorId output : network.outputs)
      found.push_back(network[output].constant.value_or(values[output]));
    // Reading folds and recognises other layers in each part, and so rounds elsewhere.
    EXPECT_LE(largest_difference(found, evaluate(network, inputs)), 1e-5) << "seed " << seed;
  }
}

}  // namespace
}  // namespace millrace::test
