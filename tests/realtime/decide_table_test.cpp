// Exact static tables against an enumeration of all begins, tick by tick.
#include "realtime/decide_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"

namespace millrace::realtime {
namespace {

using Answer = TableDecision::Answer;

/// At each tick any of the pieces that may begin begin, or none: nothing is left out but what failed
/// before in the same state.
class TickEnumeration {
 public:
  TickEnumeration(const std::vector<TableTask>& tasks, const KeptTable& kept)
      : tasks_(tasks), kept_(kept) {
    std::vector<TableTask> all = tasks;
    all.insert(all.end(), kept.tasks.begin(), kept.tasks.end());
    cycle_ = hyperperiod(all).count();
    for (const TableTask& task : tasks) {
      std::vector<TablePart>& parts = parts_.emplace_back();
      for (const TablePart part : {TablePart::in, TablePart::run, TablePart::out})
        if (length_of(task, part) > Time{}) parts.push_back(part);
    }
  }
  bool exists() { return from(0, std::vector<int>(2 * tasks_.size(), 0), 0); }

 private:
  /// State: by task, pieces begun, and ticks left of the last one. Tasks before `first` have chosen.
  bool from(std::int64_t now, std::vector<int> state, std::size_t first) {
    if (first == 0 && !failed_.emplace(now, state).second) return false;
    if (first == tasks_.size()) {
      for (std::size_t t = 0; t < tasks_.size(); ++t) state[2 * t + 1] -= state[2 * t + 1] > 0;
      if (!in_time(now + 1, state)) return false;
      return now + 1 == cycle_ || from(now + 1, state, 0);
    }
    if (may_begin(now, state, first)) {
      std::vector<int> begun = state;
      begun[2 * first + 1] = static_cast<int>(length(state, first));
      ++begun[2 * first];
      if (from(now, begun, first + 1)) return true;
    }
    return from(now, std::move(state), first + 1);
  }

  TablePart part(const std::vector<int>& state, std::size_t t, int back = 0) const {
    return parts_[t][static_cast<std::size_t>(state[2 * t] - back) % parts_[t].size()];
  }
  std::int64_t length(const std::vector<int>& state, std::size_t t) const {
    return length_of(tasks_[t], part(state, t)).count();
  }
  std::int64_t job(const std::vector<int>& state, std::size_t t) const {
    return state[2 * t] / static_cast<std::int64_t>(parts_[t].size());
  }
  /// Jobs that have ended.
  std::int64_t ended(const std::vector<int>& state, std::size_t t) const {
    const int complete = state[2 * t] - (state[2 * t + 1] > 0 ? 1 : 0);
    return complete / static_cast<std::int64_t>(parts_[t].size());
  }

  bool may_begin(std::int64_t now, const std::vector<int>& state, std::size_t t) const {
    const std::int64_t number = job(state, t);
    if (state[2 * t + 1] > 0 || now < number * tasks_[t].period.count()) return false;
    if (number * tasks_[t].period.count() >= cycle_) return false;
    for (const std::size_t before : tasks_[t].after)
      if (ended(state, before) <= number * tasks_[t].period.count() / tasks_[before].period.count())
        return false;
    for (const std::size_t unit : units_of(tasks_[t], part(state, t)))
      if (is_busy(now, now + length(state, t), state, unit)) return false;
    return true;
  }
  bool is_busy(std::int64_t now, std::int64_t until, const std::vector<int>& state,
               std::size_t unit) const {
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (state[2 * t + 1] == 0) continue;
      const auto units = units_of(tasks_[t], part(state, t, 1));
      if (std::ranges::count(units, unit) > 0) return true;
    }
    for (const TableEntry& entry : kept_.table.entries)
      for (const std::size_t used : units_of(kept_.tasks[entry.task], entry.part))
        for (std::int64_t at = 0; used == unit && at < cycle_; at += kept_.table.cycle.count())
          if (at + entry.begin.count() < until && now < at + entry.end.count()) return true;
    return false;
  }
  bool in_time(std::int64_t now, const std::vector<int>& state) const {
    for (std::size_t t = 0; t < tasks_.size(); ++t)
      for (std::int64_t j = ended(state, t); j * tasks_[t].period.count() < cycle_; ++j)
        if (deadline_of_job(tasks_, t, j).count() <= now) return false;
    return true;
  }

  const std::vector<TableTask>& tasks_;
  const KeptTable& kept_;
  std::int64_t cycle_ = 0;
  std::vector<std::vector<TablePart>> parts_;
  std::set<std::pair<std::int64_t, std::vector<int>>> failed_;
};

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
    if (random.below(3) == 0)
      task.transfers = {Time(random.below(2)), Time(random.below(2)), 2};
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
  const std::vector<TableTask> tasks{task(4, 0, {}), task(6, 1, {}), task(6, 2, {1}), task(4, 0, {})};
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
  EXPECT_EQ(replay(early, tasks).reason(), "job 0 of 'rnn3' begins before job 0 of 'rnn1' has ended");
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
