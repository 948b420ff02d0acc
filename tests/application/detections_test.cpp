#include "application/detections.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "application/application.h"
#include "application/postprocess.h"
#include "support/darknet.h"
#include "support/message_of.h"
#include "support/shared.h"

namespace millrace::application {
namespace {

using Kind = formats::darknet::Head::Kind;

/// "DET class 16 prob 0.98 x 0.31 y 0.64 w 0.25 h 0.52", in shares of the picture.
std::vector<Candidate> printed(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Candidate> result;
  for (std::string line, word; std::getline(file, line);) {
    if (!line.starts_with("DET ")) continue;
    std::istringstream words(line);
    Candidate c;
    words >> word >> word >> c.label >> word >> c.probability >> word >> c.x >> word >> c.y >>
        word >> c.width >> word >> c.height;
    result.push_back(c);
  }
  return result;
}

void expect_same(std::vector<Candidate> found, std::vector<Candidate> expected) {
  ASSERT_EQ(found.size(), expected.size());
  const auto by_label = [](const Candidate& a, const Candidate& b) {
    return std::pair(a.label, -a.probability) < std::pair(b.label, -b.probability);
  };
  std::sort(found.begin(), found.end(), by_label);
  std::sort(expected.begin(), expected.end(), by_label);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].label, expected[i].label) << i;
    EXPECT_NEAR(found[i].probability, expected[i].probability, 1e-5) << i;
    EXPECT_NEAR(found[i].x, expected[i].x, 1e-5) << i;
    EXPECT_NEAR(found[i].y, expected[i].y, 1e-5) << i;
    EXPECT_NEAR(found[i].width, expected[i].width, 1e-5) << i;
    EXPECT_NEAR(found[i].height, expected[i].height, 1e-5) << i;
  }
}

std::vector<Candidate> decoded(const HeadSettings& head, const network::Array& output,
                               const Size& input, double threshold) {
  MostProbable found(threshold, 1000);
  decode(head, output, input, found);
  return found.take().candidates;
}

class StoredDetections : public testing::TestWithParam<const char*> {};

/// Whether the stored numbers are those behind the head's logistic functions or before.
void compare(const std::string& name, bool activated) {
  const auto folder = test::shared_folder() / "models/darknet";
  const test::StoredDarknet stored = test::read_stored_darknet(folder, name);
  const auto& heads = stored.model.heads;
  std::vector<HeadSettings> settings = heads_of(heads, "yolo", "test");
  std::vector<Candidate> found;
  std::size_t head = 0;
  for (const test::StoredLayer& layer : stored.layers) {
    if (layer.is_head != activated) continue;
    settings[head].activated = activated;
    const auto more = decoded(settings[head++], layer.values, {heads.width, heads.height}, 0.25);
    found.insert(found.end(), more.begin(), more.end());
  }
  expect_same(suppress(found, 0.45), printed(folder / (name + ".txt")));
}

TEST_P(StoredDetections, come_out_of_the_originals_heads) {
  MILLRACE_NEEDS_SHARED("models/darknet");
  compare(GetParam(), true);
}

TEST_P(StoredDetections, come_out_of_what_goes_into_the_heads) {
  MILLRACE_NEEDS_SHARED("models/darknet");
  compare(GetParam(), false);
}

INSTANTIATE_TEST_SUITE_P(Networks, StoredDetections,
                         testing::Values("MobileNetV2-YOLOv3-Nano-coco", "yolo-fastest-1.1",
                                         "yolo-fastest-1.1_body"));

network::Array one_box(const std::vector<float>& values) {
  const network::Shape shape{1, static_cast<std::int64_t>(values.size()), 1, 1};
  return network::make_array(network::DataType::float32, shape, std::span<const float>(values));
}

TEST(decode, takes_anchors_of_region_in_cells_and_of_yolo_in_pixels) {
  const network::Array output = one_box({0.5f, 0.25f, 0, 0, 1, 0.9f});
  HeadSettings head{Kind::region, {}, {{0.5, 0.25}}};
  const auto region = decoded(head, output, {100, 50}, 0.5);
  head.kind = Kind::yolo;
  head.anchors = {{20, 10}};
  const auto yolo = decoded(head, output, {100, 50}, 0.5);
  ASSERT_EQ(region.size(), 1u);
  EXPECT_DOUBLE_EQ(region[0].width, 0.5);
  EXPECT_DOUBLE_EQ(region[0].height, 0.25);
  ASSERT_EQ(yolo.size(), 1u);
  EXPECT_DOUBLE_EQ(yolo[0].width, 0.2);
  EXPECT_DOUBLE_EQ(yolo[0].height, 0.2);
  EXPECT_DOUBLE_EQ(yolo[0].y, 0.25);
}

TEST(decode, uses_softmax_over_the_classes_of_a_raw_region) {
  HeadSettings head{Kind::region, {}, {{1, 1}}, false};
  const auto found = decoded(head, one_box({0, 0, 0, 0, 100, 0, std::log(3.0f)}), {32, 32}, 0.5);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].label, 1);
  EXPECT_NEAR(found[0].probability, 0.75, 1e-6);
}

TEST(decode, squares_lengths_of_new_coordinates_and_widens_places) {
  HeadSettings head{Kind::yolo, {}, {{8, 8}}, false, 2, true};
  const auto found = decoded(head, one_box({1, 0.5f, 0.5f, 1, 100, 100}), {32, 32}, 0.5);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].x, 1.5, 1e-6);
  EXPECT_NEAR(found[0].y, 0.5, 1e-6);
  EXPECT_NEAR(found[0].width, 0.25, 1e-6);
  EXPECT_NEAR(found[0].height, 1, 1e-6);
}

