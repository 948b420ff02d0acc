// Sections one by one, against loops written from what Darknet does.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "formats/darknet/darknet.h"
#include "network/evaluate/evaluate.h"

namespace millrace::formats::darknet {

using namespace network;
namespace {

/// The first output for the input 0, 1, 2, ... of a network with these sections.
std::vector<float> outputs(const std::string& net, const std::string& sections) {
  const Model model = read_darknet("[net]\n" + net + "\n" + sections, "a.cfg", {});
  validate(model.network);
  const Shape shape = model.network[model.network.inputs[0]].shape;
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), 0.f);
  const Array input = make_array<float>(DataType::float32, shape, values);
  const Array result = evaluate(model.network, {&input, 1}).at(0);
  const auto floats = result.values<float>();
  return {floats.begin(), floats.end()};
}

using Floats = std::vector<float>;

TEST(DarknetText, a_byte_order_mark_is_skipped_and_silu_is_swish) {
  const std::string text =
      "[net]\nwidth=4\nheight=4\nchannels=2\n[convolutional]\nfilters=2\nsize=1\n";
  const Network swish = read_darknet(text + "activation=swish\n", "a.cfg", {}).network;
  const std::string marked = "\xEF\xBB\xBF" + text + "activation=silu\n";
  const Network silu = read_darknet(marked, "a.cfg", {}).network;
  EXPECT_EQ(hash_of(silu), hash_of(swish));
}

TEST(DarknetPool, pads_on_the_far_side_first) {
  EXPECT_EQ(outputs("width=3\nheight=2\nchannels=1", "[maxpool]\nsize=2\nstride=1\n"),
            (Floats{4, 5, 5, 4, 5, 5}));
  EXPECT_EQ(outputs("width=3\nheight=2\nchannels=1", "[maxpool]\nsize=2\nstride=2\n"),
            (Floats{4, 5}));
  EXPECT_EQ(outputs("width=3\nheight=1\nchannels=1", "[maxpool]\nsize=3\nstride=1\n"),
            (Floats{1, 2, 2}));
  EXPECT_EQ(outputs("width=3\nheight=2\nchannels=2", "[avgpool]\n"), (Floats{2.5, 8.5}));
}

TEST(DarknetShortcut, takes_every_second_pixel_of_a_larger_image) {
  const std::string net = "width=4\nheight=2\nchannels=1";
  const std::string pools = "[maxpool]\nsize=1\nstride=1\n[maxpool]\nsize=2\nstride=2\n";
  EXPECT_EQ(outputs(net, pools + "[shortcut]\nfrom=0\n"), (Floats{5, 9}));
}

TEST(DarknetShortcut, puts_a_smaller_image_at_every_second_pixel) {
  const std::string net = "width=4\nheight=2\nchannels=1";
  const std::string pools = "[maxpool]\nsize=1\nstride=1\n[maxpool]\nsize=2\nstride=2\n";
  EXPECT_EQ(outputs(net, pools + "[route]\nlayers=0\n[shortcut]\nfrom=1\n"),
            (Floats{5, 1, 9, 3, 4, 5, 6, 7}));
}

TEST(DarknetScaleChannels, multiplies_a_layer_by_a_factor_for_every_channel) {
  const std::string net = "width=2\nheight=1\nchannels=2";
  const std::string pools = "[maxpool]\nsize=1\nstride=1\n[avgpool]\n";
  EXPECT_EQ(outputs(net, pools + "[scale_channels]\nfrom=0\n"), (Floats{0, 0.5, 5, 7.5}));
}

TEST(DarknetSam, multiplies_two_layers) {
  const std::string net = "width=2\nheight=1\nchannels=1";
  const std::string pools = "[maxpool]\nsize=1\nstride=1\n[maxpool]\nsize=1\nstride=1\n";
  EXPECT_EQ(outputs(net, pools + "[sam]\nfrom=0\nactivation=linear\n"), (Floats{0, 1}));
}

