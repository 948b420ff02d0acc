// The nine networks of the benchmark against what the original prints of every layer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "formats/darknet/darknet.h"
#include "formats/random_weights.h"
#include "formats/zoo.h"
#include "support/shared.h"

namespace millrace::formats {

using namespace network;
namespace {

/// A line of NAME.shapes.txt.
struct Printed {
  std::size_t index = 0;
  std::string kind;
  Shape output{1, 0, 0, 0};
  std::int64_t outputs = 0, weights = 0;
  double billions = 0;  // of operations
  std::int64_t groups = 0, size = 0, stride = 0, pad = 0, dilation = 0;
  int activation = 0;
};

std::vector<Printed> read_printed(const std::filesystem::path& path) {
  std::vector<Printed> result;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    Printed p;
    words >> p.index >> p.kind >> p.output[1] >> p.output[2] >> p.output[3] >> p.outputs >>
        p.weights >> p.billions >> p.groups >> p.size >> p.stride >> p.pad >> p.dilation >>
        p.activation;
    EXPECT_TRUE(words) << line;
    result.push_back(std::move(p));
  }
  return result;
}

const Layer* find(const Network& network, const std::string& name) {
  const auto found = std::ranges::find(network.layers, name, &Layer::name);
  return found == network.layers.end() ? nullptr : &*found;
}

double billions(const Network& network, const Layer& layer) {
  const auto index = static_cast<std::size_t>(&layer - network.layers.data());
  return static_cast<double>(cost_of(network, LayerId(index)).operations) / 1e9;
}

/// Darknet's numbers of the activations; what stands behind the layer of this name.
std::string activated(const std::string& name, int activation) {
  switch (activation) {
    case 0:
      return name + "_logistic";
    case 9:
      return name + "_leaky";
    case 18:
      return name + "_mish";
    default:
      return name;
  }
}

void expect_conv(const Network& network, const Printed& printed) {
  const std::string name = "conv" + std::to_string(printed.index);
  const Layer* layer = find(network, name);
  ASSERT_NE(layer, nullptr) << name;
  const auto& conv = std::get<Conv>(layer->op);
  EXPECT_EQ(element_count(network[layer->inputs[1]].shape), printed.weights);
  EXPECT_EQ(conv.groups, printed.groups);
  EXPECT_EQ(conv.window.kernel, Shape(2, printed.size));
  EXPECT_EQ(conv.window.strides, Shape(2, printed.stride));
  EXPECT_EQ(conv.window.pads_begin, Shape(2, printed.pad));
  EXPECT_EQ(conv.window.pads_end, Shape(2, printed.pad));
  EXPECT_NEAR(billions(network, *layer), printed.billions, 1e-6);
  const bool has_function = std::ranges::any_of(network.layers, [&](const Layer& other) {
    return other.name == activated(name, printed.activation) ||
           other.name == activated(name + "_bn", printed.activation);
  });
  EXPECT_TRUE(has_function);
}

void expect_pool(const Network& network, const Printed& printed) {
  const Layer* layer = find(network, "maxpool" + std::to_string(printed.index));
  ASSERT_NE(layer, nullptr);
  const auto& pool = std::get<Pool>(layer->op);
  EXPECT_EQ(pool.window.kernel, Shape(2, printed.size));
  EXPECT_EQ(pool.window.strides, Shape(2, printed.stride));
  EXPECT_EQ(pool.window.pads_begin, Shape(2, printed.pad / 2));
  EXPECT_NEAR(billions(network, *layer), printed.billions, 1e-6);
}

void expect_shortcut(const Network& network, const Printed& printed) {
  const std::string name = "shortcut" + std::to_string(printed.index);
  const Layer* layer = find(network, name);
  ASSERT_NE(layer, nullptr);
  EXPECT_NEAR(billions(network, *layer), printed.billions, 1e-6);
  EXPECT_NE(find(network, activated(name, printed.activation)), nullptr);
}

class DarknetShapes : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, DarknetShapes,
                         testing::Values("yolov2", "yolov2-tiny", "yolov3", "yolov3-tiny", "yolov4",
                                         "yolov4-tiny", "yolov4-csp", "csresnext50-panet-spp",
                                         "densenet201_yolo"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(DarknetShapes, are_what_the_original_prints) {
  const auto folder = std::filesystem::path("models/darknet_cfg");
  MILLRACE_NEEDS_SHARED(folder);
  const std::string base = (test::shared_folder() / folder / GetParam()).string();
  const darknet::Model model = darknet::read_darknet({.file = base + ".cfg"});
  const std::vector<Printed> printed = read_printed(base + ".shapes.txt");
  validate(model.network);
  EXPECT_TRUE(has_random_weights(model.network));
  ASSERT_EQ(model.sections.size(), printed.size());
  std::size_t heads = 0;
  for (std::size_t i = 0; i < printed.size(); ++i) {
    const Printed& p = printed[i];
    SCOPED_TRACE(p.kind + " " + std::to_string(i));
    EXPECT_EQ(p.index, i);
    EXPECT_EQ(model.sections[i].kind, p.kind == "reorg_old" ? "reorg" : p.kind);
    EXPECT_EQ(model.sections[i].output, p.output);
    EXPECT_EQ(element_count(model.sections[i].output), p.outputs);
    if (p.kind == "convolutional") expect_conv(model.network, p);
    if (p.kind == "maxpool") expect_pool(model.network, p);
    if (p.kind == "shortcut") expect_shortcut(model.network, p);
    if (p.kind == "yolo" || p.kind == "region") ++heads;
  }
  EXPECT_EQ(model.network.outputs.size(), heads);
}

/// The weights of a layer, without names.
std::vector<Digest> constants_of(const Network& network, const Layer& layer) {
  std::vector<Digest> result;
  for (const TensorId input : layer.inputs)
    if (input.valid() && network[input].constant)
      result.push_back(network[input].constant->digest());
  return result;
}

TEST_P(DarknetShapes, the_zoo_has_the_same_network) {
  const auto path =
      std::filesystem::path("models/darknet_cfg") / (std::string(GetParam()) + ".cfg");
  MILLRACE_NEEDS_SHARED(path);
  std::string name = GetParam();
  std::ranges::replace(name, '-', '_');
  if (name.ends_with("_spp")) name.resize(name.size() - 4);
  const Network ours = read_onnx(zoo_model(name), name, {});
  const Network file =
      darknet::read_darknet({.file = test::shared_folder() / path, .size = 416}).network;
  ASSERT_EQ(ours.layers.size(), file.layers.size());
  for (std::size_t i = 0; i < file.layers.size(); ++i) {
    const Layer &a = ours.layers[i], &b = file.layers[i];
    SCOPED_TRACE(b.name);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(name_of(a.op), name_of(b.op));
    EXPECT_EQ(ours[a.outputs[0]].shape, file[b.outputs[0]].shape);
    EXPECT_EQ(cost_of(ours, LayerId(i)).macs, cost_of(file, LayerId(i)).macs);
    EXPECT_EQ(cost_of(ours, LayerId(i)).parameters, cost_of(file, LayerId(i)).parameters);
    EXPECT_EQ(constants_of(ours, a), constants_of(file, b));
  }
}

TEST_P(DarknetShapes, other_sizes_scale_the_work) {
  const auto path =
      std::filesystem::path("models/darknet_cfg") / (std::string(GetParam()) + ".cfg");
  MILLRACE_NEEDS_SHARED(path);
  const auto macs = [&](std::int64_t size) {
    const Network network =
        darknet::read_darknet({.file = test::shared_folder() / path, .size = size}).network;
    EXPECT_EQ(network[network.inputs[0]].shape, (Shape{1, 3, size, size}));
    return cost_of(network).macs;
  };
  const std::int64_t per_cell = macs(416) / (13 * 13);
  EXPECT_EQ(macs(608), per_cell * 19 * 19);
  EXPECT_EQ(macs(512), per_cell * 16 * 16);
}

}  // namespace
}  // namespace millrace::formats
