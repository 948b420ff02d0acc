#include "present/text/variants.h"

#include <gtest/gtest.h>

#include "support/network_builder.h"

namespace millrace::present {
namespace {

using board::Precision;
using board::Variant;

const Variant wino{Precision::f32, "wino"}, half{Precision::bf16, {}};

TEST(Variants, a_stage_counts_those_of_its_layers_that_multiply) {
  test::NetworkBuilder builder;
  TensorId x = builder.input({1, 2, 4, 4});
  for (int i = 0; i < 3; ++i) x = builder.conv(x, 2, test::window(1));
  builder.output(builder.unary(network::UnaryKind::relu, x));
  const network::Network network = builder.build();
  plan::Plan plan;
  plan.stages.resize(1);
  plan.stages[0].phases.resize(2);
  plan.stages[0].phases[0].layers = {LayerId(0), LayerId(1)};
  plan.stages[0].phases[1].layers = {LayerId(2), LayerId(3)};
  EXPECT_EQ(variants_text(plan, network, 0), "3 f32");
  plan.variants = {wino, Variant{}, wino, Variant{}};
  EXPECT_EQ(variants_text(plan, network, 0), "2 f32:wino, 1 f32");
  plan.stages[0].phases.resize(1);
  plan.stages[0].phases[0].layers = {LayerId(3)};
  EXPECT_EQ(variants_text(plan, network, 0), "-");
}

TEST(Variants, layers_are_counted_by_the_engine_that_runs_them) {
  plan::Plan plan;
  plan.stages.resize(2);
  plan.stages[0].engine = "onednn,onnxruntime";
  plan.stages[1].engine = "cuda@gpu0";
  for (plan::Stage& stage : plan.stages) stage.phases.resize(1);
  plan.stages[0].phases[0].layers = {LayerId(0), LayerId(1), LayerId(3)};
  plan.stages[1].phases[0].layers = {LayerId(2)};
  plan.variants = {wino, {Precision::f32, "onnxruntime"}, half, {}};
  EXPECT_EQ(engines_text("onednn", plan), "");
  EXPECT_EQ(engines_text("onednn,cuda@gpu0,openvino,onnxruntime@cpu", plan),
            "onednn runs 2 layers, cuda runs 1 layer, onnxruntime runs 1 layer; measured too, but "
            "not taken: openvino");
}

profile::Profile profile_of_one_layer() {
  profile::Profile profile;
  profile::ProcessorProfile& p = profile.processors.emplace_back();
  p.processor = {"core0", board::ProcessorKind::cpu, {0}};
  p.max_error = 1e-3;
  p.layers.resize(1);
  p.layers[0].alternatives = {{{}, Time(4000), 1e-7},
                              {wino, Time(2000), 1e-5},
                              {{Precision::f32, "rough"}, Time(1000), 0.5},
                              {{Precision::f32, "slow"}, Time(9000), std::nullopt}};
  return profile;
}

TEST(Variants, each_alternative_says_why_it_was_not_taken) {
  const profile::Profile profile = profile_of_one_layer();
  const std::string text =
      alternatives_text(profile, profile.processors[0].processor, LayerId(0), wino);
  EXPECT_NE(text.find("2.00 times the time"), std::string::npos) << text;
  EXPECT_NE(text.find("taken"), std::string::npos) << text;
  EXPECT_NE(text.find("its error is above 0.001"), std::string::npos) << text;
  EXPECT_NE(text.find("4.50 times the time"), std::string::npos) << text;
}

TEST(Variants, nothing_is_said_of_a_layer_with_one_way_to_run) {
  profile::Profile profile = profile_of_one_layer();
  profile.processors[0].layers[0].alternatives.resize(1);
  EXPECT_EQ(alternatives_text(profile, profile.processors[0].processor, LayerId(0), {}), "");
}

}  // namespace
}  // namespace millrace::present
