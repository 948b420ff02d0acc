#include "explore/admission/program.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "explore/admission/heuristics.h"
#include "explore/admission/search.h"

namespace millrace::explore {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// What is left of the time goes by parts to searches; a replay may take all of it.
class TimeLeft {
 public:
  explicit TimeLeft(double seconds) {
    constexpr double longest = 1e6;
    until_ =
        SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                 std::chrono::duration<double>(std::clamp(seconds, 0.0, longest)));
  }
  SteadyClock::time_point until() const { return until_; }
  SteadyClock::time_point part(double share) const {
    const auto now = SteadyClock::now();
    return now + std::chrono::duration_cast<SteadyClock::duration>((until_ - now) * share);
  }

 private:
  SteadyClock::time_point until_;
};

constexpr double for_searches = 0.8;

bool has_options(const AdmissionProblem& problem) {
  return std::ranges::none_of(problem.tasks,
                              [](const auto& task) { return options_of(task).empty(); });
}

/// Refuses what is late on its way, whatever else runs: of a task and of those that it reads.
class LateWays {
 public:
  explicit LateWays(AdmissionProblem& problem) : problem_(problem) {}
  void refuse() {
    for (std::size_t t = 0; t < problem_.tasks.size(); ++t) {
      const AdmissionTask& task = problem_.tasks[t];
      limit_ = std::min({task.deadline, task.period, task.end_to_end.value_or(task.deadline)});
      if (!task.after.empty() || task.end_to_end) go_back(t, {}, Time{});
    }
  }

 private:
  void go_back(std::size_t task, std::vector<Placed> way, Time length) {
    constexpr std::size_t most = 20'000;  // what is beyond is found out of each choice
    for (const std::size_t processor : options_of(problem_.tasks[task])) {
      if (problem_.refused.size() >= most) return;
      const Time now = length + time_with_transfers(problem_.tasks[task], processor);
      way.push_back({task, processor});
      if (now > limit_)
        problem_.refused.push_back(way);
      else
        for (const std::size_t before : problem_.tasks[task].after) go_back(before, way, now);
      way.pop_back();
    }
  }

  AdmissionProblem& problem_;
  Time limit_{};
};

/// The first choice that fits, or that none does.
Admission find_any(const AdmissionProblem& problem, AdmissionOptions options,
                   const TimeLeft& time) {
  options.goal = AdmissionGoal::any;
  if (auto first = first_fit_decreasing(problem))
    return {.answer = Admission::Answer::fits, .choice = std::move(*first)};
  ChoiceSearch found =
      search_choices(problem, options, std::nullopt, {.until = time.part(for_searches)});
  if (!found.best.empty() && fits(problem, found.best))
    return {.answer = Admission::Answer::fits, .choice = std::move(found.best)};
  const bool proven = found.complete && replay(found.proof, {problem, options, 0}, time.until());
  return {.answer = proven ? Admission::Answer::does_not_fit : Admission::Answer::unknown};
}

}  // namespace

Admission solve_program(const AdmissionProblem& given, const AdmissionOptions& options) {
  AdmissionProblem problem = given;
  LateWays(problem).refuse();
  if (!has_options(problem)) return {.answer = Admission::Answer::does_not_fit};
  const TimeLeft time(options.seconds);
  Admission result = find_any(problem, options, time);
  if (result.answer != Admission::Answer::fits || options.goal == AdmissionGoal::any) return result;
  ChoiceSearch found =
      search_choices(problem, options, result.choice, {.until = time.part(for_searches)});
  if (fits(problem, found.best)) result.choice = std::move(found.best);
  result.cost = cost_of(problem, options, result.choice);
  result.relaxed = std::min(found.relaxed, result.cost);
  const double least = result.cost - 10 * least_difference(result.cost);
  const bool proven =
      found.complete && replay(found.proof, {problem, options, least}, time.until());
  result.bound = proven ? result.cost : std::min({found.bound, found.relaxed, result.cost});
  if (!found.complete) result.bound = std::min(found.bound, result.cost);
  return result;
}

}  // namespace millrace::explore
