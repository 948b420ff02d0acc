#include "application/cascade/crops.h"

#include <gtest/gtest.h>

#include <cmath>

#include "application/run.h"
#include "base/error.h"
#include "runtime/session_fixture.h"
#include "support/message_of.h"

namespace millrace::application {
namespace {

using namespace std::chrono_literals;

/// Each pixel says where it is: red its column, green its row.
Picture picture_of(int width, int height) {
  auto pixels = std::make_shared<network::Buffer>(Bytes{3 * width * height});
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      std::byte* pixel = pixels->data() + 3 * (y * width + x);
      pixel[0] = static_cast<std::byte>(x);
      pixel[1] = static_cast<std::byte>(y);
    }
  Picture picture;
  picture.image = {width, height, std::move(pixels)};
  return picture;
}

Findings boxes(std::vector<Detection> detections) {
  Findings findings;
  findings.detections = std::move(detections);
  return findings;
}

CropFindings chosen(const Detection& box, double margin = 0) {
  Crops crops;
  crops.margin = margin;
  Findings findings = boxes({box});
  choose_crops({.crops = &crops}, picture_of(40, 30), findings);
  return findings.crops.empty() ? CropFindings{} : findings.crops.front();
}

TEST(choose_crops, takes_whole_pixels_outwards_up_to_the_border) {
  CropFindings inside;
  inside.left = 3, inside.top = 4, inside.width = 8, inside.height = 6;
  EXPECT_EQ(chosen({0, 1, 3.2, 4.9, 7.3, 4.2}), inside);
  CropFindings corner;
  corner.left = 38, corner.top = 28, corner.width = 2, corner.height = 2;
  EXPECT_EQ(chosen({0, 1, 38, 28, 10, 10}), corner);
  CropFindings wider;
  wider.left = 8, wider.top = 9, wider.width = 14, wider.height = 7;
  EXPECT_EQ(chosen({0, 1, 10, 10, 10, 5}, 0.2), wider);
}

TEST(choose_crops, takes_the_box_that_a_line_of_json_has) {
  EXPECT_EQ(chosen({0, 1, 5, 5, 9.9999999999, 10.0000000001}).width, 10);
  EXPECT_EQ(chosen({0, 1, 5, 5, 9.9999999999, 10.0000000001}).height, 10);
}

TEST(choose_crops, counts_boxes_without_a_pixel_and_those_above_the_bound) {
  Crops crops;
  crops.most = 2;
  Findings findings = boxes({{0, 0.9, 700, 3, 12, 12},
                             {0, 0.8, 5, 5, 0, 12},
                             {0, 0.7, 5, 5, 2, 2},
                             {1, 0.6, 5, 5, 2, 2},
                             {0, 0.5, 6, 5, 2, 2},
                             {0, 0.4, 7, 5, 2, 2}});
  choose_crops({.crops = &crops, .classes = {0}}, picture_of(40, 30), findings);
  EXPECT_EQ(findings.outside, 2);
  EXPECT_EQ(findings.not_cropped, 1);
  ASSERT_EQ(findings.crops.size(), 2u);
  EXPECT_EQ(findings.crops[0].detection, 2u);
  EXPECT_EQ(findings.crops[1].detection, 4u);
}

TEST(choose_crops, needs_boxes_and_a_picture) {
  const Crops crops;
  Findings none, some = boxes({});
  EXPECT_EQ(test::message_of([&] { choose_crops({&crops}, picture_of(4, 4), none); }),
            "detections: the post-processing gave none; crops need its boxes");
  EXPECT_EQ(test::message_of([&] { choose_crops({&crops}, Picture{}, some); }),
            "picture: the frame is an array, and crops are cut from pictures");
}

TEST(cut, copies_the_rows_of_the_crop) {
  CropFindings where;
  where.left = 3, where.top = 4, where.width = 5, where.height = 2;
  const Image image = cut(picture_of(40, 30), where).image;
  EXPECT_EQ(image.width, 5);
  EXPECT_EQ(image.height, 2);
  ASSERT_EQ(image.bytes().size(), 30u);
  EXPECT_EQ(image.bytes()[0], 3);
  EXPECT_EQ(image.bytes()[1], 4);
  EXPECT_EQ(image.bytes()[3 * 9], 7);
  EXPECT_EQ(image.bytes()[3 * 9 + 1], 5);
}

TEST(add_findings, puts_keypoints_into_the_picture_and_refuses_boxes) {
  Findings all = boxes({{0, 1, 10, 20, 5, 5}});
  all.crops.push_back({0, 10, 20, 5, 5});
  Findings found = boxes({{0, 1, 0, 0, 5, 5}});
  found.detections->front().keypoints = {{{1, 2}, 0.5}};
  add_findings(found, 0, all);
  EXPECT_EQ(all.detections->front().keypoints.front().at, (Point{11, 22}));
  EXPECT_NE(test::message_of([&] { add_findings(boxes({}), 0, all); })
                .find("found boxes or a map in a crop"),
            std::string::npos);
}

/// So many frames; each has frame % 4 boxes.
class Frames : public Source {
 public:
  explicit Frames(std::int64_t count) : count_(count) {}
  std::optional<Picture> next() override {
    if (next_ == count_) return std::nullopt;
    Picture picture = picture_of(40, 30);
    picture.frame = next_++;
    picture.name = "frame";
    return picture;
  }