TEST(decode, passes_over_what_is_no_number) {
  const float nan = std::nanf(""), huge = 1e9f;
  HeadSettings head{Kind::yolo, {}, {{8, 8}}};
  for (const auto& values :
       {std::vector<float>{0, 0, 0, 0, nan, 1}, {0, 0, 0, 0, 1, nan}, {0, 0, huge, 0, 1, 1}})
    EXPECT_TRUE(decoded(head, one_box(values), {32, 32}, 0.1).empty());
}

Candidate box(std::int64_t label, double probability, double x) {
  return {label, probability, x, 0.5, 0.2, 0.2};
}

TEST(suppress, keeps_the_better_of_two_of_a_class_that_overlap) {
  const auto kept = suppress({box(1, 0.5, 0.5), box(1, 0.9, 0.51), box(1, 0.4, 0.9)}, 0.45);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].probability, 0.9);
  EXPECT_EQ(kept[1].probability, 0.4);
}

TEST(suppress, leaves_other_classes_alone) {
  EXPECT_EQ(suppress({box(1, 0.5, 0.5), box(2, 0.9, 0.5)}, 0.45).size(), 2u);
}

MostProbable::Result best_of(const std::vector<Candidate>& all, std::int64_t most) {
  MostProbable best(0.1, most);
  for (const Candidate& candidate : all)
    if (best.takes(candidate.probability)) best.add(candidate);
  return best.take();
}

TEST(MostProbable, says_how_many_it_left_out) {
  const std::vector<Candidate> boxes{box(1, 0.5, 0.5), box(1, 0.9, 0.5), box(1, 0.7, 0.5)};
  EXPECT_EQ(best_of(boxes, 3).left_out, 0);
  const auto best = best_of(boxes, 1);
  EXPECT_EQ(best.left_out, 2);
  ASSERT_EQ(best.candidates.size(), 1u);
  EXPECT_EQ(best.candidates[0].probability, 0.9);
}

TEST(MostProbable, keeps_the_same_in_whatever_order_they_come) {
  std::vector<Candidate> boxes;
  for (int i = 0; i < 1000; ++i) boxes.push_back(box(i % 7, (i * 37 % 50) / 50.0, i / 1000.0));
  const auto sorted = [](std::vector<Candidate> kept) {
    std::ranges::sort(kept, {}, &Candidate::x);
    return kept;
  };
  const auto forwards = best_of(boxes, 30);
  std::ranges::reverse(boxes);
  const auto backwards = best_of(boxes, 30);
  EXPECT_EQ(forwards.left_out, 850);
  EXPECT_EQ(backwards.left_out, 850);
  const auto a = sorted(forwards.candidates), b = sorted(backwards.candidates);
  ASSERT_EQ(a.size(), 30u);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].x, b[i].x) << i;
  for (const Candidate& each : a) EXPECT_GE(each.probability, 0.96);
}

TEST(to_picture, undoes_a_letterbox) {
  const Size input{100, 100}, picture{200, 100};
  const Placement placement = place(picture, input, Fit::letterbox);
  EXPECT_EQ(placement.top, 25);
  EXPECT_EQ(placement.size, (Size{100, 50}));
  const auto found = to_picture({{3, 0.5, 0.5, 0.5, 1, 0.5}}, input, placement, picture);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], (Detection{3, 0.5, 0, 0, 200, 100}));
}

TEST(to_picture, cuts_boxes_at_the_borders) {
  const Size input{100, 100}, picture{200, 100};
  const std::vector<Candidate> boxes{{0, 0.75, 0.125, 0.875, 0.5, 0.5},  // beyond left and bottom
                                     {1, 0.5, 0.5, 0.5, 0.25, 0.25},     // within
                                     {2, 0.25, 0.5, -0.5, 3, 0.5}};      // above
  const auto found = to_picture(boxes, input, place(picture, input, Fit::stretch), picture);
  ASSERT_EQ(found.size(), 2u);  // the last one lies outside
  EXPECT_EQ(found[0], (Detection{0, 0.75, 0, 62.5, 75, 37.5}));
  EXPECT_EQ(found[1], (Detection{1, 0.5, 75, 37.5, 50, 25}));
}

TEST(place, rounds_a_letterbox_to_whole_pixels) {
  const Placement wide = place({120, 100}, {96, 64}, Fit::letterbox);  // 76.8 pixels
  EXPECT_EQ(wide.size, (Size{77, 64}));
  EXPECT_EQ(wide.left, 9);
  const Placement high = place({810, 1080}, {640, 640}, Fit::letterbox);
  EXPECT_EQ(high.size, (Size{480, 640}));
  EXPECT_EQ(place({1000, 3}, {64, 64}, Fit::letterbox).size, (Size{64, 1}));
}

TEST(check_head, says_what_does_not_fit) {
  network::Tensor output{"out", network::DataType::float32, {1, 255, 13, 13}, {}};
  HeadSettings head{Kind::yolo, {}, {{1, 1}, {2, 2}, {3, 3}}};
  EXPECT_EQ(check_head(head, output, "here"), 80);
  output.shape = {1, 1000};
  EXPECT_NE(test::message_of([&] { check_head(head, output, "here"); }).find("here: the output"),
            std::string::npos);
  output.shape = {1, 254, 13, 13};
  EXPECT_NE(test::message_of([&] { check_head(head, output, "here"); }).find("3 anchors"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::application
