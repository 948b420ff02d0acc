#include "formats/zoo.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "support/message_of.h"

namespace millrace::formats {

using namespace network;
namespace {

/// Figures as they are printed, `step` being the last digit printed.
struct Figure {
  double value, step;
  const char* source;
};

struct Published {
  std::string_view name;
  Figure parameters, macs;
};

constexpr const char* torchvision = "torchvision's documentation of pre-trained weights";
constexpr const char* sze =
    "Sze, Chen, Yang, Emer: Efficient Processing of Deep Neural Networks, 2017, table II";
constexpr const char* by_hand = "sum over the rows of the publication's table";

// Rows: pixels of the output, times its channels, times the weights of each channel.
constexpr double alexnet_macs = 54.0 * 54 * 96 * (3 * 11 * 11) + 26.0 * 26 * 256 * (48 * 5 * 5) +
                                12.0 * 12 * 384 * (256 * 9) + 12.0 * 12 * 384 * (192 * 9) +
                                12.0 * 12 * 256 * (192 * 9) + 9216.0 * 4096 + 4096.0 * 4096 +
                                4096.0 * 1000;
constexpr double ferplus_macs = 64.0 * 64 * 64 * 9 * (1 + 64) + 32.0 * 32 * 128 * 9 * (64 + 128) +
                                16.0 * 16 * 256 * 9 * (128 + 256 + 256) +
                                8.0 * 8 * 256 * 9 * (256 + 256 + 256) + 4096.0 * 1024 +
                                1024.0 * 1024 + 1024.0 * 8;
// Table 1 in millions; its first row says 34, where 7x7 windows of three colours need 118.
constexpr double googlenet_macs =
    1e6 * (118 + 360 + 128 + 304 + 73 + 88 + 100 + 119 + 170 + 54 + 71 + 1);

/// A file of Darknet's weights, without its header; each normalised channel has two statistics
/// besides what is trained.
constexpr Figure in_file(double bytes, double normalized) {
  return {bytes / 4 - 2 * normalized, 1, "size of the weights that Darknet publishes"};
}
/// The sum over the weights that Darknet prints for every convolution; each normalised channel has
/// two values besides them, others one.
constexpr Figure in_rows(double weights, double normalized, double others) {
  return {weights + 2 * normalized + others, 1, "Darknet's list of the layers"};
}
/// Billions of operations at this size, as Darknet prints them: with pools and shortcuts, which
/// have no multiply-accumulates but are less than 1 % of it.
constexpr Figure printed(double billions, double size = 416) {
  const double macs = billions * 1e9 / 2 * (416 / size) * (416 / size);
  return {macs, 0.01 * macs, "Darknet's list of the layers"};
}

constexpr std::array<Published, 21> publications{{
    {"bvlc_alexnet", {61e6, 1e6, sze}, {alexnet_macs, 0, by_hand}},
    {"vgg_19",
     {144e6, 1e6, "Simonyan, Zisserman: Very Deep Convolutional Networks, table 2"},
     {19.6e9, 0.1e9, "He et al.: Deep Residual Learning, section 3.3"}},
    {"bvlc_googlenet",
     {7.0e6, 0.1e6, sze},
     {googlenet_macs, 12e6, "Szegedy et al.: Going Deeper with Convolutions, table 1"}},
    {"inception_v1", {7.0e6, 0.1e6, sze}, {1.43e9, 0.01e9, sze}},
    {"resnet18", {11689512, 1, torchvision}, {1.81e9, 0.01e9, torchvision}},
    {"resnet50", {25557032, 1, torchvision}, {4.09e9, 0.01e9, torchvision}},
    {"emotion_ferplus",
     {8.75e6, 0.02e6, "Barsoum et al.: Training Deep Networks for Facial Expression, section 4"},
     {ferplus_macs, 0, by_hand}},
    {"densenet121", {7978856, 1, torchvision}, {2.83e9, 0.01e9, torchvision}},
    {"squeezenet1_1", {1235496, 1, torchvision}, {0.35e9, 0.01e9, torchvision}},
    // The file of weights has 16 bytes of header and also holds each channel's statistics.
    {"tiny_yolo_v2",
     {(63471556 - 16) / 4 - 2 * 3056, 1, "size of Darknet's yolov2-tiny-voc.weights"},
     {6.97e9 / 2, 0.005e9, "pjreddie.com, YOLOv2: 6.97 Bn operations"}},
    {"mobilenet_v1",
     {4.2e6, 0.1e6, "Howard et al.: MobileNets, table 8"},
     {569e6, 1e6, "Howard et al.: MobileNets, table 8"}},
    {"mobilenet_v2", {3504872, 1, torchvision}, {0.30e9, 0.01e9, torchvision}},
    {"yolov2", in_file(203934260 - 16, 10336), printed(29.475)},
    {"yolov2_tiny", in_rows(11226544, 2544, 425), printed(5.412)},
    {"yolov3", in_file(248007048 - 20, 26304), printed(65.879)},
    {"yolov3_tiny", in_file(35434956 - 20, 3184), printed(5.571)},
    {"csresnext50_panet", in_rows(56853440, 44160, 3 * 255), printed(71.344, 512)},
    {"densenet201_yolo", in_rows(26740928, 18688, 125), printed(31.896)},
    {"yolov4", in_file(257717640 - 20, 33152), printed(128.459, 608)},
    {"yolov4_tiny", in_file(24251276 - 20, 3104), printed(6.910)},
    {"yolov4_csp", in_file(211944840 - 20, 32384), printed(77.003, 512)},
}};

onnx::ModelProto parsed(const std::string& bytes) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(bytes));
  return model;
}

