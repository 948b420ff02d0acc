#include "application/accuracy/accuracy.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::application {
namespace {

const ClassNames animals{{"dog", "cat", "tvmonitor"}};

Detection box_at(double left, double probability, std::int64_t label = 0) {
  return {label, probability, left, 0, 10, 10};
}

MarkedObject object_at(double left, std::int64_t label = 0) {
  return {label, left, 0, 10, 10, 100, false, false};
}

AveragePrecision precision_of(const Examined& picture) {
  return average_precision(std::vector{picture}, 0.5);
}

TEST(AveragePrecision, is_one_if_everything_is_found_and_nothing_else) {
  const auto found =
      precision_of({{object_at(0), object_at(50)}, {box_at(0, 0.9), box_at(50, 0.8)}});
  EXPECT_DOUBLE_EQ(found.all.value(), 1);
  EXPECT_DOUBLE_EQ(found.at_50.value(), 1);
  EXPECT_DOUBLE_EQ(found.together.precision().value(), 1);
  EXPECT_DOUBLE_EQ(found.together.recall().value(), 1);
}

TEST(AveragePrecision, falls_by_a_wrong_box_before_a_right_one) {
  // Up to a recall of a half the precision is 1, then 2/3: 51 and 50 of 101 levels.
  const auto found = precision_of(
      {{object_at(0), object_at(50)}, {box_at(0, 0.9), box_at(200, 0.8), box_at(50, 0.7)}});
  EXPECT_NEAR(found.at_50.value(), (51 + 50 * 2.0 / 3) / 101, 1e-12);
}

TEST(AveragePrecision, knows_the_overlap_that_a_box_has) {
  // Moved by 2 of 10 pixels: 8 of 12 are shared, enough for 0.5, 0.55, 0.6 and 0.65.
  const auto found = precision_of({{object_at(0)}, {box_at(2, 0.9)}});
  EXPECT_DOUBLE_EQ(found.at_50.value(), 1);
  EXPECT_DOUBLE_EQ(found.at_75.value(), 0);
  EXPECT_NEAR(found.all.value(), 0.4, 1e-12);
}

TEST(AveragePrecision, counts_two_boxes_of_one_object_as_one_right_and_one_wrong) {
  const auto found = precision_of({{object_at(0)}, {box_at(0, 0.9), box_at(0, 0.8)}});
  EXPECT_EQ(found.together.right, 1);
  EXPECT_EQ(found.together.wrong, 1);
}

TEST(AveragePrecision, passes_over_boxes_in_a_crowd_and_those_that_are_ignored) {
  MarkedObject crowd = object_at(0), hard = object_at(100);
  crowd.width = 80;
  crowd.crowd = hard.ignored = true;
  const auto found = precision_of(
      {{crowd, hard, object_at(200)},
       {box_at(0, 0.9), box_at(20, 0.9), box_at(40, 0.9), box_at(100, 0.9), box_at(200, 0.8)}});
  EXPECT_EQ(found.together.objects, 1);
  EXPECT_EQ(found.together.wrong, 0);
  EXPECT_DOUBLE_EQ(found.all.value(), 1);
}

TEST(AveragePrecision, counts_at_the_threshold_only_what_is_more_probable) {
  const auto found =
      precision_of({{object_at(0), object_at(50)}, {box_at(0, 0.9), box_at(50, 0.5)}});
  EXPECT_EQ(found.together.right, 1);
  EXPECT_DOUBLE_EQ(found.together.recall().value(), 0.5);
  EXPECT_DOUBLE_EQ(found.all.value(), 1);  // of all boxes
}

TEST(AveragePrecision, has_no_figure_where_there_is_nothing_to_find) {
  const auto found = precision_of({{}, {box_at(0, 0.9)}});
  EXPECT_FALSE(found.all.has_value());
  EXPECT_FALSE(found.together.recall().has_value());
  EXPECT_EQ(found.together.wrong, 1);
}

class TruthTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    write_file(folder_.path() / name, content);
    return (folder_.path() / name).string();
  }
  test::TemporaryFolder folder_;
};

std::string coco(const std::string& annotation) {
  return R"({"images": [{"id": 7, "file_name": "val/a.jpg", "width": 100, "height": 80}],)"
         R"("categories": [{"id": 18, "name": "cat"}, {"id": 72, "name": "tv"}],)"
         R"("annotations": [)" +
         annotation + "]}";
}