TEST(DarknetText, options_for_training_are_ignored_however_often) {
  const std::string net = "width=2\nheight=1\nchannels=1\nsteps=1\nsteps=2\nwarp_speed=9";
  const std::string pool = "[maxpool]\nsize=1\nstride=1\nweather=3\n";
  EXPECT_EQ(outputs(net, pool), (Floats{0, 1}));
}

/// out[k][j][i] over the *input's* channels, rows and columns, both sides in the order of memory.
TEST(DarknetReorg, takes_the_memory_for_fewer_channels_of_larger_images) {
  const int c = 8, h = 4, w = 6, s = 2;
  Floats expected(static_cast<std::size_t>(c * h * w));
  for (int k = 0; k < c; ++k)
    for (int j = 0; j < h; ++j)
      for (int i = 0; i < w; ++i) {
        const int channel = k % (c / s / s), part = k / (c / s / s);
        const int row = j * s + part / s, column = i * s + part % s;
        expected[static_cast<std::size_t>(i + w * (j + h * k))] =
            static_cast<float>(column + w * s * (row + h * s * channel));
      }
  EXPECT_EQ(outputs("width=6\nheight=4\nchannels=8", "[reorg]\nstride=2\n"), expected);
}

TEST(DarknetRoute, takes_one_of_several_groups_and_puts_parts_behind_each_other) {
  const std::string net = "width=1\nheight=2\nchannels=4";
  const std::string pool = "[maxpool]\nsize=1\nstride=1\n";
  EXPECT_EQ(outputs(net, pool + "[route]\nlayers=-1\ngroups=2\ngroup_id=1\n"),
            (Floats{4, 5, 6, 7}));
  EXPECT_EQ(outputs(net, pool + "[route]\nlayers=-1\ngroups=4\ngroup_id=2\n[route]\nlayers=-1,0\n"),
            (Floats{4, 5, 0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(DarknetShortcut, adds_the_channels_that_both_have) {
  const std::string net = "width=1\nheight=1\nchannels=4";
  const std::string pool = "[maxpool]\nsize=1\nstride=1\n";
  const std::string half = "[route]\nlayers=-1\ngroups=2\ngroup_id=1\n";
  EXPECT_EQ(outputs(net, pool + half + "[shortcut]\nfrom=0\n"), (Floats{2, 4}));
  EXPECT_EQ(
      outputs(net, pool + half + "[route]\nlayers=0\n[shortcut]\nfrom=1\nactivation=linear\n"),
      (Floats{2, 4, 2, 3}));
}

TEST(DarknetUpsample, repeats_pixels) {
  EXPECT_EQ(outputs("width=2\nheight=1\nchannels=1", "[upsample]\nstride=2\n"),
            (Floats{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(outputs("width=2\nheight=1\nchannels=1", "[upsample]\nstride=1\nscale=3\n"),
            (Floats{0, 3}));
}

TEST(DarknetOutputs, are_the_last_layer_where_there_is_no_head) {
  const Floats found = outputs("width=2\nheight=1\nchannels=1",
                               "[dropout]\nprobability=.5\n[softmax]\n[cost]\ntype=sse\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_FLOAT_EQ(found[1], std::exp(1.f) / (1 + std::exp(1.f)));
}

float logistic(float x) { return 1 / (1 + std::exp(-x)); }

TEST(DarknetYolo, widens_places_and_leaves_sizes) {
  const std::string net = "width=1\nheight=1\nchannels=12";
  const std::string yolo = "[yolo]\nclasses=1\nnum=3\nmask=0,2\nanchors=1,2,3,4,5,6\n";
  const Floats plain = outputs(net, yolo + "scale_x_y=1.5\n");
  ASSERT_EQ(plain.size(), 12u);
  for (const std::size_t i : {0u, 1u, 6u, 7u})
    EXPECT_FLOAT_EQ(plain[i], 1.5f * logistic(static_cast<float>(i)) - 0.25f) << i;
  for (const std::size_t i : {2u, 3u, 8u, 9u}) EXPECT_EQ(plain[i], static_cast<float>(i));
  for (const std::size_t i : {4u, 5u, 10u, 11u})
    EXPECT_FLOAT_EQ(plain[i], logistic(static_cast<float>(i))) << i;
  const Floats raw = outputs(net, yolo + "scale_x_y=2\nnew_coords=1\n");
  EXPECT_EQ(raw, (Floats{-0.5, 1.5, 2, 3, 4, 5, 11.5, 13.5, 8, 9, 10, 11}));
}

TEST(DarknetRegion, has_a_softmax_over_the_classes_of_each_box) {
  const Floats found = outputs("width=1\nheight=1\nchannels=7",
                               "[region]\nclasses=2\nnum=1\nsoftmax=1\nanchors=1,2\n");
  ASSERT_EQ(found.size(), 7u);
  EXPECT_FLOAT_EQ(found[1], logistic(1));
  EXPECT_EQ(found[2], 2);
  EXPECT_FLOAT_EQ(found[4], logistic(4));
  EXPECT_FLOAT_EQ(found[6], logistic(1));  // of two classes that differ by 1
}

TEST(DarknetRegion, has_a_logistic_function_of_each_class_without_a_softmax) {
  const Floats found = outputs("width=1\nheight=1\nchannels=7",
                               "[region]\nclasses=2\nnum=1\nsoftmax=0\nanchors=1,2\n");
  ASSERT_EQ(found.size(), 7u);
  for (const std::size_t i : {0u, 1u, 4u, 5u, 6u})
    EXPECT_FLOAT_EQ(found[i], logistic(static_cast<float>(i))) << i;
}

TEST(DarknetHeads, keep_what_boxes_are_made_of) {
  const Model model = read_darknet(
      "[net]\nwidth=64\nheight=32\nchannels=12\nletter_box=1\n[maxpool]\nsize=2\nstride=2\n"
      "[yolo]\nclasses=1\nnum=3\nmask=0,2\nanchors=1,2, 3,4, 5,6\nscale_x_y=1.5\n"
      "nms_kind=greedynms\nbeta_nms=0.7\n",
      "a.cfg", {});
  EXPECT_EQ(model.heads.width, 64);
  EXPECT_EQ(model.heads.height, 32);
  EXPECT_TRUE(model.heads.letter_box);
  ASSERT_EQ(model.heads.heads.size(), 1u);
  const Head& head = model.heads.heads.front();
  EXPECT_EQ(head.output, "yolo1");
  EXPECT_EQ(head.layer, 1u);
  EXPECT_EQ(head.columns, 32);
  EXPECT_EQ(head.rows, 16);
  EXPECT_EQ(head.boxes, 2);
  EXPECT_EQ(head.classes, 1);
  EXPECT_EQ(head.anchors, (std::vector<Anchor>{{1, 2}, {5, 6}}));
  EXPECT_EQ(head.scale_x_y, 1.5);
  EXPECT_EQ(head.nms_kind, "greedynms");
  EXPECT_EQ(head.beta_nms, 0.7);
}

TEST(DarknetBatch, goes_through_heads) {
  ModelSource options;
  options.shapes["data"] = {2, 6, 3, 3};
  const Model model =
      read_darknet("[net]\nwidth=1\nheight=1\nchannels=6\n[yolo]\nclasses=1\nnum=1\nanchors=1,2\n",
                   "a.cfg", options);
  EXPECT_EQ(model.network[model.network.outputs[0]].shape, (Shape{2, 6, 3, 3}));
}

TEST(DarknetWeights, are_the_same_for_the_same_seed) {
  const std::string text =
      "[net]\nwidth=4\nheight=4\nchannels=3\n[convolutional]\nfilters=2\n"
      "batch_normalize=1\nactivation=mish\n";
  ModelSource other;
  other.seed = 2;
  const auto hash = [&](const ModelSource& options) {
    return hash_of(read_darknet(text, "a.cfg", options).network);
  };
  EXPECT_EQ(hash({}), hash({}));
  EXPECT_NE(hash({}), hash(other));
}

}  // namespace
}  // namespace millrace::formats::darknet
