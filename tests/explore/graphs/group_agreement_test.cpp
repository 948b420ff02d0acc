// What must agree for groups of networks and task graphs: no simulated response is above its bound.
// MILLRACE_RANDOM_GROUPS says how many random systems, MILLRACE_RANDOM_SEED from which seed on.
#include <gtest/gtest.h>

#include <cstdlib>

#include "explore/graphs/mapping_search.h"
#include "explore/systems.h"
#include "realtime/simulate.h"
#include "realtime/utilisation.h"
#include "system/random_graph.h"

namespace millrace::explore {
namespace {

using std::chrono::microseconds;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// A system with one to four groups: a network, a graph, or a network in a graph.
class RandomGroups {
 public:
  explicit RandomGroups(std::uint64_t seed) : random_(seed) {
    const std::size_t count = 1 + random_.below(4);
    std::vector<std::size_t> all;
    for (std::size_t g = 0; g < count; ++g) all.push_back(g);
    system = test::system_of(count, {all});
    plans.resize(count);
    for (std::size_t g = 0; g < count; ++g) fill(g);
    if (seed % 3 == 0) system.release_cost = microseconds(1 + random_.below(100));
  }

  Mapping any_mapping(const MappingProblem& problem) {
    Mapping mapping;
    for (const auto& own : problem.plans)
      mapping.plans.push_back(own.empty() ? 0 : random_.below(own.size()));
    mapping.stages = place_networks(problem, mapping.plans);
    for (const TaskChoice& task : problem.tasks)
      mapping.tasks.push_back(random_.below(task.places.size()));
    return mapping;
  }

  board::Board board = test::small_board();
  system::System system;
  std::vector<std::vector<GroupPlan>> plans;

 private:
  void fill(std::size_t g) {
    system::Group& group = system.groups[g];
    const std::uint64_t what = random_.below(3);
    const double rate = 5 + static_cast<double>(random_.below(40));
    group.rates = {rate, rate};
    group.priority = static_cast<std::int64_t>(g);
    if (what != 0) add_graph(group);
    if (what != 1) add_network(g);
    if (what == 2) group.graph.edges.push_back(edge_to_network(group.graph));
  }

  void add_graph(system::Group& group) {
    system::RandomGraph graph{.tasks = 2 + random_.below(4), .times = {}};
    graph.most_rate = 1 + static_cast<std::int64_t>(random_.below(3));
    graph.share_of_tokens = 0.2;
    graph.times = {{"cpu", {microseconds(100), microseconds(2000)}},
                   {"gpu", {microseconds(20), microseconds(600)}}};
    graph.seed = random_();
    group.graph = system::random_graph(graph);
  }

  void add_network(std::size_t g) {
    system.groups[g].model.file = "net";
    plans[g] = test::random_plans(3, random_());
    for (GroupPlan& plan : plans[g])
      for (deployment::Task& task : plan.assignment.tasks) make_kernels(task);
  }

  /// A few on the GPU; all tasks may be shorter than at worst.
  void make_kernels(deployment::Task& task) {
    task.best = task.worst / static_cast<std::int64_t>(1 + random_.below(4));
    if (task.processor != "gpu") return;
    const auto count = static_cast<std::int64_t>(1 + random_.below(4));
    for (std::int64_t k = 1; k < count; ++k) task.kernels.push_back(task.worst / (2 * count));
    Time left = task.worst;
    for (const Time kernel : task.kernels) left -= kernel;
    task.kernels.push_back(left);
  }

  /// From the last task; all firings' tokens are for one frame.
  static system::GraphEdge edge_to_network(const system::TaskGraph& graph) {
    const std::int64_t count = system::firings(graph, false).back();
    return {graph.tasks.size() - 1, graph.network(), 1, count};
  }

  Random random_;
};

bool has_overload(const realtime::TaskSystem& tasks) {
  return std::ranges::any_of(utilisations(tasks), &realtime::Utilisation::is_overloaded);
}

double largest_utilisation(const realtime::TaskSystem& tasks) {
  return std::ranges::max(utilisations(tasks), {}, &realtime::Utilisation::share).share;
}

TEST(group_agreement, no_simulated_response_of_a_random_group_is_above_its_bound) {
  const std::uint64_t count = number_from("MILLRACE_RANDOM_GROUPS", 300);
  const std::uint64_t first = number_from("MILLRACE_RANDOM_SEED", 1);
  std::uint64_t bounded = 0;
  double tightness = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    RandomGroups random(seed);
    const MappingProblem problem = mapping_problem(random.system, random.board, random.plans);
    MappingEvaluator evaluator(problem);
    const double utilisation = evaluator.value(random.any_mapping(problem)).utilisation;
    const realtime::TaskSystem tasks =
        task_system(evaluator.deployment(), random.board, {system::ScenarioId(0), 0});
    EXPECT_NEAR(utilisation, largest_utilisation(tasks), 1e-6) << "seed " << seed;
    if (has_overload(tasks)) continue;
    const realtime::Bounds bounds = analyse(tasks);
    const auto seen = realtime::simulate(tasks, {.seed = seed, .runs = 6}).largest;
    for (std::size_t f = 0; f < tasks.flows.size(); ++f) {
      const Time bound = bounds.flows[f].response;
      ASSERT_LE(seen.flows[f], bound) << "seed " << seed << ", " << tasks.flows[f].name;
      if (bound == realtime::unbounded) continue;
      ++bounded;
      tightness += seconds(seen.flows[f]) / seconds(bound);
    }
  }
  EXPECT_GT(bounded, count / 2);
  EXPECT_GT(tightness, 0.5 * static_cast<double>(bounded));  // else the comparison says little
  RecordProperty("bounded", std::to_string(bounded));
  std::printf("%llu bounds; the largest simulated response is %.1f %% of its bound on average\n",
              static_cast<unsigned long long>(bounded),
              100 * tightness / static_cast<double>(bounded));
}

}  // namespace
}  // namespace millrace::explore
