// How many flows of random task systems have no bound, and by which rule; and how far bounds lie
// above simulations. To be read by people: flow_bounds [SYSTEMS [SEED [MOST_PERIODS]]].
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "realtime/analysis.h"
#include "realtime/random_system.h"
#include "realtime/simulate.h"
#include "realtime/utilisation.h"

namespace millrace::realtime {
namespace {

constexpr int simulations = 30;

struct Found {
  std::int64_t systems = 0, flows = 0, below_simulation = 0;
  std::map<std::string, std::int64_t> without_bound;  // by rule
  std::vector<double> ratios;                         // bound by the largest simulated response
};

/// Name of the reason; for growth, on how many resources its circle is, and whether in one flow.
std::string class_of(const TaskSystem& system, const NoBound& reason) {
  std::string name = to_text(reason.rule);
  if (reason.circle.empty()) return name;
  std::vector<std::size_t> resources, flows;
  for (const TaskId task : reason.circle) {
    resources.push_back(system[task].resource.index);
    for (std::size_t f = 0; f < system.flows.size(); ++f)
      if (std::ranges::count(system.flows[f].tasks, task) > 0) flows.push_back(f);
  }
  const auto distinct = [](std::vector<std::size_t> values) {
    std::ranges::sort(values);
    return static_cast<std::size_t>(
        std::distance(values.begin(), std::unique(values.begin(), values.end())));
  };
  return fmt::format("{}: {}, {}", name,
                     distinct(resources) == 1 ? "one resource" : "several resources",
                     distinct(flows) == 1 ? "one flow" : "several flows");
}

void look_at(const TaskSystem& system, std::uint64_t seed, const AnalysisOptions& options,
             Found& found) {
  for (const Utilisation& one : utilisations(system))
    if (one.is_overloaded) return;
  ++found.systems;
  const Bounds bounds = analyse(system, options);
  const SimulatedResponses seen = simulate(system, {seed, simulations});
  for (std::size_t f = 0; f < system.flows.size(); ++f) {
    ++found.flows;
    const Time bound = bounds.flows[f].response;
    const Time largest = std::max(Time{1}, seen.largest.flows[f]);
    if (bound < largest) ++found.below_simulation;
    if (bounds.reasons[f])
      ++found.without_bound[class_of(system, *bounds.reasons[f])];
    else
      found.ratios.push_back(static_cast<double>(bound.count()) /
                             static_cast<double>(largest.count()));
  }
}

double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void print(double utilisation, const char* policy, Found found) {
  std::int64_t without = 0;
  for (const auto& [rule, count] : found.without_bound) without += count;
  fmt::print("{:.1f}  {:28}  {:6} systems  {:6} flows  {:5} without bound, {} below simulation, ",
             utilisation, policy, found.systems, found.flows, without, found.below_simulation);
  fmt::print("bound / simulated: median {:.2f}, 90 % {:.2f}, 99 % {:.2f}\n",
             quantile(found.ratios, 0.5), quantile(found.ratios, 0.9),
             quantile(found.ratios, 0.99));
  for (const auto& [rule, count] : found.without_bound)
    fmt::print("       {:5}  {}\n", count, rule);
  std::fflush(stdout);
}

int run(std::uint64_t systems, std::uint64_t seed, std::int64_t most_periods) {
  AnalysisOptions options;
  options.splits = PathSplits::never;
  options.most_periods = most_periods;
  std::int64_t below = 0;
  for (const double utilisation : {0.5, 0.6, 0.7, 0.8, 0.9})
    for (std::size_t p = 0; p <= all_policies.size(); ++p) {
      RandomSystemOptions random{utilisation};
      if (p < all_policies.size()) random.policy = all_policies[p];
      Found found;
      for (std::uint64_t i = 0; i < systems; ++i) {
        Random each(seed * 1'000'000 + i);
        look_at(random_system(each, random), i, options, found);
      }
      below += found.below_simulation;
      print(utilisation, random.policy ? to_text(*random.policy) : "mixed", std::move(found));
    }
  return below == 0 ? 0 : 1;
}

}  // namespace
}  // namespace millrace::realtime

int main(int count, char** words) {
  const auto number = [&](int word, std::uint64_t otherwise) {
    return count > word ? std::strtoull(words[word], nullptr, 10) : otherwise;
  };
  return millrace::realtime::run(number(1, 100), number(2, 1),
                                 static_cast<std::int64_t>(number(3, 20)));
}
