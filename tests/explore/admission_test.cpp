// The 0/1 program against enumeration, and what it says where nothing fits.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "explore/admission/heuristics.h"
#include "explore/admission/misfit.h"
#include "explore/admission/program.h"

namespace millrace::explore {
namespace {

/// Two NPUs, alone or together, a GPU and two clusters of cores.
AdmissionProblem board_of_npus() {
  AdmissionProblem problem;
  problem.units = {"npu0", "npu1", "gpu", "cluster0", "cluster1"};
  problem.processors = {{"npu0", {0}},     {"npu1", {1}},     {"npus", {0, 1}},    {"gpu", {2}},
                        {"cluster0", {3}}, {"cluster1", {4}}, {"clusters", {3, 4}}};
  return problem;
}

/// Adds the link of the NPUs, which have a memory of their own then.
void add_link(AdmissionProblem& problem) {
  problem.units.push_back("link");
  for (std::size_t p = 0; p < 3; ++p) problem.processors[p].link = problem.units.size() - 1;
}

AdmissionProblem random_admission(Random& random) {
  AdmissionProblem problem = board_of_npus();
  if (random.below(4) == 0) problem.exclusive = {{0, 2}, {1, 2}};
  const bool has_link = random.below(2) == 0;
  if (has_link) add_link(problem);
  const std::size_t tasks = 1 + random.below(6);
  for (std::size_t t = 0; t < tasks; ++t) {
    AdmissionTask task;
    task.name = "t" + std::to_string(t);
    task.period = Time(100 + static_cast<std::int64_t>(random.below(10)) * 100);
    task.deadline = random.below(3) == 0 ? task.period / 2 : task.period;
    const auto base = static_cast<std::int64_t>(20 + random.below(600));
    for (std::size_t p = 0; p < problem.processors.size(); ++p) {
      const bool has_variant = p == 3 || random.below(4) > 0;
      const auto time = static_cast<std::int64_t>(10 + random.below(50) + random.below(2) * base);
      task.times.push_back(has_variant ? std::optional<Time>(time) : std::nullopt);
      task.energy.push_back(static_cast<double>(random.below(100)));
      const auto transfer = static_cast<std::int64_t>(has_link && p < 3 ? random.below(80) : 0);
      task.transfers.push_back({Time(transfer), Time(transfer / 2)});
    }
    problem.tasks.push_back(std::move(task));
  }
  return problem;
}

/// The least cost of all choices that fit.
std::optional<double> enumerated(const AdmissionProblem& problem, const AdmissionOptions& options) {
  AdmissionChoice choice(problem.tasks.size(), 0);
  std::optional<double> best;
  for (;;) {
    if (fits(problem, choice)) {
      const double cost = cost_of(problem, options, choice);
      if (!best || cost < *best) best = cost;
    }
    std::size_t t = 0;
    while (t < choice.size() && ++choice[t] == problem.processors.size()) choice[t++] = 0;
    if (t == choice.size()) return best;
  }
}

int sets_to_try() {
  const char* value = std::getenv("MILLRACE_ADMISSION_SETS");
  return value ? std::atoi(value) : 300;
}

TEST(Admission, program_agrees_with_enumeration) {
  Random random(7);
  int fitting = 0;
  for (int i = 0; i < sets_to_try(); ++i) {
    const AdmissionProblem problem = random_admission(random);
    AdmissionOptions options;
    options.goal =
        std::array{AdmissionGoal::total_utilisation, AdmissionGoal::weighted, AdmissionGoal::energy,
                   AdmissionGoal::largest_load, AdmissionGoal::any}[random.below(5)];
    for (std::size_t t = 0; t < problem.tasks.size(); ++t)
      options.weights.push_back(1 + static_cast<double>(t));
    const std::optional<double> expected = enumerated(problem, options);
    const Admission found = solve_program(problem, options);
    ASSERT_EQ(found.answer == Admission::Answer::fits, expected.has_value()) << "set " << i;
    if (!expected) {
      EXPECT_EQ(found.answer, Admission::Answer::does_not_fit);
      continue;
    }
    ++fitting;
    EXPECT_TRUE(fits(problem, found.choice)) << "set " << i;
    EXPECT_NEAR(found.cost, *expected, 1e-7 * std::max(1.0, *expected)) << "set " << i;
    EXPECT_LE(found.bound, *expected + 1e-7 * std::max(1.0, *expected)) << "set " << i;
    EXPECT_LE(found.relaxed, *expected + 1e-7 * std::max(1.0, *expected));
    EXPECT_TRUE(found.is_optimal()) << "set " << i;
  }
  EXPECT_GT(fitting, sets_to_try() / 4);
  EXPECT_LT(fitting, sets_to_try());
}

TEST(Admission, heuristics_never_give_what_does_not_fit) {
  Random random(8);
  int first_fits = 0, program_fits = 0;
  for (int i = 0; i < 60; ++i) {
    const AdmissionProblem problem = random_admission(random);
    const AdmissionOptions options;
    const Admission program = solve_program(problem, options);
    program_fits += program.answer == Admission::Answer::fits;
    if (const auto choice = first_fit_decreasing(problem)) {
      ++first_fits;
      EXPECT_TRUE(fits(problem, *choice));
      EXPECT_GE(cost_of(problem, options, *choice), program.cost - 1e-9);
    }
  }
  EXPECT_GE(first_fits, program_fits * 9 / 10);
  EXPECT_LE(first_fits, program_fits);
}

TEST(Admission, misfit_is_irreducible) {
  Random random(9);
  const int wanted = std::max(50, sets_to_try() / 5);
  int found = 0, with_remedies = 0;
  while (found < wanted) {
    const AdmissionProblem problem = random_admission(random);
    const std::optional<Misfit> misfit = misfit_of(problem);
    EXPECT_EQ(misfit.has_value(), !enumerated(problem, {}).has_value());
    if (!misfit) continue;
    ++found;
    EXPECT_TRUE(misfit->is_proven);
    EXPECT_FALSE(enumerated(only_tasks(problem, misfit->tasks), {}));
    for (std::size_t left_out : misfit->tasks) {
      std::vector<std::size_t> rest = misfit->tasks;
      std::erase(rest, left_out);
      EXPECT_TRUE(enumerated(only_tasks(problem, rest), {}));
    }
    with_remedies += !misfit->remedies.empty();
  }
  EXPECT_GT(with_remedies, wanted / 2);
}

TEST(Admission, remedies_help) {
  AdmissionProblem problem = board_of_npus();
  using std::nullopt;
  const std::optional<Time> time(60'000'000);
  for (const char* name : {"a", "b", "c"})
    problem.tasks.push_back({name,
                             Time(100'000'000),
                             Time(100'000'000),
                             {time, time, nullopt, nullopt, nullopt, nullopt, nullopt}});
  const std::optional<Misfit> misfit = misfit_of(problem);
  ASSERT_TRUE(misfit);
  EXPECT_EQ(misfit->tasks, (std::vector<std::size_t>{0, 1, 2}));
  const std::string text = remedies_text(problem, misfit->remedies);
  EXPECT_NE(text.find("one more 'npu0'"), std::string::npos) << text;
  // 60 + 40 of 100 fit: every 150, or 1.5 times faster.
  EXPECT_NE(text.find("'a' every 150 ms or more, not 100 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("'a' 1.5"), std::string::npos) << text;
}

/// Tasks that need more than half of a unit each: by their sum they fit, and only a search through
/// all orders shows that one is too many.
TEST(Admission, ends_when_its_time_on_the_wall_is_over) {
  AdmissionProblem problem;
  for (int unit = 0; unit < 16; ++unit) {
    problem.units.push_back("npu" + std::to_string(unit));
    problem.processors.push_back({problem.units.back(), {problem.units.size() - 1}});
  }
  for (int task = 0; task < 17; ++task)
    problem.tasks.push_back({"t" + std::to_string(task), Time(1000), Time(1000),
                             std::vector<std::optional<Time>>(16, Time(501 + task))});
  const auto begin = std::chrono::steady_clock::now();
  const Admission found = solve_program(problem, {.seconds = 0.5});
  EXPECT_EQ(found.answer, Admission::Answer::unknown);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

/// Whether some choice fits, in whole numbers of the least common multiple of the periods.
bool some_choice_fits(const AdmissionProblem& problem) {
  std::int64_t cycle = 1;
  for (const AdmissionTask& task : problem.tasks) cycle = std::lcm(cycle, task.period.count());
  std::size_t choices = 1;
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) choices *= problem.units.size();
  for (std::size_t number = 0; number < choices; ++number) {
    std::vector<std::int64_t> busy(problem.units.size(), 0);
    std::size_t rest = number;
    bool exists = true;
    for (const AdmissionTask& task : problem.tasks) {
      const std::size_t unit = rest % problem.units.size();
      rest /= problem.units.size();
      exists = exists && task.times[unit];
      if (exists) busy[unit] += task.times[unit]->count() * (cycle / task.period.count());
    }
    if (exists && std::ranges::all_of(busy, [&](std::int64_t each) { return each <= cycle; }))
      return true;
  }
  return false;
}

/// Twelfths of units that together are all of two or three units, and sometimes a nanosecond more.
AdmissionProblem full_units(Random& random) {
  AdmissionProblem problem;
  const std::size_t units = 2 + random.below(2);
  for (std::size_t unit = 0; unit < units; ++unit) {
    problem.units.push_back("npu" + std::to_string(unit));
    problem.processors.push_back({problem.units.back(), {unit}});
  }
  for (std::size_t unit = 0; unit < units; ++unit)
    for (std::int64_t left = 12; left > 0;) {
      const bool last = problem.tasks.size() + units - unit >= 7;
      const std::int64_t twelfths =
          last ? left : 1 + static_cast<std::int64_t>(random.below(static_cast<std::size_t>(left)));
      left -= twelfths;
      const Time period(12 * std::array{500, 751, 1000, 1389}[random.below(4)]);
      AdmissionTask task{"t" + std::to_string(problem.tasks.size()), period, period, {}};
      for (std::size_t u = 0; u < units; ++u)
        task.times.push_back(u == unit || random.below(2) == 0
                                 ? std::optional<Time>(period / 12 * twelfths)
                                 : std::nullopt);
      problem.tasks.push_back(std::move(task));
    }
  if (random.below(3) == 0)
    for (std::optional<Time>& time : problem.tasks[random.below(problem.tasks.size())].times)
      if (time) *time += Time(1);
  return problem;
}

TEST(Admission, units_may_be_full_to_the_nanosecond) {
  Random random(10);
  const int sets = 10 * sets_to_try();
  int fitting = 0;
  for (int i = 0; i < sets; ++i) {
    const AdmissionProblem problem = full_units(random);
    const bool expected = some_choice_fits(problem);
    fitting += expected;
    const AdmissionGoal goal = std::array{AdmissionGoal::any, AdmissionGoal::total_utilisation,
                                          AdmissionGoal::largest_load}[random.below(3)];
    ASSERT_EQ(solve_program(problem, {.goal = goal}).answer,
              expected ? Admission::Answer::fits : Admission::Answer::does_not_fit)
        << "set " << i;
  }
  EXPECT_GT(fitting, sets / 2);
  EXPECT_LT(fitting, sets);
}

/// The common denominator of these has more than 200 bits.
TEST(Admission, shares_of_any_periods_add_up_exactly) {
  std::vector<Share> shares;
  for (const std::int64_t prime : {1'099'511'627'689, 1'099'511'627'609, 1'099'511'627'581,
                                   1'099'511'627'573, 1'099'511'627'563}) {
    const std::int64_t some = prime / 3;
    shares.push_back({Time(some), Time(5 * prime)});
    shares.push_back({Time(prime - some), Time(5 * prime)});
  }
  EXPECT_TRUE(at_most_one(shares));
  shares[3].busy += Time(1);
  EXPECT_FALSE(at_most_one(shares));
  shares[3].busy -= Time(1);
  shares[3].period += Time(1);
  EXPECT_TRUE(at_most_one(shares));
}

TEST(Admission, transfers_count_for_the_deadline_and_for_the_link) {
  AdmissionProblem problem = board_of_npus();
  add_link(problem);
  AdmissionTask task{"a", Time(100), Time(100), {Time(50), Time(50)}};
  task.times.resize(problem.processors.size());
  task.transfers.resize(task.times.size());
  task.transfers[0] = task.transfers[1] = {Time(40), Time(11)};
  problem.tasks = {task};
  EXPECT_EQ(solve_program(problem, {}).answer, Admission::Answer::does_not_fit);  // 101 of 100
  problem.tasks[0].transfers[0] = problem.tasks[0].transfers[1] = {Time(40), Time(10)};
  const Admission one = solve_program(problem, {});
  ASSERT_EQ(one.answer, Admission::Answer::fits);
  EXPECT_DOUBLE_EQ(loads_of(problem, one.choice).back(), 0.5);
  problem.tasks.push_back(problem.tasks[0]);  // each on an NPU, and the link is full
  EXPECT_EQ(solve_program(problem, {}).answer, Admission::Answer::fits);
  EXPECT_TRUE(first_fit_decreasing(problem));
  problem.tasks[1].transfers[0].out += Time(1);
  problem.tasks[1].transfers[1].out += Time(1);
  problem.tasks[1].times[0] = problem.tasks[1].times[1] = Time(40);
  EXPECT_EQ(solve_program(problem, {}).answer, Admission::Answer::does_not_fit);
  EXPECT_FALSE(first_fit_decreasing(problem));
}

TEST(Admission, a_group_that_weighs_more_gets_the_better_place) {
  AdmissionProblem problem;
  problem.units = {"fast", "slow"};
  problem.processors = {{"fast", {0}}, {"slow", {1}}};
  for (const char* name : {"a", "b"})
    problem.tasks.push_back({name, Time(10), Time(10), {Time(6), Time(9)}});
  AdmissionOptions options{.goal = AdmissionGoal::weighted, .weights = {1, 2}};
  const Admission second = solve_program(problem, options);
  EXPECT_EQ(second.choice, (AdmissionChoice{1, 0}));
  EXPECT_NEAR(second.cost, 0.9 + 2 * 0.6, 1e-9);
  options.weights = {2, 1};
  EXPECT_EQ(solve_program(problem, options).choice, (AdmissionChoice{0, 1}));
}

TEST(Admission, combined_processors_take_time_of_all_their_units) {
  AdmissionProblem problem = board_of_npus();
  using std::nullopt;
  problem.tasks.push_back({"big",
                           Time(100),
                           Time(100),
                           {nullopt, nullopt, Time(70), nullopt, nullopt, nullopt, nullopt}});
  problem.tasks.push_back({"small",
                           Time(100),
                           Time(100),
                           {Time(40), Time(40), nullopt, nullopt, nullopt, nullopt, nullopt}});
  EXPECT_EQ(solve_program(problem).answer, Admission::Answer::does_not_fit);
  problem.tasks[1].times[0] = Time(30);
  const Admission admitted = solve_program(problem);
  ASSERT_EQ(admitted.answer, Admission::Answer::fits);
  EXPECT_EQ(admitted.choice, (AdmissionChoice{2, 0}));
  EXPECT_TRUE(admitted.is_optimal());
}

TEST(Admission, refuses_what_makes_no_sense) {
  AdmissionProblem problem = board_of_npus();
  problem.tasks.push_back({"t", Time(0), Time(1), std::vector<std::optional<Time>>(7, Time(1))});
  const auto text_of = [&] {
    try {
      check(problem);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(text_of(),
            "task 't': its period is not above 0; give the time between two activations");
  problem.tasks[0].period = Time(10);
  problem.tasks[0].times.assign(7, std::nullopt);
  EXPECT_EQ(text_of(),
            "task 't': it has no variant on any processor of the board; try other precisions or "
            "kinds of silicon");
  problem.tasks[0].times[0] = Time(-1);
  EXPECT_EQ(text_of(), "task 't': found a time that is not above 0; leave the variant out instead");
}

}  // namespace
}  // namespace millrace::explore
