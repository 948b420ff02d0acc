#include "product/planning/answers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/network_builder.h"

namespace millrace::product {
namespace {

using network::Array;
using Outputs = profile::LossMeter::Outputs;

constexpr std::size_t rows = 84, columns = 7;  // cells of 64x64 pixels; 2 classes

/// A network whose output has the shape that YOLOX writes.
network::Network detector() {
  test::NetworkBuilder builder;
  const TensorId picture = builder.input({1, 3, 64, 64});
  const TensorId part =
      builder.layer(network::Slice{{0, 0, 0, 0}, {1, 1, 1, 1}}, {picture}, {1, 3, 14, 14});
  builder.output(builder.layer(network::Reshape{}, {part}, {1, 84, 7}));
  return builder.build();
}

struct Object {
  std::size_t cell = 0, label = 0;
  float probability = 0.9f;
};

/// Boxes of 16x16 pixels in cells of 8x8.
Outputs outputs_of(const std::vector<Object>& objects) {
  std::vector<float> values(rows * columns);
  for (const Object& object : objects) {
    float* const row = &values[object.cell * columns];
    row[0] = row[1] = 0.5f;
    row[2] = row[3] = std::log(2.f);
    row[4] = object.probability;
    row[5 + object.label] = 1;
  }
  return {network::make_array<float>(network::DataType::float32, {1, 84, 7}, values)};
}

TEST(object_answers, are_lost_invented_and_kept_by_class_and_place) {
  const profile::CompareAnswers compare =
      object_answers(detector(), {outputs_of({{9, 0}, {30, 1}}), outputs_of({})});
  ASSERT_TRUE(compare);
  const auto changed = [&](const std::vector<Object>& objects) {
    return compare(0, outputs_of(objects)).changed;
  };
  EXPECT_EQ(changed({{9, 0}, {30, 1}}), 0);
  EXPECT_EQ(changed({{9, 0, 0.7f}, {30, 1}}), 0);  // three quarters of 0.9 are 0.675
  EXPECT_EQ(changed({{9, 0, 0.6f}, {30, 1}}), 1);
  EXPECT_EQ(changed({{9, 0}, {30, 1}, {50, 0}}), 1);
  EXPECT_EQ(changed({{9, 1}, {30, 1}}), 2);   // one is lost and one invented
  EXPECT_EQ(changed({{10, 0}, {30, 1}}), 2);  // half of a box aside: a third in common
  EXPECT_EQ(changed({}), 2);
  EXPECT_EQ(compare(0, outputs_of({{9, 0}, {30, 1}, {50, 0}})).count, 3);
  EXPECT_EQ(compare(1, outputs_of({{9, 0}})).count, 1);
  EXPECT_EQ(compare(1, outputs_of({})).count, 0);
}

TEST(object_answers, do_not_change_where_outputs_are_the_same) {
  const std::vector<Object> objects{{9, 0}, {10, 0}, {30, 1}, {50, 0, 0.3f}};
  const profile::CompareAnswers compare = object_answers(detector(), {outputs_of(objects)});
  ASSERT_TRUE(compare);
  const profile::Answers answers = compare(0, outputs_of(objects));
  EXPECT_GE(answers.count, 3);
  EXPECT_EQ(answers.changed, 0);
}

TEST(object_answers, are_not_looked_for_where_no_frame_shows_an_object) {
  EXPECT_FALSE(object_answers(detector(), {outputs_of({}), outputs_of({{9, 0, 0.2f}})}));
}

TEST(object_answers, are_not_those_of_a_classifier) {
  test::NetworkBuilder builder;
  const TensorId picture = builder.input({1, 3, 8, 8});
  builder.output(builder.layer(network::Reshape{}, {picture}, {1, 192}));
  const std::vector<float> values(192, 0.9f);
  EXPECT_FALSE(
      object_answers(builder.build(),
                     {{network::make_array<float>(network::DataType::float32, {1, 192}, values)}}));
}

}  // namespace
}  // namespace millrace::product
