// Static tables: textbook frames, random sets, and what replay() refuses.
#include "realtime/static_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "generate.h"

namespace millrace::realtime {
namespace {

TableTask on_unit(const char* name, std::int64_t period, std::int64_t worst, std::size_t unit = 0) {
  return {name, Time(period), Time(period), Time(worst), {unit}};
}

/// J. Liu, Real-Time Systems, 5.2: (4, 1), (5, 1.8), (20, 1), (20, 2), in tenths.
std::vector<TableTask> of_the_textbook() {
  return {on_unit("a", 40, 10), on_unit("b", 50, 18), on_unit("c", 200, 10), on_unit("d", 200, 20)};
}

TEST(StaticTable, frames_of_the_textbook) {
  EXPECT_EQ(hyperperiod(of_the_textbook()), Time(200));
  EXPECT_EQ(frames(of_the_textbook()), std::vector<Time>{Time(20)});
  const auto table = make_table(of_the_textbook());
  ASSERT_TRUE(table);
  EXPECT_EQ(table->frame, Time(20));
  EXPECT_TRUE(replay(*table, of_the_textbook()));
  EXPECT_NEAR(table_loads(*table, of_the_textbook())[0], 0.76, 1e-9);
}

TEST(StaticTable, two_units_at_once_and_one_of_them) {
  std::vector<TableTask> tasks{{"both", Time(100), Time(100), Time(40), {0, 1}},
                               on_unit("left", 100, 60, 0),
                               on_unit("right", 50, 30, 1)};
  EXPECT_FALSE(make_table(tasks));  // `both` lies between the jobs of `right`
  tasks[1].preemptive = true;
  const auto table = make_table(tasks);
  ASSERT_TRUE(table);
  EXPECT_TRUE(replay(*table, tasks)) << replay(*table, tasks).reason();
  EXPECT_EQ(table_loads(*table, tasks), (std::vector<double>{1, 1}));
}

TEST(StaticTable, cuts_only_what_may_be_cut) {
  std::vector<TableTask> tasks{on_unit("short", 10, 5), on_unit("long", 40, 20)};
  EXPECT_FALSE(make_table(tasks));  // never 20 in one piece
  tasks[1].preemptive = true;
  const auto table = make_table(tasks);
  ASSERT_TRUE(table);
  EXPECT_TRUE(replay(*table, tasks)) << replay(*table, tasks).reason();
}

/// Over unit 1, a link.
TableTask with_transfers(TableTask task, std::int64_t in, std::int64_t out) {
  task.transfers = {Time(in), Time(out), 1};
  return task;
}

TEST(StaticTable, transfers_lie_before_and_after_a_job_and_beside_the_next_one) {
  const std::vector<TableTask> tasks{with_transfers(on_unit("a", 100, 40), 10, 5),
                                     with_transfers(on_unit("b", 100, 40), 10, 5)};
  const auto table = make_table(tasks);
  ASSERT_TRUE(table);
  EXPECT_TRUE(replay(*table, tasks)) << replay(*table, tasks).reason();
  ASSERT_EQ(table->entries.size(), 6u);  // 110 of all parts within 100
  EXPECT_EQ(table_loads(*table, tasks), (std::vector<double>{0.8, 0.3}));
  std::vector<TableTask> late = tasks;
  for (TableTask& task : late) task.deadline = Time(94);  // the second ends at 95
  EXPECT_FALSE(make_table(late));
  late[0].deadline = Time(54);
  EXPECT_THROW(check(late), InputError);
  late[0] = on_unit("a", 100, 40, 1);
  late[0].transfers = {Time(1), Time(0), 1};
  EXPECT_THROW(check(late), InputError);
}

TEST(StaticTable, replay_finds_transfers_that_are_wrong) {
  const std::vector<TableTask> tasks{with_transfers(on_unit("a", 100, 40), 10, 5)};
  const StaticTable right = *make_table(tasks);
  const auto reason = [&](auto change) {
    StaticTable table = right;
    change(table);
    return replay(table, tasks).reason();
  };
  ASSERT_EQ(right.entries.size(), 3u);
  EXPECT_EQ(reason([](StaticTable& t) { t.entries.erase(t.entries.begin()); }),
            "job 0 of 'a' begins 'run' before 'in' has ended");
  EXPECT_EQ(reason([](StaticTable& t) {
              t.entries[1].begin -= Time(1);
              t.entries[1].end -= Time(1);
            }),
            "job 0 of 'a' begins 'run' before 'in' has ended");
  EXPECT_EQ(reason([](StaticTable& t) { t.entries.pop_back(); }),
            "job 0 of 'a' gets 0 ns, not 5.00 ns");
  EXPECT_EQ(reason([](StaticTable& t) { t.entries[2].end += Time(1); }),
            "job 0 of 'a' gets 6.00 ns, not 5.00 ns");
  const std::vector<TableTask> two{tasks[0], with_transfers(on_unit("b", 100, 40, 2), 10, 5)};
  StaticTable overlap = *make_table(two);
  for (TableEntry& entry : overlap.entries)
    if (entry.part == TablePart::in) entry.end -= std::exchange(entry.begin, {});
  std::ranges::stable_sort(overlap.entries, {}, &TableEntry::begin);
  EXPECT_NE(replay(overlap, two).reason().find("' overlaps another"), std::string::npos);
}

struct RandomSet {
  std::vector<TableTask> tasks;
  std::size_t units = 1;
};

RandomSet random_set(Random& random) {
  RandomSet set;
  set.units = 1 + random.below(3);
  for (std::size_t unit = 0; unit < set.units; ++unit) {
    const std::vector<double> shares =
        rand_fixed_sum(1 + random.below(5), 0.2 + 0.6 * random.unit(), random);
    for (double share : shares) {
      const Time period(1000LL << random.below(4));
      const Time worst(std::max<std::int64_t>(
          1, static_cast<std::int64_t>(share * static_cast<double>(period.count()))));
      TableTask task{"t" + std::to_string(set.tasks.size()), period, period, worst, {unit}};
      if (random.below(4) == 0) task.deadline = std::max(worst, period / 2);
      if (random.below(3) == 0) task.preemptive = true;
      set.tasks.push_back(std::move(task));
    }
  }
  if (random.below(2) == 0)  // a link for some of them
    for (TableTask& task : set.tasks) {
      const Time room = task.deadline - task.worst;
      if (random.below(2) == 0 && room > Time{10})
        task.transfers = {room / 20, room / static_cast<std::int64_t>(20 + random.below(20)),
                          set.units};
    }
  if (set.units > 1 && random.below(2) == 0)
    set.tasks.push_back({"both", Time(8000), Time(8000), Time(400), {0, 1}});
  return set;
}

double utilisation_of_unit(const std::vector<TableTask>& tasks, std::size_t unit) {
  double sum = 0;
  for (const TableTask& task : tasks)
    for (const TablePart part : {TablePart::in, TablePart::run, TablePart::out})
      if (const auto units = units_of(task, part); std::ranges::count(units, unit) > 0)
        sum += static_cast<double>(length_of(task, part).count()) /
               static_cast<double>(task.period.count());
  return sum;
}

TEST(StaticTable, every_table_of_random_sets_passes_the_replay) {
  Random random(11);
  int made = 0, with_frames = 0, with_transfers = 0;
  for (int i = 0; i < 1000; ++i) {
    const RandomSet set = random_set(random);
    const auto table = make_table(set.tasks);
    if (!table) continue;
    ++made;
    with_frames += table->frame > Time{};
    with_transfers += std::ranges::any_of(
        table->entries, [](const TableEntry& entry) { return entry.part != TablePart::run; });
    const Verdict verdict = replay(*table, set.tasks);
    ASSERT_TRUE(verdict) << "set " << i << ": " << verdict.reason();
    const std::vector<double> loads = table_loads(*table, set.tasks);
    for (std::size_t u = 0; u < loads.size(); ++u)
      EXPECT_NEAR(loads[u], utilisation_of_unit(set.tasks, u), 1e-9);
  }
  RecordProperty("tables", made);
  RecordProperty("with_frames", with_frames);
  EXPECT_GT(made, 700);
  EXPECT_GT(with_frames, 50);
  EXPECT_GT(with_transfers, 100);
}

TEST(StaticTable, replay_finds_what_is_wrong) {
  const std::vector<TableTask> tasks = of_the_textbook();
  const StaticTable right = *make_table(tasks);
  const auto reason = [&](auto change) {
    StaticTable table = right;
    change(table);
    return replay(table, tasks).reason();
  };
  EXPECT_NE(reason([](StaticTable& t) { t.entries.pop_back(); }).find("gets 0 ns"),
            std::string::npos);
  EXPECT_NE(reason([](StaticTable& t) { t.entries[1].begin = t.entries[0].begin; }), "");
  EXPECT_NE(reason([](StaticTable& t) { t.entries[0].job = 99; }), "");
  EXPECT_NE(reason([](StaticTable& t) { t.entries.back().end += Time(1); }), "");
  EXPECT_NE(reason([](StaticTable& t) { t.frame = Time(7); }), "");
}

TEST(StaticTable, harmonising_shortens_the_hyperperiod) {
  const std::vector<TableTask> tasks{on_unit("a", 33'333'333, 2'000'000),
                                     on_unit("b", 66'666'667, 5'000'000),
                                     on_unit("c", 100'000'001, 9'000'000)};
  EXPECT_THROW(hyperperiod(tasks), InputError);
  const Harmonised result = harmonised(tasks);
  EXPECT_EQ(hyperperiod(result.tasks), result.tasks[2].period);
  double added = 0;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    EXPECT_LE(result.tasks[t].period, tasks[t].period);
    added += static_cast<double>(tasks[t].worst.count()) *
             (1 / static_cast<double>(result.tasks[t].period.count()) -
              1 / static_cast<double>(tasks[t].period.count()));
  }
  EXPECT_NEAR(result.added_utilisation, added, 1e-12);
  EXPECT_LT(result.added_utilisation, 0.1);
  EXPECT_TRUE(make_table(result.tasks));
}

std::string refusal(const std::vector<TableTask>& tasks) {
  try {
    make_table(tasks);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(StaticTable, refuses_what_makes_no_sense) {
  EXPECT_EQ(refusal({on_unit("a", 0, 1)}),
            "task 'a': its period and its worst time must be above 0");
  EXPECT_EQ(refusal({{"a", Time(10), Time(11), Time(1), {0}}}),
            "task 'a': its deadline of 11.0 ns is longer than its period of 10.0 ns");
  EXPECT_EQ(refusal({{"a", Time(10), Time(10), Time(1), {}}}),
            "task 'a': it has no unit to run on");
  EXPECT_EQ(
      refusal({on_unit("a", 3, 1), on_unit("b", 9'000'001, 1)}),
      "task 'a': the table of 27.0 ms would have more than 1000000 jobs; harmonise the periods");
}

}  // namespace
}  // namespace millrace::realtime
