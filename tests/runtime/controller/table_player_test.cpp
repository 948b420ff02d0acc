// Tables that are played: everything runs, in its place; overruns are seen and treated as told.
#include "runtime/controller/table_player.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "realtime/decide_table.h"
#include "runtime/waiting/event_count.h"
#include "support/room_for_threads.h"

namespace millrace::runtime {
namespace {

using std::chrono::milliseconds;

/// Works with the processor for so long, as a network would.
void work_for(Time time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

struct Playable {
  std::vector<realtime::TableTask> tasks{
      {"fast", milliseconds(20), milliseconds(20), milliseconds(6), {0}},
      {"slow", milliseconds(40), milliseconds(40), milliseconds(8), {0}},
      {"both", milliseconds(40), milliseconds(40), milliseconds(6), {0, 1}}};
  std::vector<Time> times{milliseconds(1), milliseconds(1), milliseconds(1)};
  board::Processor processor{"anywhere", board::ProcessorKind::gpu, {}};
  board::Processor no_core{"gone", board::ProcessorKind::cpu, {8000}};
  std::optional<std::size_t> gone = {};  // the task whose core is none
  std::atomic<int> on_unit_0 = 0;
  std::atomic<bool> overlapped = false;

  Played play(PlayOptions options) {
    std::vector<TableJob> jobs;
    for (std::size_t t = 0; t < tasks.size(); ++t)
      jobs.push_back({gone == t ? no_core : processor, [this, t] {
                        return TableWork([this, t] {
                          if (on_unit_0++ > 0) overlapped = true;
                          work_for(times[t]);
                          --on_unit_0;
                        });
                      }});
    const auto table = realtime::make_table(tasks);
    EXPECT_TRUE(table);
    return runtime::play(*table, tasks, jobs, options);
  }
};

TEST(TablePlayer, every_job_runs_in_its_place) {
  Playable playable;
  const Played played = playable.play({.duration = milliseconds(400)});
  EXPECT_EQ(played.tasks[0].all.jobs, 20);
  EXPECT_EQ(played.tasks[1].all.jobs, 10);
  EXPECT_EQ(played.tasks[2].all.jobs, 10);
  EXPECT_FALSE(playable.overlapped);
  EXPECT_FALSE(played.stopped);
  for (const PlayedTask& task : played.tasks) {
    EXPECT_GE(task.all.largest, milliseconds(1));
    EXPECT_EQ(task.skipped, 0);
  }
}

/// The new one begins at the start of a cycle, on a unit of its own; what runs goes on.
TEST(TablePlayer, a_longer_table_takes_the_place_of_the_one_that_is_played) {
  Playable playable;
  const std::vector<realtime::TableTask> first = playable.tasks;
  TableControl control;
  EXPECT_FALSE(control.extend({}, {}, {}));  // nothing is played
  std::atomic<int> late_jobs = 0, asked = 0;
  std::optional<TableSwitch> when;
  EventCount nobody;
  PlayOptions options{.duration = milliseconds(900)};
  options.control = &control;
  options.units = 3;
  options.meanwhile = [&] {
    nobody.sleep_before(nobody.ticket(), std::chrono::steady_clock::now() + milliseconds(20));
    if (asked++ != 4) return;
    const realtime::KeptTable kept{first, *realtime::make_table(first)};
    std::vector<realtime::TableTask> all = first;
    all.push_back({"late", milliseconds(80), milliseconds(80), milliseconds(2), {2}});
    realtime::StaticTable table = realtime::joined_table({}, {}, kept);
    table.cycle = milliseconds(80);
    for (const realtime::TableEntry& entry : kept.table.entries)
      table.entries.push_back({entry.task, entry.job + milliseconds(40) / first[entry.task].period,
                               entry.begin + milliseconds(40), entry.end + milliseconds(40)});
    table.entries.insert(table.entries.begin(), {3, 0, Time{}, milliseconds(2)});
    ASSERT_TRUE(realtime::replay(table, all)) << realtime::replay(table, all).reason();
    when = control.extend(table, all,
                          {{playable.processor, [&] { return TableWork([&] { ++late_jobs; }); }}});
  };
  const Played played = playable.play(options);
  ASSERT_TRUE(when);
  EXPECT_EQ(when->at % milliseconds(40), Time{});
  ASSERT_EQ(played.tasks.size(), 4u);
  EXPECT_EQ(played.tasks[0].all.jobs, 45);
  EXPECT_EQ(played.tasks[2].all.jobs, 23);
  const Time after = milliseconds(900) - when->at;  // none, where the machine was busy
  const std::int64_t expected = after > Time{} ? (after - Time{1}) / Time(milliseconds(80)) + 1 : 0;
  EXPECT_EQ(played.tasks[3].all.jobs, expected);
  EXPECT_EQ(late_jobs, expected);
  EXPECT_FALSE(playable.overlapped);
  EXPECT_FALSE(control.extend({}, {}, {}));  // nothing is played any more
}

/// While the host has a core nobody knows what a job would take.
TEST(TablePlayer, jobs_that_the_host_disturbed_do_not_count_for_the_worst_case) {
  Playable playable;
  playable.times[1] = milliseconds(12);  // planned: 8
  std::atomic<int> asked = 0;
  PlayOptions options{.duration = milliseconds(400)};
  options.stolen = [&](const std::vector<int>&) { return milliseconds(10) * asked++; };
  const Played all = playable.play(options);
  EXPECT_EQ(all.tasks[1].undisturbed.jobs, 0);
  EXPECT_GT(all.tasks[1].overruns, 0);
  EXPECT_EQ(all.tasks[1].disturbed_overruns, all.tasks[1].overruns);
  EXPECT_GE(all.tasks[1].worst_case(), milliseconds(12));  // nothing better is known
  EXPECT_GT(all.stolen, Time{});
  options.stolen = [](const std::vector<int>&) { return Time{}; };
  const Played none = playable.play(options);
  EXPECT_EQ(none.tasks[1].undisturbed.jobs, none.tasks[1].all.jobs);
  EXPECT_EQ(none.tasks[1].disturbed_overruns, 0);
}

TEST(TablePlayer, overruns_are_counted_and_other_jobs_follow) {
  Playable playable;
  playable.times[0] = milliseconds(15);
  const Played played = playable.play({.duration = milliseconds(200)});
  EXPECT_GE(played.tasks[0].overruns, 5);
  EXPECT_EQ(played.tasks[0].all.jobs, 10);
  EXPECT_EQ(played.tasks[1].all.jobs, 5);
  EXPECT_FALSE(playable.overlapped);
}

TEST(TablePlayer, skips_what_is_late) {
  Playable playable;
  playable.times[1] = milliseconds(30);
  const Played played = playable.play({.duration = milliseconds(400), .overrun = Overrun::skip});
  std::int64_t skipped = 0;
  for (const PlayedTask& task : played.tasks) skipped += task.skipped;
  EXPECT_GT(skipped, 0);
  EXPECT_EQ(played.tasks[0].all.jobs + played.tasks[0].skipped, 20);
  EXPECT_EQ(played.tasks[2].all.jobs + played.tasks[2].skipped, 10);
}

TEST(TablePlayer, stops_at_the_first_overrun) {
  Playable playable;
  playable.times[0] = milliseconds(15);
  const Played played = playable.play({.duration = milliseconds(4000), .overrun = Overrun::stop});
  EXPECT_TRUE(played.stopped);
  EXPECT_EQ(played.tasks[0].overruns, 1);
  EXPECT_LT(played.elapsed, milliseconds(3000));
}

TEST(TablePlayer, ends_if_a_thread_cannot_be_started) {
  Playable playable;
  playable.tasks.back().units = {1};  // a second thread, for which the first one would wait
  const test::RoomForThreads room(1);
  EXPECT_THROW(playable.play({.duration = milliseconds(100)}), std::system_error);
}

TEST(TablePlayer, a_core_that_went_away_ends_it) {
  Playable playable;
  playable.gone = 0;
  EXPECT_THROW(playable.play({.duration = milliseconds(200)}), EngineError);
}

TEST(TablePlayer, a_core_of_a_second_player_that_went_away_ends_both) {
  Playable playable;
  playable.tasks.back().units = {1};
  playable.gone = 2;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(playable.play({.duration = milliseconds(4000)}), EngineError);
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(3000));
}

TEST(TablePlayer, a_failing_job_ends_it_with_its_name) {
  const std::vector<realtime::TableTask> tasks{
      {"fails", milliseconds(20), milliseconds(20), milliseconds(5), {0}}};
  const board::Processor anywhere{"anywhere", board::ProcessorKind::gpu, {}};
  const auto table = realtime::make_table(tasks);
  try {
    runtime::play(
        *table, tasks,
        {{anywhere, [] { return TableWork([] { throw EngineError("no more memory"); }); }}},
        {.duration = milliseconds(100)});
    FAIL() << "nothing was thrown";
  } catch (const EngineError& error) {
    EXPECT_STREQ(error.what(), "task 'fails': no more memory");
  }
}

}  // namespace
}  // namespace millrace::runtime
