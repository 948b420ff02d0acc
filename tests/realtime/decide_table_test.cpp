// Exact static tables against an enumeration of all begins, tick by tick.
#include "realtime/decide_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/tick_enumeration.h"

namespace millrace::realtime {
namespace {

using Answer = TableDecision::Answer;
using test::TickEnumeration;

/// One to four tasks with periods up to 12 ticks, on up to two units and a link.
std::vector<TableTask> random_ticks(Random& random, std::size_t most) {
  constexpr std::array<std::int64_t, 4> periods{4, 6, 8, 12};
  std::vector<TableTask> tasks;
  const std::size_t count = 1 + random.below(most);
  for (std::size_t t = 0; t < count; ++t) {
    TableTask task;
    task.name = "t" + std::to_string(t);
    task.period = Time(periods[random.below(4)]);
    task.worst = Time(1 + static_cast<std::int64_t>(random.below(4)));
    const std::size_t where = random.below(4);
    task.units = where == 3 ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{where % 2};
    if (random.below(3) == 0) task.transfers = {Time(random.below(2)), Time(random.below(2)), 2};
    if (task.period < length_of(task)) task.period = Time(8);
    const Time shorter = task.period - Time(static_cast<std::int64_t>(random.below(4)));
    task.deadline = std::max(length_of(task), shorter);
    if (t > 0 && random.below(3) == 0) task.after = {random.below(t)};
    if (!task.after.empty() && random.below(2) == 0)
      task.end_to_end = Time(2 + static_cast<std::int64_t>(random.below(12)));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

int table_sets() {
  const char* value = std::getenv("MILLRACE_TABLE_SETS");
  return value ? std::atoi(value) : 2000;
}

TEST(DecideTable, agrees_with_an_enumeration_of_all_begins) {
  Random random(5);
  int existing = 0, found_by_orders = 0, full = 0;
  for (int i = 0; i < table_sets(); ++i) {
    const std::vector<TableTask> tasks = random_ticks(random, 4);
    const bool exists = TickEnumeration(tasks, {}).exists();
    const TableDecision decision = decide_table(tasks);
    ASSERT_EQ(decision.answer, exists ? Answer::exists : Answer::none) << "set " << i;
    found_by_orders += make_table(tasks).has_value();
    if (!exists) continue;
    ++existing;
    const Verdict verdict = replay(decision.table, tasks);
    ASSERT_TRUE(verdict) << "set " << i << ": " << verdict.reason();
    full += std::ranges::max(table_loads(decision.table, tasks)) == 1;
  }
  EXPECT_GT(existing, table_sets() / 4);
  EXPECT_LT(existing, table_sets() * 9 / 10);
  EXPECT_GT(full, table_sets() / 200);
  EXPECT_LE(found_by_orders, existing);
}

TEST(DecideTable, what_runs_keeps_its_entries) {
  Random random(6);
  int existing = 0, tried = 0;
  while (tried < table_sets() / 4) {
    KeptTable kept{random_ticks(random, 2), {}};
    const TableDecision first = decide_table(kept.tasks);
    if (first.answer != Answer::exists) continue;
    kept.table = first.table;
    ++tried;
    const std::vector<TableTask> tasks = random_ticks(random, 3);
    const bool exists = TickEnumeration(tasks, kept).exists();
    const TableDecision decision = decide_table(tasks, kept);
    ASSERT_EQ(decision.answer, exists ? Answer::exists : Answer::none) << "set " << tried;
    if (!exists) continue;
    ++existing;
    std::vector<std::size_t> numbers(tasks.size());
    for (std::size_t t = 0; t < tasks.size(); ++t) numbers[t] = t;
    const StaticTable all = joined_table(tasks, {{numbers, decision.table}}, kept);
    std::vector<TableTask> both = tasks;
    for (TableTask task : kept.tasks) {
      for (std::size_t& before : task.after) before += tasks.size();
      both.push_back(task);
    }
    const Verdict verdict = replay(all, both);
    ASSERT_TRUE(verdict) << "set " << tried << ": " << verdict.reason();
    for (const TableEntry& entry : kept.table.entries)
      EXPECT_TRUE(std::ranges::any_of(all.entries, [&](const TableEntry& each) {
        return each.task == tasks.size() + entry.task && each.job == entry.job &&
               each.part == entry.part && each.begin == entry.begin && each.end == entry.end;
      }));
  }
  EXPECT_GT(existing, tried / 10);
}

TEST(DecideTable, parts_that_share_nothing_are_decided_apart) {
  const auto task = [](std::int64_t period, std::size_t unit, std::vector<std::size_t> after) {
    return TableTask{"t", Time(period), Time(period), Time(1), {unit}, false, {}, std::move(after)};
  };
  const std::vector<TableTask> tasks{task(4, 0, {}), task(6, 1, {}), task(6, 2, {1}),
                                     task(4, 0, {})};
  EXPECT_EQ(independent_parts(tasks), (std::vector<std::vector<std::size_t>>{{0, 3}, {1, 2}}));
}

/// The paper's third RNN reads what the first two compute: 4 and 3, then 2, on two units.
TEST(DecideTable, a_third_task_reads_the_first_two) {
  std::vector<TableTask> tasks{{"rnn1", Time(10), Time(10), Time(4), {0}},
                               {"rnn2", Time(10), Time(10), Time(3), {1}},
                               {"rnn3", Time(10), Time(6), Time(2), {1}}};
  tasks[2].after = {0, 1};
  const TableDecision decision = decide_table(tasks);
  ASSERT_EQ(decision.answer, Answer::exists);
  ASSERT_EQ(decision.table.entries.back(), (TableEntry{2, 0, Time(4), Time(6)}));
  StaticTable early = decision.table;
  early.entries.back() = {2, 0, Time(3), Time(5)};
  EXPECT_EQ(replay(early, tasks).reason(),
            "job 0 of 'rnn3' begins before job 0 of 'rnn1' has ended");
  tasks[2].end_to_end = Time(5);
  EXPECT_EQ(decide_table(tasks).answer, Answer::none);
  EXPECT_EQ(replay(decision.table, tasks).reason(), "job 0 of 'rnn3' misses its deadline");
}

/// A reader twice as often reads the same result twice; one half as often, each second one.
TEST(DecideTable, periods_of_a_chain_may_differ) {
  const TableTask slow{"slow", Time(20), Time(20), Time(1), {0}};
  const TableTask fast{"fast", Time(10), Time(10), Time(1), {1}};
  EXPECT_EQ(job_read(fast, 3, slow), 1);
  EXPECT_EQ(job_read(slow, 3, fast), 6);
  std::vector<TableTask> tasks{slow, fast};
  tasks[1].after = {0};
  tasks[1].end_to_end = Time(12);  // its second job reads what was activated 10 before it
  EXPECT_EQ(deadline_of_job(tasks, 1, 0), Time(10));
  EXPECT_EQ(deadline_of_job(tasks, 1, 1), Time(12));
}

}  // namespace
}  // namespace millrace::realtime
