#include "explore/together.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "explore/candidates.h"
#include "explore/limits.h"
#include "explore/mapping/joined.h"
#include "explore/mapping/replicas.h"
#include "plan/steps.h"

namespace millrace::explore {
namespace {

/// In its best place each: all layers of a network on one processor.
SearchResult in_one_piece_each(const Problem& both, std::size_t layers_of_first) {
  SearchResult best;
  best.bottleneck = std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < both.processors; ++p)
    for (std::size_t q = 0; q < both.processors; ++q) {
      SearchResult result;
      result.mapping.processors.assign(layers_of_first, ProcessorId(p));
      result.mapping.processors.resize(both.layers, ProcessorId(q));
      rate(result, both, {Fitness::bottleneck});
      if (best.mapping.processors.empty() || result.bottleneck < best.bottleneck) best = result;
    }
  return best;
}

SearchResult all_on_one(const Problem& both) {
  SearchResult best;
  for (std::size_t p = 0; p < both.processors; ++p) {
    SearchResult result;
    result.mapping.processors.assign(both.layers, ProcessorId(p));
    rate(result, both, {Fitness::bottleneck});
    if (best.mapping.processors.empty() || result.bottleneck < best.bottleneck) best = result;
  }
  best.is_one_processor = true;
  return best;
}

Time of_nanoseconds(double ns) { return Time(std::llround(ns)); }

/// Both plans need room on the board at the same time.
Verdict have_room_together(const SharedCandidate& both, const board::Board& board) {
  plan::Plan all = both.first.plan;
  const auto& more = both.second.plan.stages;
  all.stages.insert(all.stages.end(), more.begin(), more.end());
  return within_limits(all, board);
}

/// What the plan and the second network do on each processor for a frame: the most of all.
Time busiest(const Candidate& first, const Candidate& second, std::int64_t runs) {
  std::map<std::string, Time> busy = plan::busy_times(first.plan, first.evidence);
  for (const auto& [name, time] : plan::busy_times(second.plan, second.evidence))
    busy[name] += time * runs;
  Time most{};
  for (const auto& [name, time] : busy) most = std::max(most, time);
  return most;
}

/// The candidates for both networks, made from mappings of their joined layers.
class SharedCandidates {
 public:
  SharedCandidates(const Timed& first, const Companion& companion, const board::Board& board,
                   const ChooseOptions& options)
      : network_(first.network),
        board_(board),
        companion_(companion),
        options_(options),
        first_{.problem = make_problem(first.network, board, first.profile)},
        second_{.problem = make_problem(companion.network, board, companion.profile)},
        both_(joined(first_.problem, second_.problem, companion.runs)) {}

  void search() {
    add("one processor", all_on_one(both_));
    add("one processor each", in_one_piece_each(both_, network_.layers.size()));
    if (options_.search != "genetic") add("exact contiguous", exact_contiguous(both_));
    if (options_.search != "exact") {
      GeneticOptions genetic_options = options_.genetic;
      genetic_options.aim.fitness = Fitness::bottleneck;  // the period is that of one network
      const SearchResult found = genetic(both_, genetic_options);
      add("genetic", found);
      add("genetic, improved", improve(both_, found, genetic_options.aim));
    }
    if (options_.search == "auto") add_replicas();
  }

  SharedChoice decided() {
    if (choice_.candidates.empty())
      throw InputError(board_.name,
                       fmt::format("no plans of both networks were found that the board can run "
                                   "({}); try ⟨search⟩ auto, or more processors",
                                   fmt::join(choice_.left_out, "; ")));
    if (companion_.measure) measure();
    choice_.best = best();
    choice_.lower_bound = std::min(lowest_bound_, lower_bound(both_));
    return std::move(choice_);
  }

 private:
  /// All processors share the frames of both networks.
  void add_replicas() {
    const std::size_t all = both_.processors;
    if (all < 2 || all > plan::most_replicas) return;
    const Problem group = in_groups(both_, all);
    lowest_bound_ = lower_bound(group);
    for (SearchCase* given : {&first_, &second_}) given->replicas = turns_in_groups(all, all);
    add(fmt::format("{} replicas", all), exact_contiguous(group));
    for (SearchCase* given : {&first_, &second_}) given->replicas.clear();
  }

  void add(const std::string& name, const SearchResult& found) {
    if (!std::isfinite(found.bottleneck)) {
      choice_.left_out.push_back(name + ": no processor runs all that it would get");
      return;
    }
    const auto [first, second] = separated(found.mapping, network_.layers.size());
    auto one = candidate(name, found, first, {network_, first_});
    auto other = candidate(name, found, second, {companion_.network, second_});
    if (!one || !other) return;
    SharedCandidate both{std::move(*one), std::move(*other)};
    both.bound = std::max({of_nanoseconds(found.bottleneck), both.first.bound,
                           both.second.bound * companion_.runs});
    if (const Verdict verdict = have_room_together(both, board_); !verdict)
      choice_.left_out.push_back(fmt::format("{}, both networks: {}", name, verdict.reason()));
    else
      choice_.candidates.push_back(std::move(both));
  }

