#include "explore/fallback.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "explore/choose.h"
#include "explore/contexts.h"
#include "problems.h"
#include "profile/cost_model.h"
#include "support/message_of.h"

namespace millrace::explore {
namespace {

constexpr double impossible = std::numeric_limits<double>::infinity();

/// A chain on "gpu", which runs all, and "npu", which does not run these layers.
Problem restricted_chain(std::size_t layers, const std::vector<std::size_t>& refused) {
  Problem problem = test::chain_of(std::vector<double>(layers, 10), 2);
  for (const std::size_t layer : refused)
    problem.time[layer][1] = problem.alone[layer][1] = impossible;
  return problem;
}

std::vector<std::size_t> found(const Problem& problem, const std::vector<std::size_t>& processors) {
  std::vector<std::size_t> result;
  for (const Fallback& each : fallbacks(problem, test::mapping_of(processors))) {
    EXPECT_EQ(each.wanted, ProcessorId(1));
    result.push_back(each.layer.index);
  }
  return result;
}

using Layers = std::vector<std::size_t>;

TEST(Fallback, is_a_layer_that_the_processor_around_it_cannot_run) {
  EXPECT_EQ(found(restricted_chain(5, {2}), {1, 1, 0, 1, 1}), Layers{2});
}

TEST(Fallback, may_be_several_layers_behind_each_other) {
  EXPECT_EQ(found(restricted_chain(5, {1, 2}), {1, 0, 0, 1, 1}), (Layers{1, 2}));
}

TEST(Fallback, is_none_at_the_ends_of_the_network) {
  EXPECT_EQ(found(restricted_chain(5, {0, 4}), {0, 1, 1, 1, 0}), Layers{});
}

TEST(Fallback, is_none_where_the_plan_leaves_for_layers_that_could_stay) {
  EXPECT_EQ(found(restricted_chain(5, {2}), {1, 0, 0, 1, 1}), Layers{});
  EXPECT_EQ(found(restricted_chain(5, {}), {1, 1, 0, 1, 1}), Layers{});
}

TEST(Fallback, is_found_on_one_of_several_branches) {
  // 0 -> 1 -> 3 and 0 -> 2 -> 3
  Problem problem = restricted_chain(4, {2});
  problem.edges = {{0, 1, 1}, {0, 2, 1}, {1, 3, 1}, {2, 3, 1}};
  EXPECT_EQ(found(problem, {1, 1, 0, 1}), Layers{2});
  EXPECT_EQ(found(problem, {1, 0, 0, 0}), Layers{});
}

/// Every mapping without one is what some cuts give whose stages run all their layers, and those
/// give none: both ways of searching mean the same.
TEST(Fallback, is_none_exactly_where_stages_keep_all_their_layers) {
  test::Field field(12, 1, 4);
  field.context.fallback = false;
  int kept = 0;
  for (std::size_t cut = 0; cut + 1 < 12; ++cut) {
    const Configuration configuration{{{ProcessorId(1)}, {ProcessorId(0)}}, {cut}, 3};
    if (!realise(field.context, configuration).verdict) continue;
    ++kept;
    EXPECT_TRUE(fallbacks(field.problem, mapping_of(field.context, configuration)).empty()) << cut;
  }
  EXPECT_EQ(kept, 3);  // layer 3 is the first that the accelerator lacks
  const Configuration beyond{{{ProcessorId(1)}, {ProcessorId(0)}}, {6}, 3};
  EXPECT_EQ(fallbacks(field.problem, mapping_of(field.context, beyond)),
            (std::vector<Fallback>{{LayerId(3), ProcessorId(1)}}));
}

/// On a GPU and two accelerators that refuse every third layer of a chain.
profile::Profile profile_of(const test::Field& field, bool gpu_refuses) {
  profile::Profile profile;
  for (std::size_t p = 0; p < field.board.processors.size(); ++p) {
    profile::ProcessorProfile& each = profile.processors.emplace_back();
    each.processor = field.board.processors[p];
    each.engine = profile::modelled_engine;
    for (std::size_t i = 0; i < field.problem.layers; ++i) {
      profile::LayerTimes times;
      times.together = times.alone =
          profile::statistics_of({std::chrono::microseconds(p == 0 ? 90 : 10)});
      const bool refuses = p == 0 ? gpu_refuses && i % 3 != 2 : i % 3 == 2;
      if (refuses) {
        times = {};
        times.refusal = "its SDK does not run Relu";
        times.refused_by_board = true;
      }
      each.layers.push_back(times);
    }
  }
  return profile;
}

ChooseOptions without_fallback() {
  ChooseOptions options;
  options.genetic.population = 40;
  options.genetic.epochs = 40;
  options.fallback = false;
  return options;
}

TEST(Fallback, candidates_with_one_are_left_out_and_named) {
  const test::Field field(9, 1);
  const profile::Profile profile = profile_of(field, false);
  ChooseOptions with = without_fallback();
  with.fallback = true;
  const Problem problem = make_problem(field.network, field.board, profile);
  EXPECT_FALSE(
      fallbacks(problem, choose(field.network, field.board, profile, with).winner().search.mapping)
          .empty());
  const Choice choice = choose(field.network, field.board, profile, without_fallback());
  for (const Candidate& candidate : choice.candidates)
    EXPECT_TRUE(fallbacks(problem, candidate.search.mapping).empty()) << candidate.name;
  std::string left_out;
  for (const std::string& each : choice.left_out) left_out += each + "\n";
  EXPECT_NE(left_out.find("(Relu) does not run on npu0, which has the layers around it: its SDK "
                          "does not run Relu, says the board's file; so it is with"),
            std::string::npos)
      << left_out;
}

TEST(Fallback, is_an_error_where_nothing_else_is_possible) {
  const test::Field field(9, 1);
  const std::string message = millrace::test::message_of(
      [&] { choose(field.network, field.board, profile_of(field, true), without_fallback()); });
  EXPECT_NE(message.find("no plan was found"), std::string::npos) << message;
  EXPECT_NE(message.find("its SDK does not run Relu"), std::string::npos) << message;
}

TEST(Fallback, first_refusals_name_layer_processor_and_reason) {
  const test::Field field(9, 1);
  const Problem problem = make_problem(field.network, field.board, profile_of(field, false));
  const auto found = first_refusals({field.network, field.board, problem, field.build});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], field.network.layers[2].name +
                          " (Relu) does not run on npu0: its SDK does not run Relu, says the "
                          "board's file");
}

}  // namespace
}  // namespace millrace::explore