 private:
  std::int64_t count_, next_ = 0;
};

std::vector<network::Array> sketched(float value) {
  return {network::make_array(network::DataType::float32, test::Sketch::shape,
                              std::span<const float>(std::vector<float>(6, value)))};
}

class FindsBoxes : public Processing {
 public:
  std::vector<network::Array> before(const Picture& picture) const override {
    return sketched(static_cast<float>(picture.frame));
  }
  Findings after(const Picture& picture, std::span<const network::Array>) const override {
    std::vector<Detection> found;
    for (std::int64_t i = 0; i < picture.frame % 4; ++i)
      found.push_back({0, 1, static_cast<double>(10 * i), 3, 5, 5});
    return boxes(std::move(found));
  }
};

/// The column of the crop goes in, and the network's answer is the class.
class LooksAtCrops : public Processing {
 public:
  std::vector<network::Array> before(const Picture& picture) const override {
    return sketched(static_cast<float>(picture.image.bytes()[0]));
  }
  Findings after(const Picture& picture, std::span<const network::Array> outputs) const override {
    if (picture.frame == throws_at) throw std::runtime_error("had enough");
    Findings findings;
    findings.classes = {{{std::lround(test::value_of(outputs[0])), 1}}};
    return findings;
  }
  std::int64_t throws_at = -1;
};

class CropRunTest : public test::SessionTest {
 protected:
  CropRunTest() {
    const TensorId x = sketch_.input("x"), c = sketch_.constant("c", 100);
    const TensorId y = sketch_.add("a", x, c);
    sketch_.network.outputs = {sketch_.add("b", y, c)};
    application_.preprocess.workers.threads = 2;
    application_.postprocess.workers.threads = 3;
    crops_.most = 2;
    crops_.postprocess.workers.threads = 2;
  }
  Totals run(std::int64_t frames) {
    Frames source(frames);
    auto first = start(sketch_.network, {0, 1});
    auto second = start(sketch_.network, {2, 3});
    const CropParts crops{&crops_, &looks_, &looks_, {}, &second};
    application::Run run(application_, {&source, &finds_, &finds_, {}, 1, &crops}, first,
                         [this](const Outcome& outcome) { outcomes_.push_back(outcome); });
    while (!run.wait_for(100ms)) {
    }
    return run.totals();
  }
  void expect_frames(std::size_t count) const {
    ASSERT_EQ(outcomes_.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const Findings& findings = outcomes_[i].findings;
      EXPECT_EQ(outcomes_[i].picture.frame, static_cast<std::int64_t>(i));
      ASSERT_EQ(findings.crops.size(), std::min<std::size_t>(i % 4, 2));
      EXPECT_EQ(findings.not_cropped, i % 4 == 3 ? 1 : 0);
      for (std::size_t crop = 0; crop < findings.crops.size(); ++crop)
        EXPECT_EQ(findings.crops[crop].classes->front().label,
                  200 + 10 * static_cast<std::int64_t>(crop));
    }
  }

  test::Sketch sketch_;
  Application application_;
  Crops crops_;
  FindsBoxes finds_;
  LooksAtCrops looks_;
  std::vector<Outcome> outcomes_;
};

TEST_F(CropRunTest, gives_every_frame_in_order_with_its_crops) {
  const Totals totals = run(200);
  expect_frames(200);
  EXPECT_EQ(totals.crops.crops, 250);
  EXPECT_EQ(totals.crops.most, 2);
  EXPECT_EQ(totals.crops.too_many, 50);
}

TEST_F(CropRunTest, gives_what_one_thread_gives) {
  run(40);
  runtime::Sequential first(sketch_.network, *reference_, {"core0", {}, {0}}, {.pin = false});
  runtime::Sequential second(sketch_.network, *reference_, {"core0", {}, {0}}, {.pin = false});
  const CropParts crops{&crops_, &looks_, &looks_, {}, nullptr, &second};
  Frames source(40);
  std::size_t next = 0;
  run_in_turn(application_, {&source, &finds_, &finds_, {}, 1, &crops}, first,
              [&](const Outcome& outcome) {
                EXPECT_EQ(outcome.findings, outcomes_[next++].findings);
              });
  EXPECT_EQ(next, 40u);
}

TEST_F(CropRunTest, ends_at_the_frame_whose_crop_fails_and_says_which) {
  looks_.throws_at = 13;
  crops_.postprocess.kind = "mine";
  try {
    run(1000);
    FAIL() << "no error";
  } catch (const EngineError& error) {
    EXPECT_STREQ(error.what(), "frame 13 (frame): crops: mine failed: had enough");
  }
  expect_frames(13);
}

TEST_F(CropRunTest, gives_all_frames_before_one_whose_boxes_fail) {
  class Fails : public FindsBoxes {
   public:
    Findings after(const Picture& picture, std::span<const network::Array> outputs) const override {
      if (picture.frame == 30) return {};
      return FindsBoxes::after(picture, outputs);
    }
  } fails;
  Frames source(1000);
  auto first = start(sketch_.network, {0, 1});
  auto second = start(sketch_.network, {2, 3});
  const CropParts crops{&crops_, &looks_, &looks_, {}, &second};
  application::Run run(application_, {&source, &fails, &fails, {}, 1, &crops}, first,
                       [this](const Outcome& outcome) { outcomes_.push_back(outcome); });
  EXPECT_NE(test::message_of([&] {
              while (!run.wait_for(100ms)) {
              }
            }).find("frame 30 (frame): crops: detections: the post-processing gave none"),
            std::string::npos);
  expect_frames(30);
}

TEST_F(CropRunTest, can_be_dropped_while_it_runs) {
  Frames source(1'000'000'000);
  auto first = start(sketch_.network, {0, 1});
  auto second = start(sketch_.network, {2, 3});
  const CropParts crops{&crops_, &looks_, &looks_, {}, &second};
  application::Run run(application_, {&source, &finds_, &finds_, {}, 1, &crops}, first,
                       [](const Outcome&) {});
  EXPECT_FALSE(run.wait_for(5ms));
}

}  // namespace
}  // namespace millrace::application
