// Which variants are taken: by time, within the bound on the error.
#include <gtest/gtest.h>

#include "profile/measure.h"
#include "profile/profile_file.h"
#include "profile/select.h"
#include "support/message_of.h"
#include "support/network_builder.h"
#include "ways_engine.h"

namespace millrace::profile {
namespace {

using namespace std::chrono_literals;
using board::Precision;
using board::Variant;
using millrace::test::NetworkBuilder;
using millrace::test::window;
using test::Way;
using test::WaysEngine;

const Variant own{}, fast{Precision::f32, "fast"}, rough{Precision::f32, "rough"};
const Variant half{Precision::bf16, {}};

/// A slow way of its own, a fast one and a faster one that is a hundredth off.
std::vector<Way> sample_ways() {
  return {{own, 100us, 0}, {fast, 50us, 1e-5f}, {rough, 20us, 1e-2f}};
}

network::Network sample_network() {
  NetworkBuilder builder;
  TensorId x = builder.conv(builder.input({1, 3, 6, 6}), 4, window(3, {.pad = 1}));
  x = builder.unary(network::UnaryKind::relu, x);
  builder.output(builder.conv(x, 5, window(1)));
  return builder.build();
}

board::Board one_core() {
  board::Board board = board::this_machine();
  board.processors.resize(1);
  return board;
}

MeasureOptions two_runs() {
  MeasureOptions options;
  options.least = 2;
  options.most = 3;
  options.duration = Time{};
  return options;
}

Profile measured(std::vector<Way> ways, const MeasureOptions& options = two_runs()) {
  WaysEngine engine(std::move(ways));
  return measure(sample_network(), one_core(), engine, options);
}

TEST(Variants, the_fastest_within_the_bound_is_taken) {
  const ProcessorProfile p = measured(sample_ways()).processors.at(0);
  EXPECT_EQ(p.max_error, 1e-3);
  EXPECT_EQ(p.layers[0].variant, fast);
  EXPECT_EQ(p.layers[0].together.median, 50us);
  EXPECT_EQ(p.layers[1].variant, own) << "the activation has one way";
  EXPECT_TRUE(p.layers[1].alternatives.empty());
  EXPECT_EQ(p.layers[2].variant, fast);
  EXPECT_EQ(p.whole.median, 101us);
}

TEST(Variants, alternatives_carry_times_and_errors) {
  const auto alternatives = measured(sample_ways()).processors.at(0).layers[0].alternatives;
  ASSERT_EQ(alternatives.size(), 3u);
  EXPECT_EQ(alternatives[0].variant, own);
  EXPECT_LT(alternatives[0].error.value(), 1e-6);
  EXPECT_EQ(alternatives[1].time, 50us);
  EXPECT_NEAR(alternatives[1].error.value(), 1e-5, 1e-6);
  EXPECT_EQ(alternatives[2].variant, rough);
  EXPECT_NEAR(alternatives[2].error.value(), 1e-2, 1e-4);
}

TEST(Variants, a_wider_bound_lets_faster_ones_in_and_a_narrower_one_leaves_them_out) {
  MeasureOptions options = two_runs();
  options.max_error = 0.1;
  EXPECT_EQ(measured(sample_ways(), options).processors.at(0).layers[0].variant, rough);
  options.max_error = 2e-6;
  EXPECT_EQ(measured(sample_ways(), options).processors.at(0).layers[0].variant, own);
}

TEST(Variants, a_bound_that_nothing_meets_is_refused_with_what_there_is) {
  MeasureOptions options = two_runs();
  options.max_error = 0;
  auto ways = sample_ways();
  ways[0].error = 1e-4f;
  const std::string message = millrace::test::message_of([&] { measured(ways, options); });
  EXPECT_EQ(message.rfind("⟨max_error⟩ 0: no variant of layer 'layer0' has such a small error; it "
                          "has f32 with 1.0e-04, f32:fast with ",
                          0),
            0u)
      << message;
}

/// A product with weights, and one of two results as in attention.
network::Network two_products() {
  NetworkBuilder builder;
  const TensorId x = builder.input({2, 3, 4}), y = builder.input({2, 5, 6});
  const TensorId z = builder.layer(network::MatMul{}, {x, builder.constant({4, 5})}, {2, 3, 5});
  builder.output(builder.layer(network::MatMul{}, {z, y}, {2, 3, 6}));
  return builder.build();
}

TEST(Variants, what_cannot_be_measured_is_not_taken_below_a_bound_that_was_given) {
  WaysEngine engine(sample_ways());
  MeasureOptions options = two_runs();
  const auto of = [&] {
    return measure(two_products(), one_core(), engine, options).processors.at(0).layers;
  };
  EXPECT_EQ(of()[0].variant, fast) << "measured, below the usual bound";
  EXPECT_EQ(of()[1].variant, rough) << "nothing says how exact it is";
  options.max_error = 1e-4;
  EXPECT_EQ(of()[0].variant, fast);
  EXPECT_EQ(of()[1].variant, own);
}

TEST(Variants, of_lower_precisions_what_cannot_be_measured_stays_in_f32_where_a_bound_was_given) {
  const Variant low{board::Precision::bf16, ""};
  WaysEngine engine({{low, 50us, 1e-3f}});
  MeasureOptions options = two_runs();
  options.precisions = {board::Precision::bf16};
  const auto of = [&](std::size_t layer) {
    return measure(two_products(), one_core(), engine, options).processors.at(0).layers[layer];
  };
  EXPECT_EQ(of(1).variant, low);
  options.max_error = 0.1;
  EXPECT_EQ(of(0).variant, low) << "measured";
  EXPECT_EQ(of(1).variant, own) << "a stack of products of two results";
}

TEST(Variants, one_that_is_hardly_faster_is_not_worth_it) {
  const Profile profile = measured({{own, 100us, 0}, {fast, 99us, 0}});
  EXPECT_EQ(profile.processors.at(0).layers[0].variant, own);
}

TEST(Variants, a_disturbance_while_one_is_tried_does_not_speak_for_it) {
  WaysEngine engine({{own, 100us, 0}, {fast, 130us, 0}});
  // Disturbs the engine's own variant, after its first runs, while the other is tried beside it.
  engine.disturbance = [](const Variant& variant, int timed) {
    return variant == own && timed > 1 && timed < 6 ? 3 : 1;
  };
  MeasureOptions options = two_runs();
  options.alone = false;
  const Profile profile = measure(sample_network(), one_core(), engine, options);
  EXPECT_EQ(profile.processors.at(0).layers[0].variant, own);
}

// Beside a pacer that is slow for a moment, the engine's own way seems four times as fast as it is.
TEST(Variants, a_disturbance_of_the_fastest_does_not_speak_for_the_others) {
  WaysEngine engine({{own, 100us, 0}, {fast, 50us, 0}});
  int runs_of_fast = 0;
  engine.disturbance = [&](const Variant& variant, int) {
    constexpr int beside_own_again = 3;  // after a first run, and one beside it
    return variant == fast && ++runs_of_fast == beside_own_again ? 8 : 1;
  };
  MeasureOptions options = two_runs();
  options.alone = false;
  const auto layers =
      measure(sample_network(), one_core(), engine, options).processors.at(0).layers;
  EXPECT_EQ(layers[0].alternatives[0].time, 100us);
  EXPECT_EQ(layers[0].variant, fast);
}

TEST(Variants, the_error_of_one_that_is_far_too_slow_is_not_measured) {
  const Profile profile = measured({{own, 100us, 0}, {fast, 900us, 0}});
  EXPECT_FALSE(profile.processors.at(0).layers[0].alternatives.at(1).error.has_value());
}

TEST(Variants, a_precision_that_the_processor_lacks_is_named_with_those_it_has) {
  MeasureOptions options = two_runs();
  options.precisions = {Precision::bf16};
  const std::string message = millrace::test::message_of([&] { measured(sample_ways(), options); });
  EXPECT_NE(message.find("⟨precision⟩ bf16: core"), std::string::npos) << message;
  EXPECT_NE(message.find("it has f32"), std::string::npos) << message;
}

TEST(Variants, a_precision_without_bound_takes_any_and_with_one_falls_back) {
  MeasureOptions options = two_runs();
  options.precisions = {Precision::bf16};
  const std::vector<Way> ways{{own, 100us, 0}, {half, 30us, 1e-2f}};
  EXPECT_EQ(measured(ways, options).processors.at(0).layers[0].variant, half);
  options.max_error = 1e-3;
  const ProcessorProfile strict = measured(ways, options).processors.at(0);
  EXPECT_EQ(strict.layers[0].variant, own);
  EXPECT_EQ(strict.layers[0].together.median, 100us);
}

TEST(Variants, each_layer_is_selected_in_its_fastest_precision) {
  MeasureOptions options = two_runs();
  options.precisions = {Precision::f32, Precision::bf16};
  Profile profile = measured({{own, 100us, 0}, {half, 30us, 1e-2f}}, options);
  ASSERT_EQ(profile.processors.size(), 2u);
  profile.processors[1].layers[2].together.median = 400us;
  const Profile selected = select(profile, options.precisions);
  ASSERT_EQ(selected.processors.size(), 1u);
  EXPECT_EQ(selected.processors[0].layers[0].variant, half);
  EXPECT_EQ(selected.processors[0].layers[2].variant, own);
  EXPECT_EQ(select(profile, {Precision::f32}).processors[0].layers[0].variant, own);
  EXPECT_NE(millrace::test::message_of([&] {
              select(profile, {Precision::int8});
            }).find("millrace profile ⟨precision⟩ int8"),
            std::string::npos);
}

// A precision that a processor has none of may come first.
TEST(Variants, costs_of_borders_are_those_of_a_precision_that_the_processor_has) {
  LayerTimes refused, timed;
  refused.refusal = "no layer runs in it";
  const board::Processor gpu{"gpu0", board::ProcessorKind::gpu, {}};
  Profile profile;
  profile.layer_names = {"layer"};
  for (const bool runs : {false, true}) {
    ProcessorProfile& entry = profile.processors.emplace_back();
    entry.processor = gpu;
    entry.precision = runs ? Precision::f32 : Precision::bf16;
    entry.layers = {runs ? timed : refused};
    if (runs) entry.borders.emplace().launch = std::chrono::microseconds(7);
  }
  const Profile selected = select(profile, {Precision::bf16, Precision::f32});
  EXPECT_EQ(selected.processors.at(0).borders, profile.processors[1].borders);
  EXPECT_TRUE(selected.processors[0].layers[0].refusal.empty());
}

TEST(Variants, layers_that_fuse_are_selected_as_one) {
  MeasureOptions options = two_runs();
  options.precisions = {Precision::f32, Precision::bf16};
  Profile profile = measured({{own, 100us, 0}, {half, 90us, 0}}, options);
  auto& f32 = profile.processors[0].layers;
  f32[1].fused_into = LayerId(0);
  f32[1].together = {};
  profile.processors[1].layers[1].together.median = 30us;
  const auto selected = select(profile, options.precisions).processors[0].layers;
  EXPECT_EQ(selected[0].variant, own) << "100 with what is fused into it, against 90 and 30";
  EXPECT_EQ(selected[1].fused_into, LayerId(0));
}

TEST(Variants, what_a_profile_lacks_is_said_and_added) {
  MeasureOptions options = two_runs();
  const std::vector<Way> ways{{own, 100us, 0}, {half, 30us, 0}};
  Profile profile = measured(ways, options);
  EXPECT_TRUE(missing(profile, one_core(), options).empty());
  options.precisions = {Precision::f32, Precision::bf16};
  EXPECT_EQ(missing(profile, one_core(), options), std::vector{Precision::bf16});
  extend(profile, measured(ways, options));
  EXPECT_EQ(profile.processors.size(), 2u);
  EXPECT_TRUE(missing(profile, one_core(), options).empty());
  options.max_error = 1e-6;
  EXPECT_EQ(missing(profile, one_core(), options).size(), 2u) << "another bound, other variants";
}

}  // namespace
}  // namespace millrace::profile
