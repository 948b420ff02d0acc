#include "profile/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/registry.h"
#include "network/random_values.h"
#include "support/message_of.h"
#include "support/needs_engine.h"
#include "support/network_builder.h"

namespace millrace::profile {
namespace {

using network::Array;
using network::DataType;

Array row(const std::vector<float>& values) {
  return network::make_array<float>(DataType::float32,
                                    {1, static_cast<std::int64_t>(values.size())}, values);
}

void add(Loss& loss, const Array& expected, const Array& found) {
  const std::span a(&expected, 1), b(&found, 1);
  add_frame(loss, a, b, compare_top_answers(a, b));
}

Loss loss_of(const Array& expected, const Array& found) {
  Loss loss;
  add(loss, expected, found);
  return loss;
}

TEST(Loss, counts_frames_whose_largest_value_moved) {
  EXPECT_EQ(loss_of(row({1, 2, 3}), row({1, 2.5f, 3})).changed, 0);
  EXPECT_EQ(loss_of(row({1, 2, 3}), row({1, 3.5f, 3})).changed, 1);
}

TEST(Loss, is_relative_to_the_largest_value_expected) {
  const Loss loss = loss_of(row({1, -8, 3}), row({1, -7, 3}));
  EXPECT_DOUBLE_EQ(loss.mean_error, 1.0 / 8);
  EXPECT_DOUBLE_EQ(loss.largest_error, 1.0 / 8);
}

TEST(Loss, averages_over_frames) {
  Loss loss;
  const Array one = row({1, 2}), other = row({2, 1});
  add(loss, one, one);
  add(loss, one, other);
  EXPECT_EQ(loss.frames, 2);
  EXPECT_DOUBLE_EQ(loss.changed_share(), 0.5);
  EXPECT_DOUBLE_EQ(loss.mean_error, 0.25);
  EXPECT_DOUBLE_EQ(loss.largest_error, 0.5);
}

TEST(Loss, is_infinite_where_a_number_is_lost) {
  const float nan = std::nanf("");
  EXPECT_TRUE(std::isinf(loss_of(row({1, 2}), row({nan, 2})).largest_error));
  EXPECT_EQ(loss_of(row({1, 2}), row({nan, 2})).changed, 1);
  EXPECT_EQ(loss_of(row({nan, 2}), row({nan, 2})).largest_error, 0);
}

TEST(Loss, every_row_has_an_answer) {
  const std::vector<float> values{1, 2, 4, 3};
  const Array two = network::make_array<float>(DataType::float32, {2, 2}, values);
  EXPECT_EQ(top_answer(two), (std::vector<std::int64_t>{1, 0}));
}

TEST(Loss, integers_are_the_answer) {
  const auto integer = [](std::int64_t value) {
    return network::make_array<std::int64_t>(DataType::int64, {1}, std::span(&value, 1));
  };
  EXPECT_EQ(loss_of(integer(3), integer(3)).changed, 0);
  EXPECT_EQ(loss_of(integer(3), integer(259)).changed, 1);
}

class LossMeterTest : public testing::Test {
 protected:
  void SetUp() override {
    MILLRACE_NEEDS_ENGINE("onednn");
    engine = engine::make_engine("onednn");
    test::NetworkBuilder builder;
    const TensorId x = builder.input({1, 16, 12, 12});
    builder.output(builder.conv(x, 32, test::window(3, {.pad = 1})));
    network = builder.build();
  }
  Samples samples(std::size_t count) const {
    return {count, [this](std::size_t i) { return network::random_inputs(network, i); }};
  }

  network::Network network;
  std::unique_ptr<engine::Engine> engine;
  board::Processor processor = board::this_machine().processors.front();
};

TEST_F(LossMeterTest, float32_loses_nothing) {
  const LossMeter meter({&network, engine.get(), processor}, samples(3));
  const Loss loss = meter.measure({});
  EXPECT_EQ(loss, (Loss{3, 3, 0, 0, 0}));
}

TEST_F(LossMeterTest, bfloat16_loses_a_little) {
  const board::Variant low{board::Precision::bf16, {}};
  const auto ways = engine->variants(network, LayerId(0), processor);
  if (std::find(ways.begin(), ways.end(), low) == ways.end())
    GTEST_SKIP() << "needs a processor with bfloat16 instructions";
  const LossMeter meter({&network, engine.get(), processor}, samples(5));
  const Loss loss = meter.measure({low});
  EXPECT_EQ(loss.frames, 5);
  EXPECT_GT(loss.mean_error, 1e-5);
  EXPECT_LT(loss.largest_error, 0.02);
}

TEST_F(LossMeterTest, counts_the_answers_that_it_is_told_to_compare) {
  LossMeter meter({&network, engine.get(), processor}, samples(3));
  ASSERT_EQ(meter.expected().size(), 3u);
  meter.compare_by([&](std::size_t frame, std::span<const Array> found) {
    EXPECT_EQ(found[0], meter.expected()[frame][0]);
    return Answers{4, frame == 1 ? 3 : 0};
  });
  const Loss loss = meter.measure({});
  EXPECT_EQ(loss.answers, 12);
  EXPECT_EQ(loss.changed, 3);
  EXPECT_DOUBLE_EQ(loss.changed_share(), 0.25);
}

TEST_F(LossMeterTest, needs_frames) {
  EXPECT_NE(test::message_of([&] {
              LossMeter({&network, engine.get(), processor}, samples(0));
            }).find("no frames to measure"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::profile