TEST_F(TruthTest, coco_files_are_read_and_classes_found_by_name) {
  const auto path = file("t.json", coco(R"({"image_id": 7, "category_id": 72, "bbox": [1, 2, 3, 4],
                                            "area": 9, "iscrowd": 1})"));
  const GroundTruth truth = read_objects(path, animals);
  const MarkedObject& object = truth.pictures.at("a").objects.at(0);
  EXPECT_EQ(object.label, 2);  // tv is Darknet's tvmonitor
  EXPECT_EQ(object.left, 1);
  EXPECT_EQ(object.height, 4);
  EXPECT_EQ(object.area, 9);
  EXPECT_TRUE(object.crowd);
  EXPECT_EQ(read_objects(path, {}).pictures.at("a").objects.at(0).label, 1);  // by their order
}

TEST_F(TruthTest, a_class_that_no_label_has_is_named) {
  const auto path =
      file("t.json", coco(R"({"image_id": 7, "category_id": 18, "bbox": [1, 2, 3, 4]})"));
  EXPECT_NE(test::message_of([&] {
              read_objects(path, {{"dog", "car"}});
            }).find("has the class 'cat', which is none of the application's 2 labels"),
            std::string::npos);
}

TEST_F(TruthTest, a_box_outside_of_its_picture_is_named) {
  const auto path =
      file("t.json", coco(R"({"image_id": 7, "category_id": 18, "bbox": [90, 2, 30, 4]})"));
  EXPECT_NE(test::message_of([&] {
              read_objects(path, animals);
            }).find("annotations[0].bbox: the box from (90, 2) to (120, 6) is not inside"),
            std::string::npos);
}

TEST_F(TruthTest, voc_files_count_pixels_from_one) {
  const auto path = file("a.xml",
                         "<annotation><size><width>100</width><height>80</height></size><object>"
                         "<name>cat</name><difficult>1</difficult><bndbox><xmin>1</xmin><ymin>3"
                         "</ymin><xmax>10</xmax><ymax>20</ymax></bndbox></object></annotation>");
  const MarkedObject object = read_objects(path, animals).pictures.at("a").objects.at(0);
  EXPECT_EQ(object.label, 1);
  EXPECT_EQ(object.left, 0);
  EXPECT_EQ(object.top, 2);
  EXPECT_EQ(object.width, 10);
  EXPECT_EQ(object.height, 18);
  EXPECT_TRUE(object.ignored);
}

TEST_F(TruthTest, yolo_files_have_boxes_or_outlines_in_shares) {
  const auto path = file("a.txt", "1 0.5 0.5 0.2 0.4\n\n0 0.1 0.1 0.3 0.1 0.2 0.5\n");
  const MarkedPicture picture = read_objects(path, animals).pictures.at("a");
  ASSERT_EQ(picture.objects.size(), 2u);
  EXPECT_TRUE(picture.in_shares);
  EXPECT_NEAR(picture.objects[0].left, 0.4, 1e-12);
  EXPECT_NEAR(picture.objects[0].top, 0.3, 1e-12);
  EXPECT_NEAR(picture.objects[1].width, 0.2, 1e-12);
  EXPECT_NEAR(picture.objects[1].height, 0.4, 1e-12);
}

TEST_F(TruthTest, yolo_files_in_pixels_are_refused) {
  const auto path = file("a.txt", "1 50 40 20 10\n");
  EXPECT_NE(test::message_of([&] { read_objects(path, animals); }).find("not pixels"),
            std::string::npos);
}

Outcome outcome_of(const std::string& name, Findings findings) {
  Outcome outcome;
  outcome.picture.name = name;
  outcome.findings = std::move(findings);
  return outcome;
}

Findings classes(std::vector<Ranked> ranked) {
  Findings findings;
  findings.classes = std::move(ranked);
  return findings;
}

TEST_F(TruthTest, classes_are_counted_by_the_name_of_the_picture) {
  Application application;
  application.labels = {"dog", "cat"};
  application.postprocess.top = 2;
  const auto path = file("t.txt", "a.png cat\nb.png 0\nc.png dog\n");
  AccuracyMeter meter(read_truth(path, application), application);
  meter.take(outcome_of("b.png", classes({{0, 0.9}, {1, 0.1}})));
  meter.take(outcome_of("a.png", classes({{0, 0.9}, {1, 0.1}})));
  meter.take(outcome_of("x.png", classes({{0, 0.9}})));
  const Accuracy found = meter.result();
  EXPECT_EQ(found.classes->right, 1);
  EXPECT_EQ(found.classes->among, 2);
  EXPECT_EQ(found.frames, 2);
  EXPECT_EQ(found.without_truth, 1);
  EXPECT_EQ(found.not_seen, 1);
}

