// Configurations and weights that cannot be read: where, what, and what to do.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "formats/darknet/darknet.h"
#include "formats/random_weights.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::formats::darknet {

using namespace network;
namespace {

const std::string net = "[net]\nwidth=32\nheight=32\nchannels=3\n";
const std::string conv = "[convolutional]\nfilters=4\nsize=3\npad=1\nactivation=leaky\n";

std::string message_about(const std::string& text, const ModelSource& options = {}) {
  return test::message_of([&] { read_darknet(text, "a.cfg", options); });
}

struct Wrong {
  const char* name;
  std::string text;
  const char* message;  // a part of it
};

class WrongConfig : public testing::TestWithParam<Wrong> {};
INSTANTIATE_TEST_SUITE_P(
    All, WrongConfig,
    testing::Values(
        Wrong{"empty", "", "a.cfg: has no sections"},
        Wrong{"only_comments", "# a\n; b\n", "a.cfg: has no sections"},
        Wrong{"binary", std::string("\0\1\2\0net", 7), "a.cfg: is not text"},
        Wrong{"utf_16", std::string("\xFF\xFE[\0n\0", 6), "a.cfg: is UTF-16 text, expected UTF-8"},
        Wrong{"image_of_four_gib", "[net]\nwidth=32768\nheight=32768\nchannels=1\n" + conv,
              "a.cfg: line 1: [net]: the shape 1x1x32768x32768 needs 4.00 GiB"},
        Wrong{"prose", "this is no configuration\n", "a.cfg: line 1: found 'thisisnoconf"},
        Wrong{"option_first", "width=3\n[net]\n", "a.cfg: line 1: 'width=3' stands before"},
        Wrong{"no_net", conv, "a.cfg: line 1: [convolutional]: is the first section"},
        Wrong{"only_net", net, "a.cfg: line 1: [net]: is the only section"},
        Wrong{"open_bracket", net + "[convolutional\n", "a.cfg: line 5: found '[convolutional'"},
        Wrong{"no_width", "[net]\nheight=3\n" + conv, "a.cfg: line 1: [net]: lacks 'width'"},
        Wrong{"unknown_section", net + "[convolutionl]\n",
              "a.cfg: line 5: [convolutionl]: is not a kind of section that can be read; did you "
              "mean 'convolutional'?"},
        Wrong{"unknown_activation", net + "[convolutional]\nfilters=2\nactivation=leeky\n",
              "a.cfg: line 7: activation: 'leeky' is not an activation that can be computed; did "
              "you mean 'leaky'?"},
        Wrong{"unknown_option", net + "[convolutional]\nfilter=2\nactivation=leaky\n",
              "a.cfg: line 6: filter: is not an option of [convolutional] that Millrace knows; did "
              "you mean 'filters'?"},
        Wrong{"two_values", net + "[convolutional]\nfilters=2\nfilters=3\n",
              "a.cfg: line 7: 'filters' is '3' here and '2' in line 6"},
        Wrong{"no_number", net + "[convolutional]\nfilters=two\n",
              "a.cfg: line 6: filters: found 'two', expected a whole number from 1"},
        Wrong{"negative", net + "[convolutional]\nfilters=-2\n", "filters: found '-2'"},
        Wrong{"too_large", net + "[convolutional]\nfilters=99999999999999999999\n",
              "filters: found '99999999999999999999'"},
        Wrong{"no_stride", net + "[convolutional]\nstride=0\n", "stride: found '0'"},
        Wrong{"groups", net + "[convolutional]\nfilters=4\ngroups=2\n",
              "a.cfg: line 7: groups: is 2, which divides not both the 3 channels"},
        Wrong{"window", net + "[convolutional]\nsize=33\nactivation=linear\n",
              "its window of 33 with dilation 1 is larger than its input of 32"},
        Wrong{"xnor", net + "[convolutional]\nxnor=1\n", "a.cfg: line 6: xnor: is '1'"},
        Wrong{"route_ahead", net + conv + "[route]\nlayers=1\n",
              "a.cfg: line 11: layers: names layer 1, but this is layer 1; expected one before it"},
        Wrong{"route_behind", net + conv + "[route]\nlayers=-2\n", "names layer -2 (-1)"},
        Wrong{"route_nowhere", net + conv + "[route]\n", "[route]: lacks 'layers'"},
        Wrong{"route_sizes", net + conv + "[maxpool]\nsize=2\nstride=2\n[route]\nlayers=-1,0\n",
              "layer 0 gives 1x4x32x32, which cannot be joined after 1x4x16x16"},
        Wrong{"group_id", net + conv + "[route]\nlayers=-1\ngroups=2\ngroup_id=2\n",
              "group_id: found '2', expected a whole number from 0 to 1"},
        Wrong{"shortcut_sizes",
              net + conv + "[maxpool]\nsize=2\nstride_x=2\nstride_y=1\n[shortcut]\nfrom=0\n",
              "from: layer 0 gives 1x4x32x32, which cannot be added to 1x4x32x16: width and height "
              "differ by different factors"},
        Wrong{"scale_channels_of_an_image", net + conv + conv + "[scale_channels]\nfrom=0\n",
              "needs one factor for every channel, but the layer before gives 1x4x32x32"},
        Wrong{"sam_of_another_size", net + conv + "[maxpool]\nsize=2\nstride=2\n[sam]\nfrom=0\n",
              "from: gives 1x4x32x32, expected 1x4x16x16"},
        Wrong{"weighted_shortcut",
              net + conv + conv + "[shortcut]\nfrom=0\nweights_type=per_feature\n",
              "weights_type: is 'per_feature'"},
        Wrong{"pool_padding", net + "[maxpool]\nsize=2\nstride=1\npadding=9\n",
              "with padding 9 some windows of 2 lie outside the image"},
        Wrong{"reorg", net + "[reorg]\nstride=2\n", "stride: is 2, which does not divide"},
        Wrong{
            "yolo_channels", net + conv + "[yolo]\nclasses=80\nnum=3\nmask=0,1\nanchors=1,2,3,4\n",
            "[yolo]: needs 170 channels (2 boxes of 4 coordinates, objectness and 80 classes), but "
            "the layer before has 4"},
        Wrong{"yolo_anchors",
              net + "[convolutional]\nfilters=6\nactivation=linear\n[yolo]\nclasses=1\n"
                    "num=3\nmask=2\nanchors=1,2,3,4\n",
              "anchors: has 4 numbers, but anchor 2 is wanted"},
        Wrong{"yolo_mask", net + conv + "[yolo]\nnum=3\nmask=3\n", "mask: found '3'"},
        Wrong{"image_wanted", net + "[connected]\noutput=4\nactivation=linear\n" + conv,
              "[convolutional]: needs an image, but the layer before gives 1x4 values"},
        Wrong{"input_overflow", "[net]\nwidth=1048576\nheight=1048576\nchannels=1048576\n" + conv,
              "a.cfg: line 1: [net]: the shape 1x1048576x1048576x1048576 is impossible"},
        Wrong{"output_overflow", net + "[upsample]\nstride=1024\n[upsample]\nstride=1024\n",
              "a.cfg: line 5: [upsample]: the shape 1x3x32768x32768 needs 12.0 GiB"},
        Wrong{
            "weights_overflow",
            net + "[convolutional]\nfilters=20000\nactivation=linear\n[convolutional]\n"
                  "filters=20000\nactivation=linear\n[convolutional]\nfilters=20000\n"
                  "activation=linear\n",
            "a.cfg: line 8: [convolutional]: the weights of the layers up to here take more than"},
        Wrong{"kernel_overflow",
              "[net]\nwidth=1000000\nheight=1\nchannels=1\n[convolutional]\nfilters=1000\n"
              "size=1000001\npad=1\n",
              "a.cfg: line 5: [convolutional]: the shape"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_P(WrongConfig, is_refused_with_its_place) {
  const std::string found = message_about(GetParam().text);
  EXPECT_NE(found.find(GetParam().message), std::string::npos) << found;
}

TEST(WrongConfig, more_options_than_any_section_has_are_refused) {
  std::string text = net;
  for (int i = 0; i < 2000; ++i) text += "option" + std::to_string(i) + "=1\n";
  EXPECT_NE(message_about(text).find("line 1002: [net] has more than 1000"), std::string::npos)
      << message_about(text);
}

TEST(WrongConfig, every_truncation_is_read_or_refused) {
  const std::string text = net + conv +
                           "[route]\nlayers=-1\n[convolutional]\nfilters=18\n"
                           "activation=linear\n[yolo]\nclasses=1\nnum=3\n"
                           "anchors=1,2,3,4,5,6\n";
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_NE(message_about(text.substr(0, size)), "") << size;
}

/// A header and `count` numbers.
std::string weights(std::size_t count, std::int32_t minor = 2) {
  const std::int32_t version[3] = {0, minor, 0};
  std::string bytes(reinterpret_cast<const char*>(version), sizeof version);
  bytes.append(minor >= 2 ? 8 : 4, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

class WrongWeights : public testing::Test {
 protected:
  std::string message(const std::string& bytes) const {
    return test::message_of([&] { read(bytes); });
  }
  Model read(const std::string& bytes) const {
    std::ofstream(folder_ / "a.cfg") << net << conv;
    std::ofstream(folder_ / "a.weights", std::ios::binary) << bytes;
    return read_darknet({.file = folder_ / "a.cfg"});
  }
  static constexpr std::size_t needed = 4 + 4 * 3 * 9;
  test::TemporaryFolder folder_;
};

TEST_F(WrongWeights, both_lengths_of_header_are_read) {
  for (const std::int32_t minor : {1, 2}) {
    const Model model = read(weights(needed, minor));
    EXPECT_FALSE(has_random_weights(model.network));
    const Layer& layer = model.network.layers.front();
    EXPECT_EQ(model.network[layer.inputs[2]].constant->values<float>()[1], 1.f);
    EXPECT_EQ(model.network[layer.inputs[1]].constant->values<float>()[0], 4.f);
  }
}

TEST_F(WrongWeights, a_long_count_under_an_old_version_is_read) {
  std::string bytes = weights(needed, 0);
  bytes.insert(16, 4, '\0');
  const Model model = read(bytes);
  const Layer& layer = model.network.layers.front();
  EXPECT_EQ(model.network[layer.inputs[1]].constant->values<float>()[0], 4.f);
}

TEST_F(WrongWeights, too_short_says_what_is_missing) {
  const std::string found = message(weights(needed - 1));
  EXPECT_NE(found.find("a.weights: has 464 bytes, but the network needs 468"), std::string::npos)
      << found;
  EXPECT_NE(found.find("a.cfg: line 5: [convolutional]"), std::string::npos) << found;
}

TEST_F(WrongWeights, too_long_says_so) {
  const std::string found = message(weights(needed + 1));
  EXPECT_NE(found.find("has 472 bytes, but the network needs only 468"), std::string::npos)
      << found;
}

TEST_F(WrongWeights, a_huge_file_is_refused_before_it_is_read) {
  message(weights(needed));
  std::filesystem::resize_file(folder_ / "a.weights", std::uintmax_t{17} << 30);
  const std::string found = test::message_of([&] { read_darknet({.file = folder_ / "a.cfg"}); });
  EXPECT_NE(found.find("the network needs only 468"), std::string::npos) << found;
}

TEST_F(WrongWeights, every_truncation_is_refused) {
  const std::string bytes = weights(needed);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(message(bytes.substr(0, size)).find("a.weights: has "), std::string::npos) << size;
}

TEST_F(WrongWeights, another_kind_of_file_is_refused) {
  const std::string found = message(std::string(needed * 4 + 20, '\xff'));
  EXPECT_NE(found.find("its header says version"), std::string::npos) << found;
}

TEST(WrongOption, a_shape_has_to_fit) {
  ModelSource options;
  options.shapes["data"] = {1, 1, 32, 32};
  EXPECT_NE(message_about(net + conv, options).find("expected the batch, 3 channels"),
            std::string::npos);
  options.shapes = {{"image", {1, 3, 32, 32}}};
  EXPECT_NE(message_about(net + conv, options).find("no input of this name"), std::string::npos);
  options.shapes.clear();
  options.weights = "missing.weights";
  EXPECT_NE(message_about(net + conv, options).find("missing.weights"), std::string::npos);
}

}  // namespace
}  // namespace millrace::formats::darknet
