#include "explore/admission/misfit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace millrace::explore {
namespace {

using Answer = Admission::Answer;

/// Asks the program whether sets fit, in as much time as the decision itself may take.
class Fitting {
 public:
  explicit Fitting(AdmissionOptions options) : options_(std::move(options)) {
    options_.goal = AdmissionGoal::any;
  }
  /// The first question may take all of the time, each other one a part of what is left.
  Answer ask(const AdmissionProblem& problem) {
    AdmissionOptions options = options_;
    if (is_asked_) options.seconds = std::max(0.0, left()) / 8;
    is_asked_ = true;
    const Answer answer = solve_program(problem, options).answer;
    if (answer == Answer::unknown) is_proven_ = false;
    return answer;
  }
  bool fits(const AdmissionProblem& problem) { return ask(problem) == Answer::fits; }
  bool is_proven() const { return is_proven_; }

 private:
  double left() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    return 2 * options_.seconds - spent.count();
  }

  AdmissionOptions options_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool is_asked_ = false, is_proven_ = true;
};

/// Leaves out one task after the other as long as the rest does not fit.
std::vector<std::size_t> irreducible(const AdmissionProblem& problem, Fitting& fitting) {
  std::vector<std::size_t> kept(problem.tasks.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  for (std::size_t i = 0; i < kept.size();) {
    std::vector<std::size_t> fewer = kept;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (fitting.ask(only_tasks(problem, fewer)) == Answer::does_not_fit)
      kept = std::move(fewer);
    else
      ++i;
  }
  return kept;
}

Time scaled_by(Time time, double factor) {
  return Time(static_cast<std::int64_t>(std::ceil(static_cast<double>(time.count()) * factor)));
}

AdmissionProblem with_period(AdmissionProblem problem, std::size_t task, double factor) {
  AdmissionTask& changed = problem.tasks[task];
  const bool implicit = changed.deadline == changed.period;
  changed.period = scaled_by(changed.period, factor);
  if (implicit) changed.deadline = changed.period;
  return problem;
}

AdmissionProblem with_times(AdmissionProblem problem, std::size_t task, double factor) {
  for (std::optional<Time>& time : problem.tasks[task].times)
    if (time) time = scaled_by(*time, factor);
  return problem;
}

/// With the unit twice: each processor with it exists with the second one as well.
AdmissionProblem with_another(AdmissionProblem problem, std::size_t unit) {
  problem.units.push_back(problem.units[unit]);
  const std::size_t processors = problem.processors.size();
  for (std::size_t p = 0; p < processors; ++p) {
    SharedProcessor copy = problem.processors[p];
    const auto found = std::ranges::find(copy.units, unit);
    if (found == copy.units.end()) continue;
    copy.units.erase(found);
    copy.units.push_back(problem.units.size() - 1);
    const std::size_t exclusions = problem.exclusive.size();
    for (std::size_t e = 0; e < exclusions; ++e) {
      const auto [a, b] = problem.exclusive[e];
      if (a == p) problem.exclusive.emplace_back(problem.processors.size(), b);
      if (b == p) problem.exclusive.emplace_back(a, problem.processors.size());
    }
    problem.processors.push_back(std::move(copy));
    for (AdmissionTask& task : problem.tasks) {
      task.times.push_back(task.times[p]);
      if (!task.energy.empty()) task.energy.push_back(task.energy[p]);
      if (!task.transfers.empty()) task.transfers.push_back(task.transfers[p]);
    }
  }
  return problem;
}

/// The smallest change, between 1 (nothing) and `most`, with which it fits; within a thousandth.
template <class Change>
std::optional<double> least_change(double most, Fitting& fitting, const Change& change) {
  if (!fitting.fits(change(most))) return std::nullopt;
  double too_little = 1, enough = most;
  while (enough / too_little > 1.001) {
    const double middle = std::sqrt(too_little * enough);
    (fitting.fits(change(middle)) ? enough : too_little) = middle;
  }
  return enough;
}

std::vector<Remedy> remedies_of(const AdmissionProblem& problem, Fitting& fitting) {
  constexpr double most = 100;
  std::vector<Remedy> remedies;
  for (std::size_t u = 0; u < problem.units.size(); ++u)
    if (fitting.fits(with_another(problem, u)))
      remedies.push_back({.kind = Remedy::Kind::another_unit, .subject = u});
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
    const auto longer = [&](double factor) { return with_period(problem, t, factor); };
    if (const auto factor = least_change(most, fitting, longer))
      remedies.push_back({.subject = t, .period = longer(*factor).tasks[t].period});
    const auto faster = [&](double factor) { return with_times(problem, t, 1 / factor); };
    if (const auto factor = least_change(most, fitting, faster))
      remedies.push_back({.kind = Remedy::Kind::faster, .subject = t, .factor = *factor});
  }
  return remedies;
}

}  // namespace

std::optional<Misfit> misfit_of(const AdmissionProblem& problem, const AdmissionOptions& options) {
  Fitting fitting(options);
  if (fitting.ask(problem) != Answer::does_not_fit) return std::nullopt;
  Misfit result;
  result.tasks = irreducible(problem, fitting);
  result.remedies = remedies_of(only_tasks(problem, result.tasks), fitting);
  for (Remedy& remedy : result.remedies)
    if (remedy.kind != Remedy::Kind::another_unit) remedy.subject = result.tasks[remedy.subject];
  result.is_proven = fitting.is_proven();
  return result;
}

std::string remedies_text(const AdmissionProblem& problem, const std::vector<Remedy>& remedies) {
  std::vector<std::string> texts;
  for (const Remedy& remedy : remedies) {
    const auto name = [&] { return problem.tasks[remedy.subject].name; };
    switch (remedy.kind) {
      case Remedy::Kind::longer_period:
        texts.push_back(fmt::format("'{}' every {} or more, not {}", name(), to_text(remedy.period),
                                    to_text(problem.tasks[remedy.subject].period)));
        break;
      case Remedy::Kind::faster:
        texts.push_back(fmt::format("'{}' {} times faster", name(), four_digits(remedy.factor)));
        break;
      case Remedy::Kind::another_unit:
        texts.push_back(fmt::format("one more '{}'", problem.units[remedy.subject]));
        break;
    }
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace millrace::explore
