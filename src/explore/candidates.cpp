#include "explore/candidates.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plan/rate.h"

namespace millrace::explore {
namespace {

constexpr double noise = 0.01;  // of measurements

using PhaseTimes = std::vector<std::vector<Time>>;  // by stage and phase

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

/// Sets the predicted times of the plan's stages, each of a frame; the largest.
Time predict_stages(plan::Plan& plan, const PhaseTimes& times) {
  Time slowest{};
  for (std::size_t s = 0; s < times.size(); ++s) {
    plan.stages[s].predicted = std::accumulate(times[s].begin(), times[s].end(), Time{});
    slowest = std::max(slowest, plan.stages[s].predicted);
  }
  return slowest;
}

/// Of a phase with a batch, what all of its frames take.
PhaseTimes of_firings(PhaseTimes times, const plan::Plan& plan) {
  for (std::size_t s = 0; s < times.size(); ++s)
    for (std::size_t p = 0; p < times[s].size(); ++p) times[s][p] *= plan.stages[s].phases[p].batch;
  return times;
}

double period_of(const Candidate& c) { return seconds(c.period != Time{} ? c.period : c.bound); }

}  // namespace

void Candidates::add(const std::string& name, const Task& task,
                     const std::function<SearchResult()>& search) {
  const auto start = std::chrono::steady_clock::now();
  Candidate candidate{name, search(), {}, {}, {}, {}};
  candidate.search_time = std::chrono::steady_clock::now() - start;
  candidate.batch = task.batch;
  build_plan(candidate, task);
  candidate.plan.variants = variants_of(task.problem, candidate.search.mapping);
  if (options_.calibration != nullptr && uses_int8(candidate.plan))
    candidate.plan.calibration = *options_.calibration;
  list_.push_back(std::move(candidate));
}

/// While a stage works on a batch the others go on if the channels have space for what they make
/// meanwhile; how much that is depends on the times, so some capacities are tried.
void Candidates::build_plan(Candidate& candidate, const Task& task) const {
  constexpr double enough = 1.001;
  plan::BuildOptions options = options_.build;
  options.batches = task.batches;
  for (std::int64_t more = 0; more <= task.batch; more = std::max<std::int64_t>(1, 2 * more)) {
    options.capacity = options_.build.capacity + more;
    plan::Plan plan = plan::build(network_, board_, candidate.search.mapping, options);
    const PhaseTimes times = phase_times(task.problem, plan, candidate.search.mapping);
    const Time slowest = predict_stages(plan, times);
    const PhaseTimes firings = of_firings(times, plan);
    const Time bound = plan::period_bound(plan, network_, firings).value_or(slowest);
    if (more > 0 && seconds(bound) * enough > seconds(candidate.bound)) break;
    candidate.bound = bound;
    if (options_.max_latency)
      candidate.latency = plan::latency_bound(plan, network_, firings, bound).value_or(Time{});
    candidate.plan = std::move(plan);
    if (task.batch == 1 || seconds(bound) < enough * seconds(slowest)) break;
  }
}

void Candidates::measure() {
  constexpr double promising = 1.25;
  constexpr std::size_t most = 6;
  std::vector<Candidate*> order;
  for (Candidate& candidate : list_)
    if (is_in_time(candidate) && !is_needless(candidate)) order.push_back(&candidate);
  std::stable_sort(order.begin(), order.end(),
                   [](const Candidate* a, const Candidate* b) { return a->bound < b->bound; });
  std::vector<plan::Plan> plans;
  std::vector<std::pair<Candidate*, std::size_t>> measured;
  for (Candidate* candidate : order) {
    if (seconds(candidate->bound) > promising * seconds(order.front()->bound)) break;
    const auto alike = std::find_if(plans.begin(), plans.end(), [&](const plan::Plan& p) {
      return p.stages == candidate->plan.stages && p.variants == candidate->plan.variants;
    });
    if (alike == plans.end() && plans.size() == most) continue;
    measured.emplace_back(candidate, alike - plans.begin());
    if (alike == plans.end()) plans.push_back(candidate->plan);
  }
  if (plans.empty()) return;
  const std::vector<Time> periods = options_.measure(plans);
  for (const auto& [candidate, plan] : measured) candidate->period = periods[plan];
}

bool Candidates::is_needless(const Candidate& candidate) const {
  return std::any_of(list_.begin(), list_.end(), [&](const Candidate& other) {
    return is_in_time(other) && phases_of(other.plan) < phases_of(candidate.plan) &&
           seconds(other.bound) < (1 + noise) * seconds(candidate.bound);
  });
}

bool Candidates::is_in_time(const Candidate& candidate) const {
  return !options_.max_latency || candidate.latency <= *options_.max_latency;
}

std::size_t Candidates::best() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < list_.size(); ++i)
    if (better(list_[i], list_[best])) best = i;
  return best;
}

bool Candidates::better(const Candidate& a, const Candidate& b) const {
  if (is_in_time(a) != is_in_time(b)) return is_in_time(a);
  if (!is_in_time(a)) return a.latency < b.latency;
  if ((a.period != Time{}) != (b.period != Time{})) return a.period != Time{};
  const double x = period_of(a), y = period_of(b);
  if (std::abs(x - y) > noise * std::max(x, y)) return x < y;
  if (phases_of(a.plan) != phases_of(b.plan)) return phases_of(a.plan) < phases_of(b.plan);
  return a.latency < b.latency;
}

}  // namespace millrace::explore
