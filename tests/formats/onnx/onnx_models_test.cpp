// Real networks: all of them are read, and those with stored references compute them.
#include <gtest/gtest.h>

#include <algorithm>

#include "formats/read.h"
#include "network/evaluate/evaluate.h"
#include "support/compare.h"
#include "support/npz.h"
#include "support/onnx_cases.h"
#include "support/shared.h"

namespace millrace::formats {

using namespace network;
namespace {

/// What reading a file gives. `reference`: where its outputs are stored; the light networks'
/// weights are made up, so that only the shape says something.
struct Known {
  std::string file;
  std::int64_t macs;
  std::map<std::string, std::size_t> layers;  // how many of some kinds
  std::string reference;
  std::map<std::string, Shape> shapes = {};
  double tolerance = 1e-3;  // of the largest absolute reference value
};

/// Tolerance for a network that rounds to 8 bits after every layer: where a sum lies close to the
/// middle of two steps, computing it in another order moves it by a step, and with it all that
/// depends on it. These are four steps of the last layer. ONNX Runtime, which computed the
/// reference, differs from it by two when its integer kernels are switched off.
constexpr double rounded = 0.08;

/// Convolutions are as many as in the file; normalisations behind one are gone.
std::vector<Known> models() {
  const std::map<std::string, std::size_t> squeezenet{{"Conv", 26}, {"Dropout", 0}};
  return {
      {"onnx/mnist_cntk", 786560, {{"Conv", 2}, {"MatMul", 1}}, "onnx/mnist_cntk.npz"},
      {"onnx/squeezenet_fp32_cast", 349151936, squeezenet, "onnx/squeezenet1_output_0.pb"},
      {"onnx/squeezenet_fp16", 349151936, {{"Conv", 26}, {"Cast", 2}}, "onnx/squeezenet_fp16.npz"},
      {"onnx/mobilenet_v2_qat_maui", 379569152,
       {{"QLinearConv", 52}, {"Conv", 0}, {"QuantizeLinear", 14}, {"DequantizeLinear", 24}},
       "onnx/mobilenet_v2_qat_maui.npz", {{"image", {1, 3, 244, 244}}}, rounded},
      {"onnx/mobilenetv2_fp32_dequant", 300774272, {{"Conv", 52}, {"Clip", 35}}, "",
       {{"input", {1, 3, 224, 224}}}},
      {"onnx/yolox_nano", 522553408, {{"Conv", 113}, {"Mul", 104}}, "onnx/yolox_nano.npz"},
      {"onnx/ultraface_slim320_nopost", 81410560, {{"Conv", 42}, {"BatchNormalization", 0}},
       "onnx/ultraface_slim320_nopost.npz"},
      {"onnx/FastestDet", 121491744, {{"Conv", 70}, {"Transpose", 15}}, "onnx/FastestDet.npz"},
      {"onnx_light/light_bvlc_alexnet", 654560384, {{"Conv", 5}, {"Gemm", 3}},
       "onnx_light/light_bvlc_alexnet_output_0.pb"},
      {"onnx_light/light_densenet121", 2834161664,
       {{"Conv", 121}, {"BatchNormalization", 62}, {"Mul", 0}, {"Add", 0}},
       "onnx_light/light_densenet121_output_0.pb"},
      {"onnx_light/light_inception_v1", 1431556352, {{"Conv", 57}, {"Reshape", 1}},
       "onnx_light/light_inception_v1_output_0.pb"},
      {"onnx_light/light_inception_v2", 2018851840, {{"Conv", 69}, {"BatchNormalization", 0}},
       "onnx_light/light_inception_v2_output_0.pb"},
      {"onnx_light/light_resnet50", 4089184256, {{"Conv", 53}, {"BatchNormalization", 0}},
       "onnx_light/light_resnet50_output_0.pb"},
      {"onnx_light/light_shufflenet", 124664528, {{"Conv", 49}, {"BatchNormalization", 0}},
       "onnx_light/light_shufflenet_output_0.pb"},
      {"onnx_light/light_squeezenet", 349151936, squeezenet,
       "onnx_light/light_squeezenet_output_0.pb"},
      {"onnx_light/light_vgg19", 19632062464, {{"Conv", 16}, {"Gemm", 3}},
       "onnx_light/light_vgg19_output_0.pb"},
      {"onnx_light/light_zfnet512", 1481727008, {{"Conv", 5}, {"LRN", 2}},
       "onnx_light/light_zfnet512_output_0.pb"},
  };
}

std::filesystem::path model_path(const std::string& file) {
  return test::shared_folder() / "models" / file;
}

/// Inputs in the order of the network, and outputs.
struct Reference {
  std::vector<Array> inputs, outputs;
};

Reference read_reference(const Network& network, const std::string& file) {
  Reference result;
  if (file.ends_with(".pb")) {
    std::string input = file;
    input.replace(input.find("_output_0"), 9, "_input_0");
    result.inputs.push_back(test::read_tensor_file(model_path(input)));
    result.outputs.push_back(test::read_tensor_file(model_path(file)));
    return result;
  }
  const std::map<std::string, Array> arrays = test::read_npz(model_path(file));
  for (const TensorId id : network.inputs)
    result.inputs.push_back(arrays.at("in:" + network[id].name));
  for (const TensorId id : network.outputs)
    result.outputs.push_back(arrays.at("out:" + network[id].name));
  return result;
}

/// Where the largest value is.
std::ptrdiff_t top(const Array& array) {
  const auto values = array.values<float>();
  return std::max_element(values.begin(), values.end()) - values.begin();
}

/// Models whose stored outputs come from trained weights.
std::vector<Known> models_with_outputs() {
  std::vector<Known> result;
  for (const Known& known : models())
    if (!known.reference.empty() && !known.file.starts_with("onnx_light")) result.push_back(known);
  return result;
}

class Model : public testing::TestWithParam<Known> {
 protected:
  void SetUp() override { MILLRACE_NEEDS_SHARED("models/" + GetParam().file + ".onnx"); }
};

TEST_P(Model, is_read_with_all_its_layers) {
  const Network network =
      read_network({.file = model_path(GetParam().file + ".onnx"), .shapes = GetParam().shapes});
  validate(network);
  EXPECT_EQ(cost_of(network).macs, GetParam().macs);
  std::map<std::string, std::size_t> found;
  for (const Layer& layer : network.layers) ++found[std::string(name_of(layer.op))];
  for (const auto& [kind, count] : GetParam().layers) EXPECT_EQ(found[kind], count) << kind;
  if (!GetParam().file.starts_with("onnx_light")) return;
  const Array stored = test::read_tensor_file(model_path(GetParam().reference));
  EXPECT_EQ(network[network.outputs.at(0)].shape, stored.shape);
}

class ModelWithOutputs : public Model {};

TEST_P(ModelWithOutputs, computes_them) {
  const Network network =
      read_network({.file = model_path(GetParam().file + ".onnx"), .shapes = GetParam().shapes});
  const Reference reference = read_reference(network, GetParam().reference);
  const std::vector<Array> outputs = evaluate(network, reference.inputs);
  ASSERT_EQ(outputs.size(), reference.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Array output = network::converted(outputs[i], DataType::float32);
    EXPECT_LT(test::relative_error(output, reference.outputs[i]), GetParam().tolerance);
    EXPECT_EQ(top(output), top(network::converted(reference.outputs[i], DataType::float32)));
  }
}

std::string name_of_model(const testing::TestParamInfo<Known>& info) {
  return std::filesystem::path(info.param.file).filename().string();
}

INSTANTIATE_TEST_SUITE_P(Shared, Model, testing::ValuesIn(models()), name_of_model);
INSTANTIATE_TEST_SUITE_P(Shared, ModelWithOutputs, testing::ValuesIn(models_with_outputs()),
                         name_of_model);

}  // namespace
}  // namespace millrace::formats