  struct Part {
    const network::Network& network;
    const SearchCase& given;
  };
  std::optional<Candidate> candidate(const std::string& name, const SearchResult& found,
                                     const plan::Mapping& mapping, const Part& part) {
    Candidates made(part.network, board_, options_);
    made.add(name, part.given, [&] {
      SearchResult result = found;
      result.mapping = mapping;
      return result;
    });
    const auto& reasons = made.left_out();
    choice_.left_out.insert(choice_.left_out.end(), reasons.begin(), reasons.end());
    if (made.list().empty()) return std::nullopt;
    return made.list().front();
  }

  /// Measures the candidates whose bounds are near the best one.
  void measure() {
    constexpr double near = 1.25;
    const Time least =
        std::ranges::min_element(choice_.candidates, {}, &SharedCandidate::bound)->bound;
    std::vector<SharedCandidate*> chosen;
    std::vector<Pair> pairs;
    for (SharedCandidate& each : choice_.candidates) {
      if (seconds(each.bound) > near * seconds(least)) continue;
      chosen.push_back(&each);
      pairs.push_back({each.first.plan, each.second.plan});
    }
    const std::vector<Time> periods = companion_.measure(pairs);
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i]->period = periods[i];
  }

  std::size_t best() const {
    constexpr double noise = 0.01;
    const auto& all = choice_.candidates;
    const auto period = [](const SharedCandidate& each) {  // what was measured comes first
      return std::tuple(each.period == Time{}, each.period == Time{} ? each.bound : each.period);
    };
    const auto phases = [](const SharedCandidate& each) {
      return plan::phases_in(each.first.plan) + plan::phases_in(each.second.plan);
    };
    const auto fastest = std::ranges::min_element(all, {}, period);
    const auto [is_predicted, shortest] = period(*fastest);
    const double limit = (1 + noise) * seconds(shortest);
    auto best = fastest;
    for (auto each = all.begin(); each != all.end(); ++each)
      if (std::get<0>(period(*each)) == is_predicted &&
          seconds(std::get<1>(period(*each))) <= limit && phases(*each) < phases(*best))
        best = each;
    return static_cast<std::size_t>(best - all.begin());
  }

  const network::Network& network_;
  const board::Board& board_;
  const Companion& companion_;
  const ChooseOptions& options_;
  SearchCase first_, second_;
  const Problem both_;
  SharedChoice choice_;
  double lowest_bound_ = std::numeric_limits<double>::infinity();
};

}  // namespace

SharedChoice choose_together(const Timed& first, const Companion& companion,
                             const board::Board& board, const ChooseOptions& asked) {
  ChooseOptions options = asked;
  const auto& processors = first.profile.processors;
  if (options.build.engine.empty() && !processors.empty())
    options.build.engine = processors.front().engine;
  options.max_latency.reset();
  SharedCandidates candidates(first, companion, board, options);
  candidates.search();
  return candidates.decided();
}

SharedChoice choose_beside(const Candidate& first, const board::Board& board,
                           const Companion& companion, const ChooseOptions& options) {
  ChooseOptions alone = options;
  alone.max_latency.reset();
  const SearchCase second{.problem = make_problem(companion.network, board, companion.profile)};
  SharedChoice shared;
  for (std::size_t p = 0; p < board.processors.size(); ++p) {
    Candidates made(companion.network, board, alone);
    made.add("one processor", second, [&] {
      SearchResult result;
      result.mapping.processors.assign(second.problem.layers, ProcessorId(p));
      rate(result, second.problem, {Fitness::bottleneck});
      return result;
    });
    shared.left_out.insert(shared.left_out.end(), made.left_out().begin(), made.left_out().end());
    if (made.list().empty()) continue;
    SharedCandidate both{first, made.list().front()};
    both.bound = std::max({first.bound, both.second.bound * companion.runs,
                           busiest(first, both.second, companion.runs)});
    if (const Verdict verdict = have_room_together(both, board); verdict)
      shared.candidates.push_back(std::move(both));
    else
      shared.left_out.push_back(board.processors[p].name + ": " + verdict.reason());
  }
  if (shared.candidates.empty())
    throw InputError(board.name,
                     fmt::format("no processor runs the network of the crops beside the plan ({})",
                                 fmt::join(shared.left_out, "; ")));
  const auto best = std::ranges::min_element(shared.candidates, {}, &SharedCandidate::bound);
  shared.candidates = {SharedCandidate(*best)};
  shared.lower_bound = static_cast<double>(shared.candidates.front().bound.count());
  if (!companion.measure) return shared;
  const Pair pair{shared.candidates.front().first.plan, shared.candidates.front().second.plan};
  shared.candidates.front().period = companion.measure({&pair, 1}).front();
  return shared;
}

Choice choice_of_first(const SharedChoice& shared) {
  Choice choice;
  for (const SharedCandidate& each : shared.candidates) choice.candidates.push_back(each.first);
  choice.left_out = shared.left_out;
  choice.best = shared.best;
  choice.lower_bound = shared.lower_bound;
  return choice;
}

}  // namespace millrace::explore
