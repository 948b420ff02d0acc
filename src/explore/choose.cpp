#include "explore/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "plan/rate.h"

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

bool uses_int8(const plan::Plan& plan) {
  return std::any_of(plan.variants.begin(), plan.variants.end(),
                     [](const board::Variant& v) { return v.precision == board::Precision::int8; });
}

std::size_t phases_of(const plan::Plan& plan) {
  std::size_t count = 0;
  for (const plan::Stage& stage : plan.stages) count += stage.phases.size();
  return count;
}

/// Of each layer on its processor; empty if the engine's own choice is the best everywhere.
std::vector<board::Variant> variants_of(const Problem& problem, const plan::Mapping& mapping) {
  std::vector<board::Variant> result;
  for (std::size_t i = 0; i < problem.layers; ++i)
    result.push_back(problem.variants[i][mapping.processors[i].index]);
  const bool own = std::all_of(result.begin(), result.end(),
                               [](const board::Variant& v) { return v == board::Variant{}; });
  return own ? std::vector<board::Variant>{} : result;
}

/// What the profile says of the plan's stages and phases.
void set_times(Candidate& candidate, const Problem& problem) {
  const auto times = phase_times(problem, candidate.plan, candidate.search.mapping);
  for (std::size_t s = 0; s < times.size(); ++s) {
    plan::Stage& stage = candidate.plan.stages[s];
    stage.predicted = std::accumulate(times[s].begin(), times[s].end(), Time{});
    for (std::size_t p = 0; p < times[s].size(); ++p) stage.phases[p].predicted = times[s][p];
  }
}

/// As few slots as keep the plan's throughput at the predicted times, and the slack.
void size_slots(Candidate& candidate, const network::Network& network, std::int64_t slack) {
  candidate.slots_by_rule = plan::slot_bytes(candidate.plan, network);
  candidate.smallest =
      plan::smallest_slots(candidate.plan, network, plan::predicted_times(candidate.plan));
  if (candidate.smallest)
    candidate.plan =
        plan::with_slots(std::move(candidate.plan), candidate.smallest->capacities, slack);
}

/// The bound that follows from the plan's graph.
void predict(Candidate& candidate, const network::Network& network) {
  Time slowest{};
  for (const plan::Stage& stage : candidate.plan.stages)
    slowest = std::max(slowest, stage.predicted);
  candidate.bound =
      plan::period_bound(candidate.plan, network, plan::predicted_times(candidate.plan))
          .value_or(slowest);
}

/// Turns search results into candidates, each measured where that is wanted.
class Candidates {
 public:
  Candidates(const network::Network& network, const board::Board& board, const Problem& problem,
             const ChooseOptions& options)
      : network_(network), board_(board), problem_(problem), options_(options) {}

  void add(const std::string& name, const std::function<SearchResult()>& search) {
    const auto start = std::chrono::steady_clock::now();
    Candidate candidate;
    candidate.name = name;
    candidate.search = search();
    candidate.search_time = std::chrono::steady_clock::now() - start;
    candidate.plan = plan::build(network_, board_, candidate.search.mapping, options_.build);
    candidate.plan.variants = variants_of(problem_, candidate.search.mapping);
    if (options_.calibration != nullptr && uses_int8(candidate.plan))
      candidate.plan.calibration = *options_.calibration;
    set_times(candidate, problem_);
    size_slots(candidate, network_, options_.slack);
    predict(candidate, network_);
    list_.push_back(std::move(candidate));
  }

  /// The promising ones; plans that are alike share one measurement.
  void measure() {
    constexpr double promising = 1.25;
    const auto smaller = [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; };
    const Time best = std::min_element(list_.begin(), list_.end(), smaller)->bound;
    std::vector<plan::Plan> plans;
    std::vector<std::pair<Candidate*, std::size_t>> measured;
    for (Candidate& candidate : list_) {
      if (seconds(candidate.bound) > promising * seconds(best) || is_needless(candidate)) continue;
      const auto same = [&](const plan::Plan& p) {
        return p.stages == candidate.plan.stages && p.variants == candidate.plan.variants;
      };
      const auto alike = std::find_if(plans.begin(), plans.end(), same);
      measured.emplace_back(&candidate, alike - plans.begin());
      if (alike == plans.end()) plans.push_back(candidate.plan);
    }
    const std::vector<Time> periods = options_.measure(plans);
    for (const auto& [candidate, plan] : measured) candidate->period = periods[plan];
  }

  std::size_t best() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < list_.size(); ++i)
      if (better(list_[i], list_[best])) best = i;
    return best;
  }
  std::vector<Candidate> take() { return std::move(list_); }

 private:
  /// Not faster by more than measurements tell apart than one with fewer phases.
  bool is_needless(const Candidate& candidate) const {
    return std::any_of(list_.begin(), list_.end(), [&](const Candidate& other) {
      return phases_of(other.plan) < phases_of(candidate.plan) &&
             seconds(other.bound) < (1 + noise) * seconds(candidate.bound);
    });
  }
  static double period_of(const Candidate& c) {
    return seconds(c.period != Time{} ? c.period : c.bound);
  }
  static bool better(const Candidate& a, const Candidate& b) {
    if ((a.period != Time{}) != (b.period != Time{})) return a.period != Time{};
    const double x = period_of(a), y = period_of(b);
    if (std::abs(x - y) > noise * std::max(x, y)) return x < y;
    return phases_of(a.plan) < phases_of(b.plan);
  }

  static constexpr double noise = 0.01;

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
  if (options.measure) candidates.measure();
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
