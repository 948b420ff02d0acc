#include "application/heads/head.h"

#include <gtest/gtest.h>

#include <cmath>

#include "application/heads/heads_support.h"
#include "application/heads/overlap.h"
#include "support/message_of.h"

namespace millrace::application {
namespace {

using test::application_of;
using test::found;
using test::sparse;

constexpr Size input{64, 64};  // 64, 16 and 4 cells

void expect_box(const Detection& found, const Detection& expected) {
  EXPECT_EQ(found.label, expected.label);
  EXPECT_NEAR(found.probability, expected.probability, 1e-6);
  EXPECT_NEAR(found.left, expected.left, 1e-4);
  EXPECT_NEAR(found.top, expected.top, 1e-4);
  EXPECT_NEAR(found.width, expected.width, 1e-4);
  EXPECT_NEAR(found.height, expected.height, 1e-4);
}

TEST(detect, reads_boxes_with_objectness_of_three_anchors) {
  const auto output = sparse({1, 252, 7}, {{7 * 10, {20, 30, 8, 4, 0.5f, 0.2f, 0.8f}}});
  const Findings findings = found(application_of("detect"), input, {{"output0", output}});
  ASSERT_EQ(findings.detections->size(), 1u);
  expect_box(findings.detections->front(), {1, 0.4, 16, 28, 8, 4});
}

TEST(detect, reads_boxes_that_lie_in_columns) {
  std::vector<float> values(6 * 84);
  const std::vector<float> column{20, 30, 8, 4, 0.1f, 0.7f};
  for (std::size_t i = 0; i < column.size(); ++i) values[i * 84 + 5] = column[i];
  const auto output = test::array_of({1, 6, 84}, values);
  const Findings findings = found(application_of("detect"), input, {{"output0", output}});
  ASSERT_EQ(findings.detections->size(), 1u);
  expect_box(findings.detections->front(), {1, 0.7, 16, 28, 8, 4});
}

TEST(detect, decodes_the_grid_of_yolox_where_it_is_named) {
  // The third cell of the second grid (stride 16): column 2 of row 0.
  const auto output = sparse({1, 84, 6}, {{6 * 66, {0.5f, 0.25f, std::log(2.0f), 0, 0.9f, 0.5f}}});
  const Findings findings = found(application_of("detect", "yolox"), input, {{"output", output}});
  ASSERT_EQ(findings.detections->size(), 1u);
  // From 4 - 8 to 4 + 8, cut at the top.
  expect_box(findings.detections->front(), {0, 0.45, 40 - 16, 0, 32, 12});
}

TEST(detect, takes_the_peaks_of_a_heat_map) {
  std::vector<float> heat(16 * 16);
  heat[5 * 16 + 3] = 0.8f;
  heat[5 * 16 + 4] = 0.7f;  // beside a larger one
  std::vector<float> sizes(2 * 16 * 16), offsets(2 * 16 * 16);
  sizes[5 * 16 + 3] = 2;
  sizes[256 + 5 * 16 + 3] = 3;
  offsets[5 * 16 + 3] = 0.5f;
  const network::Shape pair{1, 2, 16, 16};
  const Findings findings = found(application_of("detect"), input,
                                  {{"hm", test::array_of({1, 1, 16, 16}, heat)},
                                   {"reg", test::array_of(pair, offsets)},
                                   {"wh", test::array_of(pair, sizes)}});
  ASSERT_EQ(findings.detections->size(), 1u);
  expect_box(findings.detections->front(), {0, 0.8, 14 - 4, 20 - 6, 8, 12});
}

TEST(detect, leaves_out_the_background_of_ssd) {
  std::vector<float> scores(1500 * 3, 0.0f);
  scores[0] = 0.9f;  // background
  scores[3 * 7 + 2] = 0.6f;
  const auto boxes = sparse({1, 1500, 4}, {{4 * 7, {0.25f, 0.5f, 0.75f, 1}}});
  const Findings findings =
      found(application_of("detect"), input,
            {{"boxes", boxes}, {"scores", test::array_of({1, 1500, 3}, scores)}});
  ASSERT_EQ(findings.detections->size(), 1u);
  expect_box(findings.detections->front(), {1, 0.6, 16, 32, 32, 32});
}

TEST(detect, tells_yolo_nas_from_ssd_by_its_cells) {
  const auto boxes = sparse({1, 84, 4}, {{4 * 7, {16, 32, 48, 64}}});
  const auto scores = sparse({1, 84, 3}, {{3 * 7, {0.6f}}});
  const Findings findings = found(application_of("detect"), input, {{"a", boxes}, {"b", scores}});
  ASSERT_EQ(findings.detections->size(), 1u);
  expect_box(findings.detections->front(), {0, 0.6, 16, 32, 32, 32});
}

TEST(detect, does_not_suppress_a_list_of_boxes) {
  const auto output = sparse({1, 30, 6}, {{0, {10, 20, 30, 40, 0.9f, 2}},  //
                                          {6, {10, 20, 30, 40, 0.8f, 2}}});
  const Findings findings = found(application_of("detect"), input, {{"output0", output}});
  ASSERT_EQ(findings.detections->size(), 2u);
  expect_box(findings.detections->at(1), {2, 0.8, 10, 20, 20, 20});
}

TEST(detect, reads_queries_in_one_output_and_in_two) {
  const auto one = sparse({1, 30, 7}, {{7 * 3, {0.5f, 0.5f, 0.25f, 0.5f, 0.1f, 0.2f, 0.6f}}});
  const Findings single = found(application_of("detect"), input, {{"output0", one}});
  ASSERT_EQ(single.detections->size(), 1u);
  expect_box(single.detections->front(), {2, 0.6, 24, 16, 16, 32});

  std::vector<float> scores(30 * 80, -10.0f);
  scores[80 * 3 + 7] = 1;
  const auto boxes = sparse({1, 30, 4}, {{4 * 3, {0.5f, 0.5f, 0.25f, 0.5f}}});
  const Findings pair =
      found(application_of("detect"), input,
            {{"logits", test::array_of({1, 30, 80}, scores)}, {"pred_boxes", boxes}});
  ASSERT_EQ(pair.detections->size(), 1u);
  expect_box(pair.detections->front(), {7, 1 / (1 + std::exp(-1.0)), 24, 16, 16, 32});
}

TEST(detect, uses_softmax_with_a_class_for_nothing_of_detr) {
  std::vector<float> scores(20 * 3);
  for (std::size_t i = 0; i < 20; ++i) scores[3 * i + 2] = 9;  // nothing
  scores[0] = std::log(6.0f);
  scores[1] = std::log(3.0f);
  scores[2] = 0;
  const auto boxes = sparse({1, 20, 4}, {{0, {0.5f, 0.5f, 0.25f, 0.5f}}});
  const Findings findings =
      found(application_of("detect", "detr"), input,
            {{"pred_boxes", boxes}, {"logits", test::array_of({1, 20, 3}, scores)}});
  ASSERT_EQ(findings.detections->size(), 1u);
  expect_box(findings.detections->front(), {0, 0.6, 24, 16, 16, 32});
}

TEST(detect, takes_keypoints_and_names_from_the_metadata) {
  std::vector<float> values((4 + 1 + 6) * 84);
  const std::vector<float> column{20, 30, 8, 4, 0.7f, 18, 29, 0.9f, 22, 31, 0.1f};
  for (std::size_t i = 0; i < column.size(); ++i) values[i * 84 + 5] = column[i];
  const Findings findings =
      found(application_of("detect"), input, {{"output0", test::array_of({1, 11, 84}, values)}},
            {{"task", "pose"}, {"kpt_shape", "[2, 3]"}, {"names", "{0: 'person'}"}});
  ASSERT_EQ(findings.detections->size(), 1u);
  const std::vector<Keypoint>& keypoints = findings.detections->front().keypoints;
  ASSERT_EQ(keypoints.size(), 2u);
  EXPECT_NEAR(keypoints[0].at.x, 18, 1e-4);
  EXPECT_NEAR(keypoints[0].at.y, 29, 1e-4);
  EXPECT_NEAR(keypoints[1].probability, 0.1, 1e-6);
}

TEST(detect, gives_the_corners_of_turned_boxes) {
  Application application = application_of("detect");
  application.postprocess.detection.facts.task = "obb";
  std::vector<float> values(6 * 84);
  const std::vector<float> column{20, 30, 8, 4, 0.7f, static_cast<float>(std::acos(-1) / 2)};
  for (std::size_t i = 0; i < column.size(); ++i) values[i * 84 + 5] = column[i];
  const Findings findings =
      found(application, input, {{"output0", test::array_of({1, 6, 84}, values)}});
  ASSERT_EQ(findings.detections->size(), 1u);
  const Detection& box = findings.detections->front();
  expect_box(box, {0, 0.7, 18, 26, 4, 8});
  ASSERT_EQ(box.corners.size(), 4u);
  EXPECT_NEAR(box.corners[0].x, 22, 1e-4);  // its top left corner before it was turned clockwise
  EXPECT_NEAR(box.corners[0].y, 26, 1e-4);
}

TEST(detect, adds_prototypes_up_to_masks) {
  // One plane of 16 x 16 whose left half is above 0: 4 pixels of the input each.
  std::vector<float> plane;
  for (int i = 0; i < 256; ++i) plane.push_back(i % 16 < 8 ? 1.0f : -1.0f);
  std::vector<float> values(6 * 84);
  const std::vector<float> column{32, 32, 16, 8, 0.7f, 2};
  for (std::size_t i = 0; i < column.size(); ++i) values[i * 84 + 5] = column[i];
  const Findings findings = found(application_of("detect"), input,
                                  {{"output0", test::array_of({1, 6, 84}, values)},
                                   {"output1", test::array_of({1, 1, 16, 16}, plane)}});
  ASSERT_EQ(findings.detections->size(), 1u);
  const Mask& mask = *findings.detections->front().mask;
  EXPECT_EQ(mask.left, 24);
  EXPECT_EQ(mask.top, 28);
  ASSERT_EQ(mask.width, 16);
  ASSERT_EQ(mask.height, 8);
  for (std::size_t i = 0; i < mask.inside.size(); ++i)
    EXPECT_EQ(mask.inside[i], i % 16 < 8 ? 1 : 0) << i;
}

TEST(detect, suppresses_boxes_of_other_classes_where_it_is_asked_to) {
  const auto output = sparse({1, 252, 7}, {{0, {20, 30, 8, 4, 1, 0, 0.8f}},  //
                                           {7, {20, 30, 8, 4, 1, 0.9f, 0}}});
  Application application = application_of("detect");
  EXPECT_EQ(found(application, input, {{"o", output}}).detections->size(), 2u);
  application.postprocess.detection.class_agnostic = true;
  const Findings findings = found(application, input, {{"o", output}});
  ASSERT_EQ(findings.detections->size(), 1u);
  EXPECT_EQ(findings.detections->front().label, 0);
}

TEST(keypoints, lie_at_the_peaks_of_their_maps) {
  std::vector<float> heat(2 * 16 * 16);
  heat[5 * 16 + 3] = 0.8f;
  heat[5 * 16 + 4] = 0.7f;  // so a quarter of a cell to the right
  heat[256 + 15 * 16 + 15] = 0.4f;
  const Findings findings =
      found(application_of("keypoints"), input, {{"heat", test::array_of({1, 2, 16, 16}, heat)}});
  ASSERT_EQ(findings.detections->size(), 1u);
  const Detection& whole = findings.detections->front();
  EXPECT_NEAR(whole.probability, 0.6, 1e-6);
  ASSERT_EQ(whole.keypoints.size(), 2u);
  EXPECT_NEAR(whole.keypoints[0].at.x, 13, 1e-9);
  EXPECT_NEAR(whole.keypoints[0].at.y, 20, 1e-9);
  EXPECT_NEAR(whole.keypoints[1].at.x, 60, 1e-9);
  EXPECT_NEAR(whole.keypoints[1].probability, 0.4, 1e-6);
}

TEST(keypoints, lie_where_both_axes_are_most_probable) {
  std::vector<float> across(128), down(128);
  across[31] = 0.9f;
  down[65] = 0.5f;
  const Findings findings = found(application_of("keypoints"), input,
                                  {{"simcc_x", test::array_of({1, 1, 128}, across)},
                                   {"simcc_y", test::array_of({1, 1, 128}, down)}});
  const std::vector<Keypoint>& keypoints = findings.detections->front().keypoints;
  ASSERT_EQ(keypoints.size(), 1u);
  EXPECT_NEAR(keypoints[0].at.x, 15.5, 1e-9);
  EXPECT_NEAR(keypoints[0].at.y, 32.5, 1e-9);
  EXPECT_NEAR(keypoints[0].probability, 0.5, 1e-6);
}

std::string complaint(const std::string& head, const network::Shape& shape,
                      const std::map<std::string, std::string>& metadata = {}) {
  return test::message_of([&] {
    found(application_of("detect", head), input, {{"out", sparse(shape, {})}}, metadata);
  });
}

TEST(recognise, says_what_was_found_and_what_would_fit) {
  EXPECT_EQ(complaint("end_to_end", {1, 252, 7}),
            "here: the head 'end_to_end' expects 1 x boxes x 6, but the outputs are 'out' 1x252x7; "
            "what fits is: yolov5");
  EXPECT_EQ(complaint("yolov8", {10}),
            "here: the head 'yolov8' expects 1 x (4 + classes) x boxes, but the outputs are 'out' "
            "10; no other head fits, use raw or a plug-in");
  EXPECT_EQ(complaint("", {1, 3, 5, 7}),
            "here: no head fits the outputs 'out' 1x3x5x7; name one with 'head', or use raw or a "
            "plug-in");
  EXPECT_EQ(complaint("", {1, 84, 7}),
            "here: the outputs 'out' 1x84x7 may be of these heads: yolov6, yolox; say which with "
            "'head'");
  EXPECT_NE(complaint("yolov55", {1, 252, 7}).find("did you mean 'yolov5'"), std::string::npos);
}

TEST(recognise, uses_the_number_of_classes_where_shapes_are_not_enough) {
  EXPECT_EQ(complaint("", {1, 84, 7}, {{"names", "{0: 'a', 1: 'b', 2: 'c'}"}}), "no error");
}

TEST(overlap_of, is_that_of_turned_boxes) {
  Candidate a{0, 1, 0.5, 0.5, 0.25, 0.25}, b = a;
  b.angle = std::acos(-1) / 2;
  EXPECT_NEAR(overlap_of(a, b, input), 1, 1e-9);  // a square turned by 90 degrees
  b.angle = std::acos(-1) / 4;
  // The common part is a regular octagon: 2 (sqrt(2) - 1) of the square.
  const double both = 2 * (std::sqrt(2.0) - 1);
  EXPECT_NEAR(overlap_of(a, b, input), both / (2 - both), 1e-9);
  b.x = 0.9;
  EXPECT_EQ(overlap_of(a, b, input), 0);
}

}  // namespace
}  // namespace millrace::application
