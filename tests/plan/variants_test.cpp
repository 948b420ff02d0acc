#include "plan/variants.h"

#include <gtest/gtest.h>

#include "networks.h"

namespace millrace::plan {
namespace {

using namespace test;
using board::Precision;
using board::Variant;

/// Four layers on two processors, with these engines and these algorithms.
Plan plan_with(const std::string& engines, const std::vector<std::string>& algorithms) {
  const network::Network network = network_of(4, {{0, 1}, {1, 2}, {2, 3}});
  const Plan plan = build(network, board_of(2), mapping_of({0, 0, 1, 1}), {.engine = engines});
  std::vector<Variant> variants;
  for (const std::string& algorithm : algorithms) variants.push_back({Precision::f32, algorithm});
  return with_variants(plan, std::move(variants));
}

std::vector<std::string> algorithms_of(const std::vector<Variant>& variants) {
  std::vector<std::string> algorithms;
  for (const Variant& variant : variants) algorithms.push_back(variant.algorithm);
  return algorithms;
}

using Texts = std::vector<std::string>;

TEST(Variants, of_engines_that_all_run_something_stay) {
  const Plan plan = plan_with("onednn,openvino", {"", "winograd", "", "openvino/x"});
  EXPECT_EQ(with_used_engines(plan), plan);
}

TEST(Variants, keep_their_names_where_a_later_engine_runs_nothing) {
  const Plan plan =
      with_used_engines(plan_with("onednn,openvino,cuda@gpu0", {"", "", "openvino", ""}));
  for (const Stage& stage : plan.stages) EXPECT_EQ(stage.engine, "onednn,openvino");
  EXPECT_EQ(algorithms_of(plan.variants), (Texts{"", "", "openvino", ""}));
}

TEST(Variants, lose_the_name_of_the_engine_that_becomes_the_first) {
  const Plan plan = with_used_engines(
      plan_with("onednn,openvino,cuda@gpu0", {"openvino", "openvino/x", "cuda/y", "openvino"}));
  for (const Stage& stage : plan.stages) EXPECT_EQ(stage.engine, "openvino,cuda@gpu0");
  EXPECT_EQ(algorithms_of(plan.variants), (Texts{"", "x", "cuda/y", ""}));
}

TEST(Variants, of_single_frames_keep_their_engine) {
  Plan plan = plan_with("onednn,openvino", {"openvino", "openvino", "openvino", "openvino"});
  plan.one_frame_variants = {{}, {}, {Precision::f32, "openvino"}, {}};
  EXPECT_EQ(with_used_engines(plan), plan);
  plan.one_frame_variants = plan.variants;
  const Plan fewer = with_used_engines(plan);
  EXPECT_EQ(fewer.stages.front().engine, "openvino");
  EXPECT_EQ(algorithms_of(fewer.variants), (Texts{"", "", "", ""}));
  EXPECT_EQ(algorithms_of(fewer.one_frame_variants), (Texts{"", "", "", ""}));
}

TEST(Variants, of_engines_that_run_beside_them_keep_these) {
  const Plan beside = plan_with("onednn,cluster", {"", "", "cluster", ""});
  const Plan plan =
      with_used_engines(plan_with("onednn,reference@cpu,cluster", {"", "", "", ""}), beside);
  for (const Stage& stage : plan.stages) EXPECT_EQ(stage.engine, "onednn,cluster");
}

TEST(Variants, are_not_needed_where_the_first_engine_runs_all) {
  Plan plan = plan_with("onednn,openvino", {"", "", "", ""});
  plan.variants.clear();
  for (const Stage& stage : with_used_engines(plan).stages) EXPECT_EQ(stage.engine, "onednn");
}

}  // namespace
}  // namespace millrace::plan
