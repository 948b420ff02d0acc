#include "explore/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace millrace::explore {
namespace {

SearchResult one_processor(const Problem& problem) {
  SearchResult best;
  for (std::size_t p = 0; p < problem.processors; ++p) {
    SearchResult result;
    result.mapping.processors.assign(problem.layers, ProcessorId(p));
    const std::vector<double> times = processor_times(problem, result.mapping);
    result.bottleneck = *std::max_element(times.begin(), times.end());
    result.fitness = result.bottleneck;
    if (best.mapping.processors.empty() || result.bottleneck < best.bottleneck) best = result;
  }
  return best;
}

std::size_t phases_of(const plan::Plan& plan) {
  std::size_t count = 0;
  for (const plan::Stage& stage : plan.stages) count += stage.phases.size();
  return count;
}

void set_predictions(plan::Plan& plan, const Problem& problem, const board::Board& board,
                     const plan::Mapping& mapping) {
  const std::vector<double> times = processor_times(problem, mapping);
  for (plan::Stage& stage : plan.stages)
    for (std::size_t p = 0; p < board.processors.size(); ++p)
      if (board.processors[p] == stage.processor) stage.predicted = Time(std::llround(times[p]));
}

/// Turns search results into candidates, each measured where that is wanted.
class Candidates {
 public:
  Candidates(const network::Network& network, const board::Board& board, const Problem& problem,
             const ChooseOptions& options)
      : network_(network), board_(board), problem_(problem), options_(options) {}

  void add(const std::string& name, const std::function<SearchResult()>& search) {
    const auto start = std::chrono::steady_clock::now();
    Candidate candidate{name, search(), {}, {}, {}};
    candidate.search_time = std::chrono::steady_clock::now() - start;
    candidate.plan = plan::build(network_, board_, candidate.search.mapping, options_.build);
    set_predictions(candidate.plan, problem_, board_, candidate.search.mapping);
    if (options_.measure) candidate.period = options_.measure(candidate.plan);
    list_.push_back(std::move(candidate));
  }

  std::size_t best() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < list_.size(); ++i)
      if (better(list_[i], list_[best])) best = i;
    return best;
  }
  std::vector<Candidate> take() { return std::move(list_); }

 private:
  static double period_of(const Candidate& c) {
    return c.period != Time{} ? static_cast<double>(c.period.count()) : c.search.bottleneck;
  }
  static bool better(const Candidate& a, const Candidate& b) {
    const double x = period_of(a), y = period_of(b);
    if (std::abs(x - y) > 0.01 * std::max(x, y)) return x < y;
    return phases_of(a.plan) < phases_of(b.plan);
  }

  const network::Network& network_;
  const board::Board& board_;
  const Problem& problem_;
  const ChooseOptions& options_;
  std::vector<Candidate> list_;
};

}  // namespace

Choice choose(const network::Network& network, const board::Board& board,
              const profile::Profile& profile, const ChooseOptions& options) {
  if (options.search != "auto" && options.search != "genetic" && options.search != "exact")
    throw InputError("--search " + options.search, "expected auto, genetic or exact");
  const Problem problem = make_problem(network, board, profile);
  Candidates candidates(network, board, problem, options);
  candidates.add("one processor", [&] { return one_processor(problem); });
  if (options.search != "genetic")
    candidates.add("exact contiguous", [&] { return exact_contiguous(problem); });
  if (options.search != "exact") {
    SearchResult found;
    candidates.add("genetic", [&] { return found = genetic(problem, options.genetic); });
    candidates.add("genetic, improved", [&] { return improve(problem, found); });
  }
  Choice choice;
  choice.best = candidates.best();
  choice.candidates = candidates.take();
  choice.lower_bound = lower_bound(problem);
  return choice;
}

std::vector<std::string> reasons(const Problem& problem, const board::Board& board,
                                 const plan::Mapping& mapping, LayerId layer) {
  std::vector<std::string> result;
  const ProcessorId here = mapping.processors[layer.index];
  const std::vector<double> times = processor_times(problem, mapping);
  const double now = *std::max_element(times.begin(), times.end());
  for (std::size_t p = 0; p < problem.processors; ++p) {
    if (ProcessorId(p) == here) continue;
    plan::Mapping moved = mapping;
    moved.processors[layer.index] = ProcessorId(p);
    const std::vector<double> then = processor_times(problem, moved);
    const double bottleneck = *std::max_element(then.begin(), then.end());
    const auto text = [](double ns) { return millrace::to_text(Time(std::llround(ns))); };
    const double own = problem.time[layer.index][p] - problem.time[layer.index][here.index];
    result.push_back(fmt::format(
        "not on {}: the layer itself takes {} there and {} here ({}{}); with what has to cross, "
        "the slowest stage would take {} instead of {} per frame",
        board.processors[p].name, text(problem.time[layer.index][p]),
        text(problem.time[layer.index][here.index]), own < 0 ? "-" : "+", text(std::abs(own)),
        text(bottleneck), text(now)));
  }
  return result;
}

}  // namespace millrace::explore
