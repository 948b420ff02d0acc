#include "millrace/application.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "face/digits.h"
#include "millrace/error.h"
#include "millrace/millrace.h"

namespace {

using millrace::Application;
using millrace::Image;
using millrace::test::digits;
using millrace::test::models;

class FaceApplication : public testing::Test {
 protected:
  static millrace::Plan planned(const millrace::Model& model) {
    millrace::PlanRequest request;
    request.measuring = {};
    request.options.cache = false;
    return plan(model, request);
  }
  Application application() const {
    millrace::ApplicationSettings settings;
    settings.preprocessing.colours = millrace::PixelFormat::grey;
    settings.postprocessing.top = 3;
    return Application::of(model_, settings);
  }
  /// By their names, which say which digit is on them.
  static std::vector<std::filesystem::path> pictures() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(models + "digits_images"))
      files.push_back(entry.path());
    return files;
  }
  static int digit_on(const std::string& name) {
    return name.at(std::string("digit_").size()) - '0';
  }
  static int found(const millrace::Findings& findings) {
    return static_cast<int>(findings.classes.value().at(0).label);
  }

  const millrace::Model model_ = millrace::Model::from_file(digits);
};

TEST_F(FaceApplication, pictures_go_in_and_findings_come_out) {
  auto session = application().start(planned(model_));
  for (const auto& file : pictures())
    EXPECT_EQ(found(session.run(Image::from_file(file.string()))),
              digit_on(file.filename().string()));
}

TEST_F(FaceApplication, pixels_of_the_program_are_as_good_as_a_file) {
  const Image file = Image::from_file(pictures().at(0).string());
  const Image copied = Image::copy_of({file.width(), file.height(), file.rgb()});
  auto session = application().start(planned(model_));
  const auto first = session.run(file), second = session.run(copied);
  EXPECT_EQ(found(first), found(second));
  EXPECT_EQ(first.classes->at(0).value, second.classes->at(0).value);
  EXPECT_THROW(session.run(Image()), millrace::Error);
}

TEST_F(FaceApplication, outcomes_go_to_a_callback_in_order) {
  std::vector<std::int64_t> frames;
  std::vector<int> seen, expected;
  auto session = application().start(planned(model_), [&](const millrace::Outcome& outcome) {
    frames.push_back(outcome.frame);
    seen.push_back(found(outcome.findings));
  });
  for (int round = 0; round < 5; ++round)
    for (const auto& file : pictures()) {
      EXPECT_TRUE(session.submit(Image::from_file(file.string())));
      expected.push_back(digit_on(file.filename().string()));
    }
  session.wait();
  EXPECT_EQ(seen, expected);
  for (std::size_t i = 0; i < frames.size(); ++i)
    EXPECT_EQ(frames[i], static_cast<std::int64_t>(i));
}

TEST_F(FaceApplication, its_file_names_the_input) {
  const std::string examples = std::string(MILLRACE_SOURCE_DIR) + "/examples/";
  const auto application = Application::from_file(examples + "applications/digits.yaml");
  std::size_t right = 0;
  const auto totals =
      application.run(planned(application.model()), [&](const millrace::Outcome& outcome) {
        if (found(outcome.findings) == digit_on(outcome.source)) ++right;
      });
  EXPECT_EQ(totals.frames, 12);
  EXPECT_EQ(right, 12u);
  EXPECT_EQ(application.labels().size(), 10u);
}

const std::string cascade = std::string(MILLRACE_SOURCE_DIR) + "/examples/cascade/";

/// A picture of its own.
Image cut(const Image& image, const millrace::CropFindings& crop) {
  const std::uint8_t* first = image.rgb() + 3 * (crop.top * image.width() + crop.left);
  return Image::copy_of({static_cast<int>(crop.width), static_cast<int>(crop.height), first,
                         millrace::PixelFormat::rgb, std::int64_t{3} * image.width()});
}

TEST_F(FaceApplication, crops_are_read_as_if_each_were_a_picture_alone) {
  const auto sheets = Application::from_file(cascade + "cascade.yaml");
  EXPECT_EQ(sheets.labels_of_crops().size(), 10u);
  const Image sheet = Image::from_file(cascade + "sheet.png");
  auto cascaded = sheets.start(planned(sheets.model()));
  auto alone = application().start(planned(model_));
  for (int round = 0; round < 3; ++round) {
    const millrace::Findings findings = cascaded.run(sheet);
    ASSERT_EQ(findings.detections.value().size(), 12u);
    ASSERT_EQ(findings.crops.size(), 12u);
    std::size_t box = 0;
    for (const millrace::CropFindings& crop : findings.crops) {
      EXPECT_EQ(crop.detection, box++);
      const auto expected = alone.run(cut(sheet, crop)).classes.value().at(0);
      EXPECT_EQ(crop.classes.value().at(0).label, expected.label);
      EXPECT_NEAR(crop.classes->at(0).value, expected.value, 1e-5);
    }
  }
}

TEST_F(FaceApplication, a_view_shares_pixels_until_nobody_needs_them) {
  const Image sheet = Image::from_file(cascade + "sheet.png");
  const auto size = std::size_t{3} * static_cast<std::size_t>(sheet.width() * sheet.height());
  auto pixels = std::make_shared<std::vector<std::uint8_t>>(sheet.rgb(), sheet.rgb() + size);
  const std::weak_ptr<const void> alive = pixels;
  const millrace::Pixels of = {sheet.width(), sheet.height(), pixels->data()};
  Image view = Image::view_of(of, pixels);
  EXPECT_EQ(view.rgb(), pixels->data());
  const auto sheets = Application::from_file(cascade + "cascade.yaml");
  auto session = sheets.start(planned(sheets.model()));
  EXPECT_EQ(to_json(session.run(std::exchange(view, {})), sheets.labels()),
            to_json(session.run(sheet), sheets.labels()));
  pixels.reset();
  EXPECT_TRUE(alive.expired());

  std::vector<std::uint8_t> mirrored(sheet.rgb(), sheet.rgb() + size);
  for (std::size_t i = 0; i < size; i += 3) std::swap(mirrored[i], mirrored[i + 2]);
  const Image copied = Image::view_of(
      {sheet.width(), sheet.height(), mirrored.data(), millrace::PixelFormat::bgr}, nullptr);
  EXPECT_TRUE(std::equal(copied.rgb(), copied.rgb() + size, sheet.rgb()));
}

TEST_F(FaceApplication, crops_of_the_files_own_input_are_counted) {
  const auto sheets = Application::from_file(cascade + "cascade.yaml");
  std::size_t crops = 0;
  sheets.run(planned(sheets.model()), [&](const millrace::Outcome& outcome) {
    crops += outcome.findings.crops.size();
    const auto& labels = sheets.labels_of_crops();
    const Image named = draw(outcome.image, outcome.findings, sheets.labels(), labels);
    const Image plain = draw(outcome.image, {}, {});
    const auto size = std::size_t{3} * static_cast<std::size_t>(named.width() * named.height());
    EXPECT_FALSE(std::equal(named.rgb(), named.rgb() + size, plain.rgb()));
  });
  EXPECT_EQ(crops, 12u);
}

TEST_F(FaceApplication, a_plan_of_another_model_is_refused) {
  millrace::ModelOptions batch;
  batch.shapes["image"] = {1, 1, 8, 8};
  const auto squeezenet = millrace::Model::from_file("squeezenet1_1");
  try {
    application().start(planned(squeezenet));
    FAIL() << "nothing was thrown";
  } catch (const millrace::Error& error) {
    EXPECT_NE(error.finding().find("another model"), std::string::npos) << error.what();
  }
}

}  // namespace