bool is_weighted(const onnx::NodeProto& node) {
  return node.op_type() == "Conv" || node.op_type() == "Gemm";
}

/// The first input of a node that training does not change.
int first_fixed(const std::string& type) {
  if (type == "BatchNormalization") return 3;
  return type == "Clip" || type == "Mul" || type == "Sub" ? 1 : 5;
}

/// What training changes: not the statistics of BatchNormalization, nor the limits of Clip, nor how
/// detectors scale places.
std::int64_t trained_parameters(const onnx::GraphProto& graph) {
  std::set<std::string> other;
  for (const auto& node : graph.node())
    for (int i = first_fixed(node.op_type()); i < node.input_size(); ++i)
      other.insert(node.input(i));
  std::int64_t count = 0;
  for (const auto& tensor : graph.initializer())
    if (!other.contains(tensor.name()))
      count += static_cast<std::int64_t>(tensor.raw_data().size() / sizeof(float));
  return count;
}

class Zoo : public testing::TestWithParam<ZooEntry> {};
INSTANTIATE_TEST_SUITE_P(each, Zoo, testing::ValuesIn(zoo_entries()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(Zoo, layers_and_parameters_are_those_of_the_entry) {
  const onnx::ModelProto model = parsed(zoo_model(GetParam().name));
  EXPECT_EQ(std::ranges::count_if(model.graph().node(), is_weighted), GetParam().layers);
  EXPECT_EQ(trained_parameters(model.graph()), GetParam().parameters);
}

TEST_P(Zoo, the_entry_agrees_with_the_publication) {
  const auto published =
      std::ranges::find(publications, GetParam().name, [](const Published& p) { return p.name; });
  ASSERT_NE(published, publications.end());
  const auto agrees = [](std::int64_t exact, const Figure& figure) {
    EXPECT_LE(std::abs(static_cast<double>(exact) - figure.value), figure.step / 2)
        << figure.source;
  };
  agrees(GetParam().parameters, published->parameters);
  agrees(GetParam().macs, published->macs);
}

TEST(ZooModel, bytes_are_the_same_on_every_machine) {
  const auto hash = [](std::string_view name) { return Hasher().add(zoo_model(name)).digits(); };
  EXPECT_EQ(hash("squeezenet1_1"), "f98377c0c2bf3a0293c670f402889bcc");
  EXPECT_EQ(hash("mobilenet_v2"), "0328553fc026d017f69349814eacbcef");
}

TEST(ZooModel, another_seed_gives_other_weights_and_the_same_graph) {
  onnx::ModelProto one = parsed(zoo_model("squeezenet1_1", 1));
  onnx::ModelProto two = parsed(zoo_model("squeezenet1_1", 2));
  EXPECT_NE(one.graph().initializer(0).raw_data(), two.graph().initializer(0).raw_data());
  one.mutable_graph()->clear_initializer();
  two.mutable_graph()->clear_initializer();
  EXPECT_EQ(one.graph().SerializeAsString(), two.graph().SerializeAsString());
}

TEST(ZooModel, detectors_take_other_sizes_and_others_do_not) {
  const onnx::ModelProto model = parsed(zoo_model("yolov3_tiny", 1, 608));
  const auto& shape = model.graph().input(0).type().tensor_type().shape();
  EXPECT_EQ(shape.dim(2).dim_value(), 608);
  const auto of = [](std::string_view name, std::int64_t size) {
    return test::message_of([&] { zoo_model(name, 1, size); });
  };
  EXPECT_NE(of("resnet18", 256).find("has an input of 1x3x224x224 only"), std::string::npos);
  EXPECT_NE(of("yolov3_tiny", 500).find("found 500, expected a multiple of 32"), std::string::npos);
}

TEST(ZooModel, an_unknown_name_is_answered_with_the_nearest_known_one) {
  try {
    zoo_model("resnet81");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'resnet18'?"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace millrace::formats
