// The zoo's models, read back: what they cost, and whether they are the networks that others
// publish under these names.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>

#include "formats/read.h"
#include "formats/zoo.h"
#include "support/shared.h"

namespace millrace::formats {

using namespace network;
namespace {

Network zoo_network(std::string_view name) {
  return read_onnx(zoo_model(name), std::string(name), {});
}

/// Multiply-accumulates of the layers that have any, in order.
std::vector<std::int64_t> weighted_layers(const Network& network) {
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    if (const Cost cost = cost_of(network, LayerId(i)); cost.macs > 0) result.push_back(cost.macs);
  return result;
}

class ZooImport : public testing::TestWithParam<ZooEntry> {};
INSTANTIATE_TEST_SUITE_P(each, ZooImport, testing::ValuesIn(zoo_entries()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(ZooImport, costs_are_those_of_the_entry) {
  const ZooEntry& entry = GetParam();
  const Network network = zoo_network(entry.name);
  validate(network);
  EXPECT_EQ(cost_of(network).macs, entry.macs);
  EXPECT_EQ(weighted_layers(network).size(), static_cast<std::size_t>(entry.layers));
  ASSERT_EQ(network.inputs.size(), 1u);
  EXPECT_EQ(network[network.inputs[0]].shape, Shape(entry.input.begin(), entry.input.end()));
}

TEST(ZooAlexnet, at_227_pixels_costs_what_its_publication_says) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(zoo_model("bvlc_alexnet")));
  auto& type = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  auto& shape = *type.mutable_shape();
  shape.mutable_dim(2)->set_dim_value(227);
  shape.mutable_dim(3)->set_dim_value(227);
  const Network network = read_onnx(model.SerializeAsString(), "alexnet_227", {});
  // Sze, Chen, Yang, Emer: Efficient Processing of Deep Neural Networks, 2017, table II.
  EXPECT_LE(std::abs(static_cast<double>(cost_of(network).macs) - 724e6), 0.5e6);
}

struct Light {
  std::string_view zoo, file;
};

class ZooAndOnnx : public testing::TestWithParam<Light> {};
INSTANTIATE_TEST_SUITE_P(each, ZooAndOnnx,
                         testing::Values(Light{"bvlc_alexnet", "light_bvlc_alexnet.onnx"},
                                         Light{"vgg_19", "light_vgg19.onnx"},
                                         Light{"inception_v1", "light_inception_v1.onnx"},
                                         Light{"resnet50", "light_resnet50.onnx"},
                                         Light{"densenet121", "light_densenet121.onnx"},
                                         Light{"squeezenet1_1", "light_squeezenet.onnx"}),
                         [](const auto& test) { return std::string(test.param.zoo); });

TEST_P(ZooAndOnnx, layers_are_those_of_the_onnx_model_zoo) {
  const auto path = std::filesystem::path("models/onnx_light") / GetParam().file;
  MILLRACE_NEEDS_SHARED(path);
  const Network light = read_network(test::shared_folder() / path);
  const Network ours = zoo_network(GetParam().zoo);
  EXPECT_EQ(weighted_layers(ours), weighted_layers(light));
}

}  // namespace
}  // namespace millrace::formats