TEST_F(TruthTest, frames_of_a_video_are_found_by_the_number_at_the_end) {
  Application application;
  application.postprocess.kind = "detect";
  AccuracyMeter meter(read_truth(file("street_00002.txt", "0 0.05 0.5 0.1 1\n"), application),
                      application);
  Findings findings;
  findings.detections = {{box_at(0, 0.9)}};
  for (std::int64_t frame = 1; frame < 4; ++frame) {
    Outcome outcome = outcome_of("street.avi " + std::to_string(frame), findings);
    outcome.picture.frame = frame;
    outcome.picture.time = Time{};
    outcome.picture.image = {100, 10, std::make_shared<network::Buffer>(Bytes{3000})};
    meter.take(outcome);
  }
  const Accuracy found = meter.result();
  EXPECT_EQ(found.frames, 1);
  EXPECT_DOUBLE_EQ(found.detection->at_50.value(), 1);
}

Application of_arrays(std::vector<std::string> inputs) {
  Application application;
  application.postprocess.kind = "top_k";
  application.input.kind = InputKind::arrays;
  application.input.name = inputs.size() > 1 ? inputs[0] : "";
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    application.beside.push_back(application.input);
    application.beside.back().name = inputs[i];
  }
  return application;
}

TEST_F(TruthTest, an_order_of_frames_is_refused_for_several_inputs) {
  const auto path = file("t.txt", "1\n2\n");
  EXPECT_EQ(read_truth(path, of_arrays({"a"})).classes_in_order.size(), 2u);
  EXPECT_NE(test::message_of([&] {
              read_truth(path, of_arrays({"left", "right"}));
            })
                .find("begin each line with the input and the number of the frame, such as "
                      "left_0.png"),
            std::string::npos);
}

TEST_F(TruthTest, two_names_for_one_frame_are_refused) {
  const auto path = file("t.txt", "a_1.png 0\nb_1.png 1\nb_02.png 1\n");
  EXPECT_NE(test::message_of([&] {
              read_truth(path, of_arrays({"a"}));
            }).find("has 'a_1' and 'b_1', which may both be frame 1;"),
            std::string::npos);
  EXPECT_EQ(read_truth(path, of_arrays({"a", "b"})).classes.size(), 3u);
  const auto twice = file("u.txt", "b_2.png 0\nb_02.png 1\n");
  EXPECT_NE(test::message_of([&] {
              read_truth(twice, of_arrays({"a", "b"}));
            }).find("which may both be frame 2 of the input b;"),
            std::string::npos);
}

TEST_F(TruthTest, an_empty_line_between_classes_is_named) {
  const ClassNames none;
  EXPECT_NE(test::message_of([&] {
              read_classes(file("t.txt", "1\n\n2\n"), none);
            }).find("t.txt: line 2: is empty"),
            std::string::npos);
  EXPECT_EQ(read_classes(file("u.txt", "1\n2\n\n"), none).classes_in_order.size(), 2u);
  EXPECT_EQ(read_classes(file("v.txt", "a.png 1\n\nb.png 2\n"), none).classes.size(), 2u);
}

TEST_F(TruthTest, what_is_not_a_number_is_no_class) {
  AccuracyMeter meter(read_truth(file("t.txt", "0\n"), of_arrays({"a"})), of_arrays({"a"}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  meter.take(outcome_of("a 0", classes({{0, nan}, {1, nan}})));
  EXPECT_EQ(meter.result().classes->right, 0);
  EXPECT_EQ(meter.result().classes->among, 0);
}

TEST_F(TruthTest, ground_truth_of_a_picture_of_another_size_is_refused) {
  Application application;
  application.postprocess.kind = "detect";
  const auto path = file("t.json", coco(""));
  AccuracyMeter meter(read_truth(path, application), application);
  Findings findings;
  findings.detections.emplace();
  Outcome outcome = outcome_of("a.png", findings);
  outcome.picture.image = {50, 40, std::make_shared<network::Buffer>(Bytes{6000})};
  EXPECT_NE(test::message_of([&] { meter.take(outcome); }).find("100 x 80 pixels, but 'a.png' has"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::application
