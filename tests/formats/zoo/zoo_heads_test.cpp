#include "formats/zoo_heads.h"

#include <gtest/gtest.h>

#include "formats/zoo.h"
#include "support/shared.h"

namespace millrace::formats {

using namespace network;
namespace {

struct Pair {
  const char *zoo, *file;
};

class ZooHeads : public testing::TestWithParam<Pair> {};
INSTANTIATE_TEST_SUITE_P(
    All, ZooHeads,
    testing::Values(Pair{"yolov2", "yolov2"}, Pair{"yolov2_tiny", "yolov2-tiny"},
                    Pair{"yolov3", "yolov3"}, Pair{"yolov3_tiny", "yolov3-tiny"},
                    Pair{"yolov4", "yolov4"}, Pair{"yolov4_tiny", "yolov4-tiny"},
                    Pair{"yolov4_csp", "yolov4-csp"},
                    Pair{"csresnext50_panet", "csresnext50-panet-spp"},
                    Pair{"densenet201_yolo", "densenet201_yolo"}),
    [](const auto& test) { return std::string(test.param.zoo); });

TEST_P(ZooHeads, are_those_of_the_published_configuration) {
  const auto folder = std::filesystem::path("models/darknet_cfg");
  MILLRACE_NEEDS_SHARED(folder);
  const auto expected =
      darknet::read_heads(
          {.file = test::shared_folder() / folder / (std::string(GetParam().file) + ".cfg")});
  const auto found = zoo_heads(GetParam().zoo);
  ASSERT_EQ(found.heads.size(), expected.heads.size());
  for (std::size_t i = 0; i < found.heads.size(); ++i) {
    EXPECT_EQ(found.heads[i].kind, expected.heads[i].kind);
    EXPECT_EQ(found.heads[i].boxes, expected.heads[i].boxes);
    EXPECT_EQ(found.heads[i].classes, expected.heads[i].classes);
    EXPECT_EQ(found.heads[i].anchors, expected.heads[i].anchors);
    EXPECT_EQ(found.heads[i].scale_x_y, expected.heads[i].scale_x_y);
    EXPECT_EQ(found.heads[i].new_coords, expected.heads[i].new_coords);
    EXPECT_EQ(found.heads[i].softmax, expected.heads[i].softmax);
    EXPECT_TRUE(found.heads[i].activated);
  }
}

TEST(ZooHeads, are_there_for_detectors_and_not_for_classifiers) {
  EXPECT_TRUE(zoo_heads("resnet18").heads.empty());
  ASSERT_EQ(zoo_heads("tiny_yolo_v2").heads.size(), 1u);
  EXPECT_FALSE(zoo_heads("tiny_yolo_v2").heads[0].activated);
  std::size_t detectors = 0;
  for (const std::string& name : zoo_names()) detectors += zoo_heads(name).heads.empty() ? 0u : 1u;
  EXPECT_EQ(detectors, 10u);
}

}  // namespace
}  // namespace millrace::formats
