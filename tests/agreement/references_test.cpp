// Pipelines on the fast engine against outputs that others computed and stored.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/random.h"
#include "engine/registry.h"
#include "formats/read.h"
#include "network/evaluate/evaluate.h"
#include "plan/build.h"
#include "runtime/compare.h"
#include "support/compare.h"
#include "support/needs_engine.h"
#include "support/npz.h"
#include "support/onnx_cases.h"
#include "support/shared.h"

namespace millrace {
namespace {

using network::Array;

struct Stored {
  std::string model;   // below shared/models
  std::string output;  // "": MODEL.npz; the input is "input" beside it, or a ramp
  std::string input;
  std::map<std::string, network::Shape> shapes = {};  // of inputs that the file leaves open
  double tolerance = 1e-3;                            // of the largest absolute reference value
};

/// Rounding the published float32 output to half precision adds this to the 0.98e-3 that separate
/// it from what the float32 form of the network computes.
constexpr double and_half_precision = 1.2e-3;
/// Four steps of the last layer: see tests/formats/onnx/onnx_models_test.cpp.
constexpr double rounded_to_8_bits = 0.08;

std::vector<Stored> stored_models() {
  std::vector<Stored> result{
      {"onnx/mnist_cntk", "onnx/mnist_output_0.pb", "onnx/mnist_input_0.pb"},
      {"onnx/squeezenet_fp32_cast", "onnx/squeezenet1_output_0.pb", "onnx/squeezenet1_input_0.pb"},
      {"onnx/squeezenet_fp16",
       "onnx/squeezenet1_output_0.pb",
       "onnx/squeezenet1_input_0.pb",
       {},
       and_half_precision},
      {"onnx/mobilenet_v2_qat_maui", "", "", {{"image", {1, 3, 244, 244}}}, rounded_to_8_bits}};
  for (const char* name :
       {"mnist_cntk", "yolox_nano", "ultraface_slim320_nopost", "FastestDet", "squeezenet_fp16"})
    result.push_back({std::string("onnx/") + name, "", ""});
  for (const char* name : {"bvlc_alexnet", "densenet121", "inception_v1", "inception_v2",
                           "resnet50", "shufflenet", "squeezenet", "vgg19", "zfnet512"}) {
    const std::string model = std::string("onnx_light/light_") + name;
    result.push_back({model, model + "_output_0.pb", ""});
  }
  return result;
}

std::filesystem::path path_of(const std::string& file) {
  return test::shared_folder() / "models" / file;
}

/// Ascending values in [0, 1): the input that the light models were run on.
Array ramp(const network::Tensor& tensor) {
  network::Buffer memory(tensor.size());
  float* values = reinterpret_cast<float*>(memory.data());
  const std::int64_t count = network::element_count(tensor.shape);
  for (std::int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i) / static_cast<float>(count);
  return network::make_array(tensor.type, tensor.shape, std::move(memory));
}

struct Reference {
  std::vector<Array> inputs, outputs;
};

Reference read_reference(const network::Network& network, const Stored& stored) {
  if (!stored.output.empty()) {
    const Array input = stored.input.empty() ? ramp(network[network.inputs[0]])
                                             : test::read_tensor_file(path_of(stored.input));
    return {{network::converted(input, network[network.inputs[0]].type)},
            {test::read_tensor_file(path_of(stored.output))}};
  }
  const auto arrays = test::read_npz(path_of(stored.model + ".npz"));
  Reference result;
  for (const TensorId id : network.inputs)
    result.inputs.push_back(arrays.at("in:" + network[id].name));
  for (const TensorId id : network.outputs)
    result.outputs.push_back(arrays.at("out:" + network[id].name));
  return result;
}

plan::Plan random_plan(const network::Network& network, const board::Board& board) {
  Random random(11);
  plan::Mapping mapping;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    mapping.processors.emplace_back(random.below(board.processors.size()));
  return plan::build(network, board, mapping);
}

/// Where the largest value is.
std::ptrdiff_t top(const Array& array) {
  const auto values = array.values<float>();
  return std::max_element(values.begin(), values.end()) - values.begin();
}

class StoredOutputs : public testing::TestWithParam<Stored> {
 protected:
  void SetUp() override {
    MILLRACE_NEEDS_ENGINE("onednn");
    MILLRACE_NEEDS_SHARED("models/" + GetParam().model + ".onnx");
  }
};

TEST_P(StoredOutputs, are_what_a_pipeline_computes) {
  const auto engine = engine::make_engine("onednn");
  const network::Network network =
      formats::read_network({.file = path_of(GetParam().model + ".onnx"),
                             .shapes = GetParam().shapes});
  const Reference reference = read_reference(network, GetParam());
  const plan::Plan plan = random_plan(network, board::this_machine());
  const auto results =
      runtime::run_pipeline(plan, network, {{"onednn", engine.get()}}, {reference.inputs});
  ASSERT_EQ(results[0].size(), reference.outputs.size());
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    const Array result = network::converted(results[0][i], network::DataType::float32);
    const Array expected = network::converted(reference.outputs[i], network::DataType::float32);
    EXPECT_LT(test::relative_error(result, expected), GetParam().tolerance);
    if (GetParam().model.starts_with("onnx_light")) continue;  // all classes are the same to them
    EXPECT_EQ(top(result), top(expected));
  }
}

std::string name_of(const testing::TestParamInfo<Stored>& parameter) {
  const Stored& stored = parameter.param;
  std::string name = stored.model + (stored.output.empty() ? "_npz" : "_pb");
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, StoredOutputs, testing::ValuesIn(stored_models()), name_of);

/// ONNX's own cases through the fast engine: what the plain loops can do, it can do too.
TEST(OnnxCasesOnEngines, onednn_passes_whatever_the_plain_loops_pass) {
  if (!std::filesystem::exists(test::onnx_cases_folder()))
    GTEST_SKIP() << "needs " << test::onnx_cases_folder().string() << " (package libonnx-testdata)";
  MILLRACE_NEEDS_ENGINE("onednn");
  const auto engine = engine::make_engine("onednn");
  const board::Processor core = board::this_machine().processors.front();
  const test::Compute compute = [&](const network::Network& network,
                                    std::span<const Array> inputs) {
    return runtime::Sequential(network, *engine, core).run(inputs);
  };
  std::size_t passed = 0;
  for (const test::OnnxCase& one : test::onnx_cases("node")) {
    const auto by_loops = test::run_case(one, test::compute_by_loops);
    const auto by_engine = test::run_case(one, compute);
    EXPECT_EQ(by_engine.kind, by_loops.kind) << one.name << ": " << by_engine.text;
    passed += by_engine.kind == test::Outcome::Kind::passed ? 1 : 0;
  }
  std::printf("%zu of ONNX's cases pass on onednn\n", passed);
  EXPECT_GE(passed, 800u);
}

}  // namespace
}  // namespace millrace
