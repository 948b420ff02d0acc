// Searches that ranks share give what one process gives, to the last bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <tuple>

#include "base/error.h"
#include "board/shipped.h"
#include "explore/configuration/methods.h"
#include "explore/contexts.h"
#include "explore/followers.h"
#include "explore/system/pareto.h"
#include "problems.h"
#include "profile/cost_model.h"
#include "ranks_in_threads.h"
#include "systems.h"

namespace millrace::explore {
namespace {

using namespace std::chrono_literals;
using millrace::test::on_ranks;

constexpr std::size_t numbers_of_ranks[] = {1, 2, 3, 5};

/// `search` alone, and on ranks: all of them find the same.
template <class Result>
void expect_same(const std::function<Result(Ranks*)>& search) {
  const Result alone = search(nullptr);
  for (const std::size_t count : numbers_of_ranks)
    for (const Result& found : on_ranks<Result>(count, [&](Ranks& r) { return search(&r); }))
      EXPECT_EQ(found, alone) << count << " ranks";
}

TEST(SharedSearch, of_mappings_by_their_genes) {
  Random random(3);
  for (int i = 0; i < 5; ++i) {
    const Problem problem = test::random_problem(random, 12, 3);
    expect_same<std::string>([&](Ranks* ranks) {
      GeneticOptions options;
      options.population = 30;
      options.epochs = 20;
      options.seed = static_cast<std::uint64_t>(i);
      options.ranks = ranks;
      const SearchResult found = genetic(problem, options);
      std::string text = fmt::format("{} {} {}", found.fitness, found.bottleneck, found.epochs);
      for (const ProcessorId p : found.mapping.processors) text += fmt::format(" {}", p.index);
      return text;
    });
  }
}

/// What a search asked for, in its order, and what it found.
using Journey = std::pair<std::vector<Configuration>, std::optional<Configuration>>;

TEST(SharedSearch, of_configurations_asks_for_the_same_ones_in_the_same_order) {
  const test::Field field(24, 2, 5);
  for (const NamedMethod& method : methods())
    for (const std::int64_t candidates : {40, 150})
      expect_same<Journey>([&](Ranks* ranks) {
        CandidateCacheOptions budget;
        budget.candidates = candidates;
        budget.ranks = ranks;
        CandidateCache cache = field.cache(budget);
        MethodOptions options;
        options.starts = {{{}, {12}}};
        auto found = method.run(cache, options);
        return Journey{cache.order(), std::move(found)};
      });
}

TEST(SharedSearch, of_configurations_asks_each_rank_for_its_share) {
  const test::Field field(24, 2, 5);
  std::atomic<std::size_t> all = 0;
  const auto asked = on_ranks<std::pair<std::size_t, std::size_t>>(3, [&](Ranks& ranks) {
    std::size_t own = 0;
    CandidateCacheOptions budget;
    budget.candidates = 150;
    budget.ranks = &ranks;
    CandidateCache cache(
        field.context,
        [&](std::span<const Configuration> configurations) {
          own += configurations.size();
          return simulated_objective(field.context)(configurations);
        },
        budget);
    method_named("all-genetic")->run(cache, {});
    all += own;
    return std::pair(own, static_cast<std::size_t>(cache.count()));
  });
  for (const auto& [own, count] : asked) EXPECT_LT(own, count);
  EXPECT_LT(all, 2 * asked.front().second);  // single ones are asked for on all ranks
}

TEST(SharedSearch, of_a_groups_plans_by_each_method) {
  test::Field field(14, 1);
  field.board.devices[0].power = {{{1000}, {100}, {9000}, {}}};
  field.board.devices[1].power = {{{1000}, {10}, {1000}, {}}};
  const GroupModel model{field.context, field.board, 10ms};
  const GroupSpace space = group_space(field.context);
  for (const NamedFrontMethod& method : front_methods())
    expect_same<std::pair<std::vector<GroupPlan>, std::size_t>>([&](Ranks* ranks) {
      const GroupObjective objective = [&](const Configuration& configuration) {
        return group_plan(model, configuration);
      };
      FrontOptions options{.population = 12, .generations = 8, .seed = 4};
      options.ranks = ranks;
      const GroupFront front = method.run(space, objective, options);
      return std::pair(front.plans, front.evaluated);
    });
}

TEST(SharedSearch, of_combinations_with_power_or_only_with_deadlines) {
  const board::Board board = test::small_board();
  const system::System system = test::system_of(4, {{0, 1}, {1, 2, 3}, {3}});
  CombinationProblem problem{system, board, {}, scenes_of(system)};
  for (std::uint64_t g = 0; g < 4; ++g) problem.plans.push_back(test::random_plans(9, g + 1));
  for (const bool first_feasible : {false, true})
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      expect_same<std::tuple<Combination, Placement, double, std::size_t, std::size_t>>(
          [&](Ranks* ranks) {
            CombineOptions options{.population = 12, .generations = 30, .seed = seed};
            options.ranks = ranks;
            options.first_feasible = first_feasible;
            const Combined found = genetic_combination(problem, options);
            return std::tuple(found.combination, found.placement, found.power_mw, found.evaluated,
                              found.generations);
          });
}

TEST(SharedSearch, for_another_network_is_refused_on_all_ranks) {
  const board::Board board = board::find_board("jetson-tx2");
  const auto texts = on_ranks<std::string>(2, [&](Ranks& ranks) {
    const network::Network network = test::chain_network(6 + ranks.rank());
    Context context;
    context.ranks = &ranks;
    ChooseOptions options;
    options.genetic.ranks = &ranks;
    try {
      if (is_follower(&ranks)) follow({.network = network, .context = context});
      choose(network, board, profile::modelled(network, board, {test::f32}), options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  });
  for (const std::string& text : texts)
    EXPECT_TRUE(text.starts_with("rank 1: its model is not the same")) << text;
}

}  // namespace
}  // namespace millrace::explore
