// Processors, periods and table in one search, against an enumeration of all three.
#include "explore/admission/tabled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/random.h"
#include "support/tick_enumeration.h"

namespace millrace::explore {
namespace {

using Answer = Admission::Answer;

/// Two NPUs, alone or together, with a link, and a GPU; times of a few ticks.
AdmissionProblem random_ticks(Random& random) {
  AdmissionProblem problem;
  problem.units = {"npu0", "npu1", "gpu", "link"};
  problem.processors = {{"npu0", {0}, 3}, {"npu1", {1}, 3}, {"npus", {0, 1}, 3}, {"gpu", {2}}};
  constexpr std::array<std::int64_t, 6> periods{4, 5, 6, 8, 10, 12};
  const std::size_t count = 1 + random.below(4);
  const bool only_even = random.below(2) == 0;
  for (std::size_t t = 0; t < count; ++t) {
    AdmissionTask task;
    task.name = "t" + std::to_string(t);
    do {
      task.period = Time(periods[random.below(6)]);
    } while (only_even && task.period.count() % 4 != 0);
    task.deadline = task.period - Time(static_cast<std::int64_t>(random.below(3)));
    for (std::size_t p = 0; p < problem.processors.size(); ++p) {
      const bool has_variant = p == 3 || random.below(3) > 0;
      task.times.push_back(has_variant
                               ? std::optional(Time(1 + static_cast<std::int64_t>(random.below(5))))
                               : std::nullopt);
      const auto transfer = static_cast<std::int64_t>(p < 3 && random.below(3) == 0);
      task.transfers.push_back({Time(transfer), Time(0)});
      task.energy.push_back(static_cast<double>(random.below(50)));
    }
    if (t > 0 && random.below(4) == 0) task.after = {random.below(t)};
    if (!task.after.empty() && random.below(2) == 0)
      task.end_to_end = Time(3 + static_cast<std::int64_t>(random.below(9)));
    problem.tasks.push_back(std::move(task));
  }
  if (count > 1 && random.below(2) == 0) {  // two that are alike
    const std::string name = problem.tasks[1].name;
    problem.tasks[1] = problem.tasks[0];
    problem.tasks[1].name = name;
  }
  return problem;
}

/// The least cost of all choices that fit, with a table or anyway.
std::optional<double> least_of_all(const AdmissionProblem& problem, const AdmissionOptions& options,
                                   bool with_table) {
  AdmissionChoice choice(problem.tasks.size(), 0);
  std::optional<double> best;
  for (;;) {
    if (fits(problem, choice)) {
      const double cost = cost_of(problem, options, choice);
      const auto tasks = table_tasks(problem, choice);
      const bool is_better = !best || cost < *best;
      if (is_better && (!with_table || millrace::test::TickEnumeration(tasks, {}).exists()))
        best = cost;
    }
    std::size_t t = 0;
    while (t < choice.size() && ++choice[t] == problem.processors.size()) choice[t++] = 0;
    if (t == choice.size()) return best;
  }
}

std::optional<double> least_with_table(const AdmissionProblem& problem,
                                       const AdmissionOptions& options) {
  return least_of_all(problem, options, true);
}

struct Expected {
  std::optional<double> given, harmonised;
};

Expected enumerated(const AdmissionProblem& problem, const AdmissionOptions& options) {
  Expected expected{least_with_table(problem, options), {}};
  for (const Time base : harmonic_bases(problem)) {
    const auto cost =
        least_with_table(with_harmonised_periods(problem, base, problem.tasks.size()), options);
    if (cost && (!expected.harmonised || *cost < *expected.harmonised)) expected.harmonised = cost;
  }
  return expected;
}

int sets_with_tables() {
  const char* value = std::getenv("MILLRACE_ADMISSION_SETS");
  return value ? std::atoi(value) : 300;
}

void check_found(const TabledAdmission& found, std::optional<double> cost, int set) {
  ASSERT_EQ(found.table.has_value(), cost.has_value()) << "set " << set;
  if (!cost) return;
  ASSERT_EQ(found.admission.answer, Answer::fits);
  EXPECT_NEAR(found.admission.cost, *cost, 1e-9 * std::max(1.0, *cost)) << "set " << set;
  EXPECT_LE(found.admission.bound, *cost * (1 + 1e-9)) << "set " << set;
  const Verdict verdict = realtime::replay(*found.table, found.tasks);
  EXPECT_TRUE(verdict) << "set " << set << ": " << verdict.reason();
}

TEST(Tabled, agrees_with_enumeration) {
  Random random(21);
  int with_table = 0, only_harmonised = 0, second_best = 0, full = 0, none = 0;
  for (int i = 0; i < sets_with_tables(); ++i) {
    const AdmissionProblem problem = random_ticks(random);
    AdmissionOptions options;
    options.goal = std::array{AdmissionGoal::total_utilisation, AdmissionGoal::energy,
                              AdmissionGoal::largest_load}[random.below(3)];
    const Expected expected = enumerated(problem, options);
    const TabledAdmission found = solve_with_table(problem, options);
    check_found(found, expected.given ? expected.given : expected.harmonised, i);
    ASSERT_FALSE(HasFatalFailure());
    check_found(solve_with_table(problem, options, {TablePeriods::as_given, {}}), expected.given,
                i);
    ASSERT_FALSE(HasFatalFailure());
    with_table += found.table.has_value();
    only_harmonised += found.is_harmonised;
    if (!found.table && found.admission.answer == Answer::fits) {
      ++none;
      EXPECT_TRUE(found.is_none_proven) << "set " << i;
    }
    second_best += found.table && found.refused > 0;
    full += found.table && std::ranges::max(loads_of(found.problem, found.admission.choice)) == 1;
  }
  EXPECT_GT(with_table, sets_with_tables() / 4);
  EXPECT_GT(second_best, sets_with_tables() / 100);
  EXPECT_GT(full, sets_with_tables() / 100);
  EXPECT_GT(none, 0);
  RecordProperty("with_table", with_table);
  RecordProperty("only_harmonised", only_harmonised);
  RecordProperty("second_best", second_best);
  RecordProperty("full", full);
}

TEST(Tabled, utilisation_alone_takes_ways_into_account) {
  Random random(22);
  int ordered = 0;
  for (int i = 0; i < sets_with_tables(); ++i) {
    const AdmissionProblem problem = random_ticks(random);
    ordered += std::ranges::any_of(problem.tasks, [](const auto& t) { return !t.after.empty(); });
    const std::optional<double> best = least_of_all(problem, {}, false);
    const Admission found = solve_program(problem);
    ASSERT_EQ(found.answer, best ? Answer::fits : Answer::does_not_fit) << "set " << i;
    if (best) {
      EXPECT_NEAR(found.cost, *best, 1e-9) << "set " << i;
    }
  }
  EXPECT_GT(ordered, sets_with_tables() / 10);
}

/// One every 5, one every 50 that takes 12: never on one unit, though it is loaded by 44 % only.
TEST(Tabled, a_choice_without_a_table_is_left_out) {
  AdmissionProblem problem;
  problem.units = {"gpu", "npu"};
  problem.processors = {{"gpu", {0}}, {"npu", {1}}};
  problem.tasks = {{"speech", Time(5), Time(5), {Time(1), Time(3)}},
                   {"detector", Time(50), Time(50), {Time(12), Time(40)}}};
  const TabledAdmission found = solve_with_table(problem, {});
  ASSERT_TRUE(found.table);
  EXPECT_EQ(found.admission.choice, (AdmissionChoice{1, 0}));
  EXPECT_NEAR(found.admission.cost, 0.84, 1e-12);  // 1.0 with the detector on the NPU
  EXPECT_TRUE(found.admission.is_optimal());
  EXPECT_GE(found.refused, 1u);
}

/// The table of the periods as given would have more than a million jobs.
TEST(Tabled, periods_are_shortened_only_where_they_must) {
  AdmissionProblem problem;
  problem.units = {"npu"};
  problem.processors = {{"npu", {0}}};
  problem.tasks = {{"a", Time(33'333'137), Time(33'333'137), {Time(5'000'000)}},
                   {"b", Time(50'001'711), Time(50'001'711), {Time(10'000'000)}}};
  const TabledAdmission given = solve_with_table(problem, {}, {TablePeriods::as_given, {}});
  EXPECT_FALSE(given.table);
  EXPECT_NE(given.too_long, "");
  EXPECT_EQ(given.admission.answer, Answer::fits);  // by utilisation
  const TabledAdmission found = solve_with_table(problem, {});
  ASSERT_TRUE(found.table);
  EXPECT_TRUE(found.is_harmonised);
  EXPECT_EQ(found.tasks[0].period, Time(25'000'855));
  EXPECT_EQ(found.tasks[1].period, Time(50'001'710));
  EXPECT_NEAR(found.admission.cost, 0.4, 1e-4);
  EXPECT_NEAR(found.added_utilisation, 0.05, 1e-4);
  problem.tasks[0].period = problem.tasks[0].deadline = Time(25'000'000);
  problem.tasks[1].period = problem.tasks[1].deadline = Time(50'000'000);
  EXPECT_FALSE(solve_with_table(problem, {}).is_harmonised);
}

TEST(Tabled, what_runs_keeps_its_entries_beside_new_tasks) {
  AdmissionProblem problem;
  problem.units = {"npu", "gpu"};
  problem.processors = {{"npu", {0}}, {"gpu", {1}}};
  AdmissionTask runs{"runs", Time(10), Time(10), {Time(4), std::nullopt}};
  const AdmissionProblem before{problem.units, problem.processors, {}, {runs}};
  realtime::KeptTable kept{table_tasks(before, {0}), {}};
  kept.table = {Time(10), Time(0), {{0, 0, Time(3), Time(7)}}};
  problem.tasks = {{"new", Time(20), Time(20), {Time(5), Time(15)}}, runs};
  TableRules rules{TablePeriods::as_given, kept};
  const TabledAdmission found = solve_with_table(problem, {}, rules);
  ASSERT_TRUE(found.table);
  EXPECT_EQ(found.admission.choice, (AdmissionChoice{0, 0}));
  EXPECT_EQ(found.table->entries,
            (std::vector<realtime::TableEntry>{
                {1, 0, Time(3), Time(7)}, {0, 0, Time(7), Time(12)}, {1, 1, Time(13), Time(17)}}));
  problem.tasks[0].times[0] = Time(7);  // longer than what lies between two entries
  EXPECT_EQ(solve_with_table(problem, {}, rules).admission.choice, (AdmissionChoice{1, 0}));
}

}  // namespace
}  // namespace millrace::explore
