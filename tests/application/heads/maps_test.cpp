#include <gtest/gtest.h>

#include "application/heads/heads_support.h"
#include "application/heads/metadata.h"
#include "application/sink.h"
#include "support/message_of.h"

namespace millrace::application {
namespace {

using test::application_of;
using test::found;

TEST(segmentation, takes_the_largest_class_between_the_cells) {
  // Two classes over a row of two cells: the border is where both are equal, a quarter along.
  const auto output = test::array_of({1, 2, 1, 2}, {1, 0, 0, 3});
  const Findings findings = found(application_of("segmentation"), {16, 8}, {{"out", output}});
  ASSERT_TRUE(findings.map);
  EXPECT_EQ(findings.map->width, 16);
  EXPECT_EQ(findings.map->height, 8);
  // At column x: 1 - t against 3 t with t = (x + 0.5) / 8 - 0.5; class 1 from t = 0.25, x = 5.5.
  for (std::size_t x = 0; x < 16; ++x) EXPECT_EQ(findings.map->classes[x], x < 6 ? 0 : 1) << x;
}

TEST(segmentation, takes_channels_last_integers_and_one_plane) {
  const auto last = test::array_of({1, 1, 2, 3}, {0, 5, 1, 0, 1, 5});
  EXPECT_EQ(found(application_of("segmentation"), {2, 1}, {{"o", last}}).map->classes,
            (std::vector<std::uint8_t>{1, 2}));
  const std::vector<std::int64_t> classes{7, 0};
  const auto whole = network::make_array(network::DataType::int64, {1, 1, 2},
                                         std::span<const std::int64_t>(classes));
  EXPECT_EQ(found(application_of("segmentation"), {2, 1}, {{"o", whole}}).map->classes,
            (std::vector<std::uint8_t>{7, 0}));
  const auto plane = test::array_of({1, 1, 1, 2}, {0.4f, 0.6f});
  EXPECT_EQ(found(application_of("segmentation"), {2, 1}, {{"o", plane}}).map->classes,
            (std::vector<std::uint8_t>{0, 1}));
  const auto raw = test::array_of({1, 1, 1, 2}, {-0.1f, 3});
  EXPECT_EQ(found(application_of("segmentation"), {2, 1}, {{"o", raw}}).map->classes,
            (std::vector<std::uint8_t>{0, 1}));
}

TEST(segmentation, says_what_does_not_fit) {
  const auto row = test::array_of({1, 4}, {1, 2, 3, 4});
  EXPECT_NE(test::message_of([&] {
              found(application_of("segmentation"), {2, 1}, {{"out", row}});
            }).find("but the first output 'out' is float32 1x4; use detect, top_k or raw"),
            std::string::npos);
}

TEST(embedding, is_the_vector_and_of_length_1_where_it_is_asked_for) {
  const auto vector = test::array_of({1, 2, 1, 1}, {3, 4});
  Application application = application_of("embedding");
  EXPECT_EQ(*found(application, {2, 1}, {{"o", vector}}).embedding, (std::vector<float>{3, 4}));
  application.postprocess.normalise = true;
  EXPECT_EQ(*found(application, {2, 1}, {{"o", vector}}).embedding,
            (std::vector<float>{0.6f, 0.8f}));
  const auto table = test::array_of({1, 2, 2}, {1, 2, 3, 4});
  EXPECT_NE(test::message_of([&] {
              found(application, {2, 1}, {{"out", table}});
            }).find("an embedding is one vector, but the first output 'out' is float32 1x2x2"),
            std::string::npos);
}

/// Steps with one symbol each that is much more probable than others.
network::Array steps_of(const std::vector<std::size_t>& steps, std::size_t symbols) {
  std::vector<float> values(steps.size() * symbols);
  for (std::size_t i = 0; i < steps.size(); ++i) values[i * symbols + steps[i]] = 1;
  return test::array_of(
      {static_cast<std::int64_t>(steps.size()), 1, static_cast<std::int64_t>(symbols)}, values);
}

TEST(text, leaves_out_repetitions_and_blanks) {
  Application application = application_of("text");
  application.postprocess.alphabet = {"a", "b"};
  const Findings first = found(application, {2, 1}, {{"o", steps_of({0, 1, 1, 0, 1, 2}, 3)}});
  EXPECT_EQ(*first.text, (ReadText{"aab", 1}));
  application.postprocess.blank_is_last = true;
  const Findings last = found(application, {2, 1}, {{"o", steps_of({2, 0, 0, 2, 1}, 3)}});
  EXPECT_EQ(last.text->text, "ab");
  EXPECT_EQ(found(application, {2, 1}, {{"o", steps_of({2, 2}, 3)}}).text->text, "");
}

TEST(text, has_a_space_where_the_network_has_one_symbol_more) {
  Application application = application_of("text");
  application.postprocess.alphabet = {"a", "b"};
  const Findings findings = found(application, {2, 1}, {{"o", steps_of({1, 3, 2}, 4)}});
  EXPECT_EQ(findings.text->text, "a b");
}

TEST(names_in, reads_what_python_prints) {
  network::Network network;
  EXPECT_TRUE(names_in(network).empty());
  network.metadata["names"] = "{0: 'person', 1: \"driver's seat\", 2: 'it\\'s'}";
  EXPECT_EQ(names_in(network), (std::vector<std::string>{"person", "driver's seat", "it's"}));
  network.metadata["names"] = "{0: 'open";
  EXPECT_EQ(names_in(network), (std::vector<std::string>{"open"}));
}

TEST(json_line, has_masks_as_runs_and_the_shares_of_a_map) {
  Outcome outcome;
  Detection detection{1, 0.5, 1, 2, 3, 4};
  detection.mask = Mask{1, 2, 3, 2, {1, 1, 0, 0, 0, 1}};
  detection.keypoints = {{{5, 6}, 0.25}};
  outcome.findings.detections = {{detection}};
  outcome.findings.map = ClassMap{2, 2, {3, 1, 3, 3}};
  const std::string line = json_line(outcome, {});
  EXPECT_NE(line.find(R"("mask":{"left":1,"top":2,"width":3,"height":2,"runs":[0,2,3,1]})"),
            std::string::npos)
      << line;
  EXPECT_NE(line.find(R"("keypoints":[{"x":5.0,"y":6.0,"probability":0.25}])"), std::string::npos)
      << line;
  EXPECT_NE(line.find(R"("segments":[{"class":3,"share":0.75},{"class":1,"share":0.25}])"),
            std::string::npos)
      << line;
}

TEST(drawn, shows_masks_maps_and_skeletons) {
  Outcome outcome;
  outcome.picture.image.width = outcome.picture.image.height = 64;
  auto pixels = std::make_shared<network::Buffer>(Bytes{64 * 64 * 3});
  outcome.picture.image.pixels = pixels;
  const auto byte_at = [&](std::size_t x, std::size_t y) {
    return drawn(outcome, {}).bytes()[(y * 64 + x) * 3 + 0];  // red
  };
  outcome.findings.map = ClassMap{64, 64, std::vector<std::uint8_t>(64 * 64)};
  outcome.findings.map->classes[5 * 64 + 5] = 6;
  const Image image = drawn(outcome, {});
  const auto bytes = image.bytes();
  const auto sum_at = [](std::span<const std::uint8_t> all, std::size_t x, std::size_t y) {
    return all[(y * 64 + x) * 3] + all[(y * 64 + x) * 3 + 1] + all[(y * 64 + x) * 3 + 2];
  };
  EXPECT_GT(sum_at(bytes, 5, 5), 0);
  EXPECT_EQ(sum_at(bytes, 6, 6), 0);
  EXPECT_EQ(byte_at(6, 6), 0);
  Detection detection{0, 0.5, 40, 40, 20, 20};
  detection.keypoints = {{{45, 45}, 1}, {{55, 55}, 1}};
  detection.mask = Mask{58, 42, 1, 1, {1}};
  outcome.findings.detections = {{detection}};
  outcome.findings.skeleton = {{0, 1}};
  const Image second = drawn(outcome, {});
  EXPECT_GT(sum_at(second.bytes(), 50, 50), 0);  // between the keypoints
  EXPECT_GT(sum_at(second.bytes(), 58, 42), 0);
  EXPECT_EQ(sum_at(second.bytes(), 55, 45), 0);
}

}  // namespace
}  // namespace millrace::application
