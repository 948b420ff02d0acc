#include "explore/configuration/methods.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "explore/configuration/interleaving.h"
#include "explore/contexts.h"
#include "plan/build.h"
#include "plan/steps.h"

namespace millrace::explore {
namespace {

using test::Field;

/// For the fine-tuner, which searches no cuts.
MethodOptions cut_in_the_middle(const Field& field) {
  MethodOptions options;
  options.starts = {{{}, {field.context.problem.layers / 2}}};
  return options;
}

double throughput_of(const Field& field, const char* method, std::int64_t candidates) {
  CandidateCacheOptions options;
  options.candidates = candidates;
  CandidateCache cache = field.cache(options);
  const bool has_start = std::string(method) == "fine-tuner";
  const auto found =
      method_named(method)->run(cache, has_start ? cut_in_the_middle(field) : MethodOptions{});
  EXPECT_TRUE(found) << method;
  EXPECT_LE(cache.count(), candidates) << method;
  return cache.score_of_best().throughput;
}

TEST(Methods, each_stays_within_the_candidates_and_finds_what_the_board_can_run) {
  const Field field(24, 2, 5);
  for (const NamedMethod& method : methods()) {
    CandidateCacheOptions options;
    options.candidates = 40;
    std::set<Configuration> told;
    options.note = [&](const Configuration& configuration, const Score& score, bool again) {
      EXPECT_TRUE(told.insert(configuration).second) << method.name << " asks twice";
      EXPECT_GT(score.throughput, 0);
      EXPECT_FALSE(again);
    };
    CandidateCache cache = field.cache(options);
    const auto found = method.run(cache, cut_in_the_middle(field));
    ASSERT_TRUE(found) << method.name;
    EXPECT_LE(cache.count(), 40) << method.name;
    EXPECT_EQ(static_cast<std::int64_t>(told.size()), cache.count());
    const Realised realised = realise(field.context, *found);
    EXPECT_TRUE(realised.verdict) << method.name;
    plan::check(realised.plan, field.network);
  }
}

TEST(Methods, cut_points_come_near_the_best_of_all_tuples) {
  for (const std::size_t layers : {9u, 13u, 17u}) {
    const Field field(layers, 2);
    EXPECT_GE(throughput_of(field, "cut-points", 200), 0.97 * test::best_of_all(field)) << layers;
  }
}

TEST(Methods, cut_points_do_so_where_an_accelerator_lacks_operators) {
  const Field field(16, 1, 5);
  EXPECT_GE(throughput_of(field, "cut-points", 200), 0.97 * test::best_of_all(field));
}

TEST(Methods, cut_points_from_a_random_start_come_near_it_too) {
  const Field field(17, 2);
  CandidateCache cache = field.cache();
  MethodOptions options;
  options.random_start = true;
  ASSERT_TRUE(search_cut_points(cache, options));
  EXPECT_GE(cache.score_of_best().throughput, 0.95 * test::best_of_all(field));
}

TEST(Methods, cut_points_are_not_worse_than_the_others_at_equal_candidates) {
  const Field field(40, 2);
  const double found = throughput_of(field, "cut-points", 120);
  for (const NamedMethod& method : methods())
    EXPECT_GE(found * 1.0001, throughput_of(field, method.name, 120)) << method.name;
}

TEST(Methods, the_same_seed_asks_the_same) {
  const Field field(20, 2, 6);
  for (const NamedMethod& method : methods()) {
    CandidateCacheOptions options;
    options.candidates = 60;
    CandidateCache one = field.cache(options), other = field.cache(options);
    const MethodOptions given = cut_in_the_middle(field);
    EXPECT_EQ(method.run(one, given), method.run(other, given)) << method.name;
    EXPECT_EQ(one.order(), other.order()) << method.name;
  }
}

/// Layers of the plan by the names of the processors that run them.
std::map<std::string, std::size_t> layers_by_processor(const plan::Plan& plan) {
  std::map<std::string, std::size_t> layers;
  for (const plan::Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors)
      for (const plan::Phase& phase : stage.phases) layers[processor.name] += phase.layers.size();
  return layers;
}

TEST(Methods, interleaving_uses_accelerators_that_lack_operators) {
  Field field(24, 2, 7);
  field.board.devices.front().limits.streams = 4;
  CandidateCache cache = field.cache();
  const double alone = simulated_score(field.context, whole({ProcessorId(0)}, cache)).throughput;
  const auto found = search_interleaving(cache, {});
  ASSERT_TRUE(found);
  EXPECT_GT(cache.score_of_best().throughput, 1.2 * alone);
  const Realised realised = realise(field.context, *found);
  ASSERT_TRUE(realised.verdict) << realised.verdict.reason();
  plan::check(realised.plan, field.network);
  const auto layers = layers_by_processor(realised.plan);
  EXPECT_GT(layers.at("npu0"), 0u);
  EXPECT_EQ(layers.at("npu0"), layers.at("npu1"));
}

TEST(Methods, interleaving_of_all_that_run_everything_is_for_whoever_is_free) {
  const Field field(12, 2);
  const CandidateCache cache = field.cache();
  const std::vector<Configuration> all = interleavings(cache);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(plan::is_first_free(realise(field.context, all.back()).plan));
}

TEST(Methods, interleaving_gives_a_slow_processor_fewer_frames) {
  Field field(24, 1, 7);  // the accelerator takes twice as long
  field.board.devices.front().limits.streams = 4;
  const CandidateCache cache = field.cache();
  const std::vector<Configuration> all = interleavings(cache);
  ASSERT_GT(all.size(), 2u);
  const ProcessorGroup& three = all[2].stages.front();
  EXPECT_EQ(three, (ProcessorGroup{ProcessorId(1), ProcessorId(0), ProcessorId(0)}));
}

TEST(Methods, single_cuts_are_all_of_them) {
  const Field field(12, 1);
  CandidateCache cache = field.cache();
  ASSERT_TRUE(search_single_cuts(cache, {}));
  EXPECT_EQ(cache.count(), 2 * 11);
}

TEST(Methods, without_fallback_no_layer_leaves_its_stage) {
  Field field(20, 1, 7);
  field.context.fallback = false;
  CandidateCache cache = field.cache();
  const auto found = search_cut_points(cache, {});
  ASSERT_TRUE(found);
  for (const Configuration& asked : cache.order()) {
    const plan::Mapping mapping = mapping_of(field.context, asked);
    std::size_t stage = 0;
    for (std::size_t layer = 0; layer < mapping.processors.size(); ++layer) {
      while (stage < asked.cuts.size() && layer > asked.cuts[stage]) ++stage;
      EXPECT_EQ(mapping.processors[layer], asked.stages[stage].front());
    }
  }
}

TEST(Methods, the_number_of_tuples_is_that_of_the_thesis) {
  // Table 3.4: 172 of yolov2-tiny's, of 24 layers, are 6.677 %.
  Field field(24, 2);
  EXPECT_EQ(std::round(100'000 * 172 / tuples_of(field.context)), 6677);
}

TEST(Methods, a_genetic_search_tunes_the_cuts_of_the_explorer) {
  const Field field(30, 2);
  CandidateCacheOptions budget;
  budget.candidates = 1000;
  CandidateCache explored = field.cache(budget), tuned = field.cache(budget);
  const auto greedy = search_cut_points(explored, {}), genetic = search_tuning_genetic(tuned, {});
  ASSERT_TRUE(greedy && genetic);
  EXPECT_EQ(genetic->stages, greedy->stages);
  EXPECT_EQ(genetic->cuts, greedy->cuts);
  EXPECT_GE(tuned[*genetic].throughput, 0.99 * explored.score_of_best().throughput);
  EXPECT_EQ(genetic->slots, greedy->slots);            // the only number here: both find the fewest
  EXPECT_EQ(subnets_of(tuned), subnets_of(explored));  // numbers alone ask for no new subnet
}

TEST(Methods, the_fine_tuner_keeps_the_cuts) {
  const Field field(30, 2);
  CandidateCache cache = field.cache();
  MethodOptions options;
  options.starts = {{{}, {19}}};
  options.option = "PND-A";
  const auto found = search_fine_tuner(cache, options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cuts, (std::vector<std::size_t>{19}));
  EXPECT_EQ(found->stages.front().size(), 2u);
  EXPECT_EQ(subnets_of(cache), (std::map<std::string, std::int64_t>{{"gpu", 2}, {"npu", 1}}));
  options.starts = {{{}, {3, 19, 22, 25}}};  // no option has five stages
  EXPECT_FALSE(search_fine_tuner(cache, options));
}

TEST(Methods, a_named_option_is_the_one_that_is_found) {
  const Field field(24, 2);
  for (const MappingOption& option : mapping_options(field.board)) {
    CandidateCache cache = field.cache();
    MethodOptions options;
    options.option = option.name;
    const auto found = search_cut_points(cache, options);
    ASSERT_TRUE(found) << option.name;
    EXPECT_EQ(found->stages, option.stages) << option.name;
  }
}

TEST(Methods, subnets_count_once_however_many_processors_run_them) {
  const Field field(12, 2);
  CandidateCache cache = field.cache();
  const ProcessorGroup gpu{ProcessorId(0)}, npu{ProcessorId(1)},
      both{ProcessorId(1), ProcessorId(2)};
  cache.ask({{npu, gpu}, {5}, 2});
  cache.ask({{both, gpu}, {5}, 3});
  cache.ask({{both, gpu}, {7}, 3});
  EXPECT_EQ(subnets_of(cache), (std::map<std::string, std::int64_t>{{"gpu", 2}, {"npu", 2}}));
}

TEST(Methods, stop_ends_a_search_with_what_it_has) {
  const Field field(30, 2);
  CandidateCacheOptions options;
  int asked = 0;
  options.stop = [&] { return ++asked > 3; };
  CandidateCache cache = field.cache(options);
  EXPECT_TRUE(search_cut_points(cache, {}));
  EXPECT_TRUE(cache.is_spent());
  EXPECT_LT(cache.count(), 20);
}

}  // namespace
}  // namespace millrace::explore
