// The detectors of the YOLO family, in which numbers are those of the published networks' layers.
#include <array>

#include "formats/zoo/architectures.h"
#include "formats/zoo/detector.h"

namespace millrace::formats::zoo {
namespace {

constexpr std::int64_t coco_classes = 80, voc_classes = 20;

struct Blocks {
  std::int64_t width;
  int count;
};

/// The convolution in front of a head, as many filters as it needs.
void predict(Detector& d, std::int64_t filters, Activation activation = Activation::linear) {
  d.activate_with(activation);
  d.conv(filters, {.normalized = false});
}

void yolo_head(Detector& d, double scale = 1) {
  predict(d, 3 * (4 + 1 + coco_classes));
  d.yolo(scale);
  d.activate_with(Activation::leaky);
}

/// Narrow and wide in turn, ending narrow.
void alternate(Detector& d, std::int64_t narrow, int convs) {
  for (int i = 0; i < convs; ++i) {
    if (i % 2 == 0) d.conv(narrow);
    if (i % 2 == 1) d.conv(2 * narrow, {.kernel = 3});
  }
}

void residual(Detector& d, std::int64_t narrow, const Blocks& blocks) {
  for (int i = 0; i < blocks.count; ++i) {
    d.conv(narrow);
    d.conv(blocks.width, {.kernel = 3, .gain = branch_gain});
    d.shortcut(-3);
  }
}

/// Half the resolution; then one half of the channels goes around the blocks.
void cross_stage(Detector& d, std::int64_t width, std::int64_t inside, const Blocks& blocks) {
  d.conv(width, {.kernel = 3, .stride = 2});
  d.conv(inside);
  d.route({-2});
  d.conv(inside);
  residual(d, blocks.width, {inside, blocks.count});
  d.conv(inside);
  d.route({-1, -(3 * blocks.count + 4)});
  d.conv(width);
}

/// Maxima over windows of three sizes beside what goes in.
void pyramid_pool(Detector& d) {
  d.max_pool(5);
  d.route({-2});
  d.max_pool(9);
  d.route({-4});
  d.max_pool(13);
  d.route({-1, -3, -5, -6});
}

/// Twice the resolution, beside what an earlier layer of the backbone had there.
void climb(Detector& d, std::int64_t width, int lateral) {
  d.conv(width);
  d.upsample();
  d.route({lateral});
  d.conv(width);
  d.route({-1, -3});
}

/// The way up and down again of yolov4 and csresnext50: three heads, from fine to coarse.
void aggregate(Detector& d, int fine, int middle, const std::array<double, 3>& scales) {
  d.activate_with(Activation::leaky);
  alternate(d, 512, 3);
  pyramid_pool(d);
  alternate(d, 512, 3);
  climb(d, 256, middle);
  alternate(d, 256, 5);
  climb(d, 128, fine);
  alternate(d, 128, 6);
  yolo_head(d, scales[0]);
  for (int i = 0; const int back : {-16, -37}) {
    const std::int64_t width = i == 0 ? 256 : 512;
    d.route({-4});
    d.conv(width, {.kernel = 3, .stride = 2});
    d.route({-1, back});
    alternate(d, width, 6);
    yolo_head(d, scales[static_cast<std::size_t>(++i)]);
  }
}

/// As in the backbone, without shortcuts.
void cross_neck(Detector& d, std::int64_t width) {
  d.conv(width);
  d.route({-2});
  for (int i = 0; i < 2; ++i) {
    d.conv(width);
    d.conv(width, {.kernel = 3});
  }
  d.route({-1, -6});
  d.conv(width);
}

void csp_head(Detector& d, std::int64_t filters) {
  d.conv(filters, {.kernel = 3});
  predict(d, 3 * (4 + 1 + coco_classes), Activation::logistic);
  d.yolo(2, true);
  d.activate_with(Activation::mish);
}

/// 3x3 convolutions and pools in turn; the last pool keeps the size.
void tiny_backbone(Detector& d) {
  for (const std::int64_t width : {16, 32, 64, 128, 256, 512}) {
    d.conv(width, {.kernel = 3});
    d.max_pool(2, width == 512 ? 1 : 2);
  }
  d.conv(1024, {.kernel = 3});
}

/// Half of the channels through two convolutions, both of which are kept.
void tiny_cross_stage(Detector& d, std::int64_t width) {
  d.conv(width, {.kernel = 3});
  d.second_half();
  d.conv(width / 2, {.kernel = 3});
  d.conv(width / 2, {.kernel = 3});
  d.route({-1, -2});
  d.conv(width);
  d.route({-6, -1});
  d.max_pool(2, 2);
}

/// The second, finer head of the tiny networks.
void tiny_fine_head(Detector& d, int lateral, double scale) {
  d.route({-4});
  d.conv(128);
  d.upsample();
  d.route({-1, lateral});
  d.conv(256, {.kernel = 3});
  yolo_head(d, scale);
}

/// Three convolutions, the middle one in 32 groups.
void grouped_block(Detector& d, std::int64_t width) {
  d.activate_with(Activation::leaky);
  d.conv(width);
  d.conv(width, {.kernel = 3, .groups = 32});
  d.activate_with(Activation::linear);
  d.conv(width, {.gain = branch_gain});
  d.shortcut(-4, Activation::leaky);
  d.activate_with(Activation::leaky);
}

void grouped_stage(Detector& d, const Blocks& blocks, Activation entry) {
  d.conv(blocks.width, {.kernel = 3, .stride = 2, .groups = 32});
  d.activate_with(entry);
  d.conv(blocks.width);
  d.route({-2});
  d.conv(blocks.width);
  for (int i = 0; i < blocks.count; ++i) grouped_block(d, blocks.width);
  d.conv(blocks.width);
  d.route({-1, -(4 * blocks.count + 4)});
  d.conv(2 * blocks.width);
}

}  // namespace

std::string yolov2(Builder& net, const Value& image) {
  Detector d(net, image);
  for (const std::int64_t width : {32, 64}) {
    d.conv(width, {.kernel = 3});
    d.max_pool(2, 2);
  }
  for (const std::int64_t width : {128, 256}) {
    d.conv(width, {.kernel = 3});
    alternate(d, width / 2, 2);
    d.max_pool(2, 2);
  }
  for (const std::int64_t width : {512, 1024}) {
    d.conv(width, {.kernel = 3});
    alternate(d, width / 2, 4);
    if (width == 512) d.max_pool(2, 2);
  }
  for (int i = 0; i < 2; ++i) d.conv(1024, {.kernel = 3});
  d.route({-9});
  d.conv(64);
  d.reorg();
  d.route({-1, -4});
  d.conv(1024, {.kernel = 3});
  predict(d, 5 * (4 + 1 + coco_classes));
  d.region(coco_classes);
  return d.finish();
}

std::string yolov2_tiny(Builder& net, const Value& image) {
  Detector d(net, image);
  tiny_backbone(d);
  d.conv(512, {.kernel = 3});
  predict(d, 5 * (4 + 1 + coco_classes));
  d.region(coco_classes);
  return d.finish();
}

std::string yolov3(Builder& net, const Value& image) {
  Detector d(net, image);
  d.conv(32, {.kernel = 3});
  for (const Blocks& blocks :
       {Blocks{64, 1}, Blocks{128, 2}, Blocks{256, 8}, Blocks{512, 8}, Blocks{1024, 4}}) {
    d.conv(blocks.width, {.kernel = 3, .stride = 2});
    residual(d, blocks.width / 2, blocks);
  }
  alternate(d, 512, 6);
  yolo_head(d);
  for (const auto& [width, lateral] : {std::pair{256, 61}, std::pair{128, 36}}) {
    d.route({-4});
    d.conv(width);
    d.upsample();
    d.route({-1, lateral});
    alternate(d, width, 6);
    yolo_head(d);
  }
  return d.finish();
}

std::string yolov3_tiny(Builder& net, const Value& image) {
  Detector d(net, image);
  tiny_backbone(d);
  alternate(d, 256, 2);
  yolo_head(d);
  tiny_fine_head(d, 8, 1);
  return d.finish();
}

std::string yolov4(Builder& net, const Value& image) {
  Detector d(net, image);
  d.activate_with(Activation::mish);
  d.conv(32, {.kernel = 3});
  cross_stage(d, 64, 64, {32, 1});
  for (const Blocks& blocks : {Blocks{64, 2}, Blocks{128, 8}, Blocks{256, 8}, Blocks{512, 4}})
    cross_stage(d, 2 * blocks.width, blocks.width, blocks);
  aggregate(d, 54, 85, {1.2, 1.1, 1.05});
  return d.finish();
}

std::string yolov4_tiny(Builder& net, const Value& image) {
  Detector d(net, image);
  for (const std::int64_t width : {32, 64}) d.conv(width, {.kernel = 3, .stride = 2});
  for (const std::int64_t width : {64, 128, 256}) tiny_cross_stage(d, width);
  d.conv(512, {.kernel = 3});
  alternate(d, 256, 2);
  constexpr double scale = 1.05;
  yolo_head(d, scale);
  tiny_fine_head(d, 23, scale);
  return d.finish();
}

std::string yolov4_csp(Builder& net, const Value& image) {
  Detector d(net, image);
  d.activate_with(Activation::mish);
  d.conv(32, {.kernel = 3});
  d.conv(64, {.kernel = 3, .stride = 2});
  residual(d, 32, {64, 1});
  for (const Blocks& blocks : {Blocks{64, 2}, Blocks{128, 8}, Blocks{256, 8}, Blocks{512, 4}})
    cross_stage(d, 2 * blocks.width, blocks.width, blocks);
  d.conv(512);
  d.route({-2});
  alternate(d, 512, 1);
  d.conv(512, {.kernel = 3});
  d.conv(512);
  pyramid_pool(d);
  d.conv(512);
  d.conv(512, {.kernel = 3});
  d.route({-1, -13});
  d.conv(512);
  climb(d, 256, 79);
  d.conv(256);
  cross_neck(d, 256);
  climb(d, 128, 48);
  d.conv(128);
  cross_neck(d, 128);
  csp_head(d, 256);
  for (const auto& [width, back] : {std::pair{256, -20}, std::pair{512, -49}}) {
    d.route({-4});
    d.conv(width, {.kernel = 3, .stride = 2});
    d.route({-1, back});
    d.conv(width);
    cross_neck(d, width);
    csp_head(d, 2 * width);
  }
  return d.finish();
}

std::string csresnext50_panet(Builder& net, const Value& image) {
  Detector d(net, image);
  d.conv(64, {.kernel = 7, .stride = 2});
  d.max_pool(2, 2);
  d.conv(128);
  d.route({-2});
  d.conv(64);
  for (int i = 0; i < 3; ++i) grouped_block(d, 128);
  d.conv(128);
  d.route({-1, -16});
  d.conv(256);
  grouped_stage(d, {256, 3}, Activation::linear);
  grouped_stage(d, {512, 5}, Activation::linear);
  grouped_stage(d, {1024, 2}, Activation::leaky);
  aggregate(d, 38, 65, {1, 1, 1});
  return d.finish();
}

std::string densenet201_yolo(Builder& net, const Value& image) {
  Detector d(net, image);
  d.conv(64, {.kernel = 7, .stride = 2});
  d.max_pool(2, 2);
  for (const Blocks& blocks :
       {Blocks{128, 6}, Blocks{256, 12}, Blocks{512, 48}, Blocks{1024, 32}}) {
    for (int i = 0; i < blocks.count; ++i) {
      d.conv(128);
      d.conv(32, {.kernel = 3});
      d.route({-1, -3});
    }
    d.conv(blocks.width);
    if (blocks.width != 1024) d.max_pool(2, 2);
  }
  d.conv(1024, {.kernel = 3});
  predict(d, 5 * (4 + 1 + voc_classes));
  d.region(voc_classes);
  return d.finish();
}

}  // namespace millrace::formats::zoo
