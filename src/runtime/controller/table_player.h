#pragma once
// Plays a static table: every job begins when the table says, on a thread of its processor.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "base/verdict.h"
#include "board/board.h"
#include "realtime/static_table.h"

namespace millrace::runtime {

/// What happens where a job has not ended when the table says.
enum class Overrun {
  finish,  // it ends, and what follows begins later
  skip,    // it ends; jobs whose begin has passed meanwhile do not run at all
  stop,    // it ends, and nothing runs any more
};

/// What one task does on one frame.
using TableWork = std::function<void()>;

/// Called on the thread that will do the work, before the table begins; may take long.
struct TableJob {
  board::Processor processor;  // the thread is bound to it
  std::function<TableWork()> prepare;
};

/// When a longer table took the place of the one that was played.
struct TableSwitch {
  Time at{};        // from the begin: the start of a cycle of both tables
  Time prepared{};  // what it took to make the new jobs ready, while the others ran
};

class TablePlayer;

/// Puts another table in the place of the one that is played. Any thread; one at a time.
class TableControl {
 public:
  /// The table has all tasks and entries that there are, and `added` jobs for the tasks after
  /// these. They are prepared here, on a thread below the priority of what is played. Nothing:
  /// nothing is played. EngineError if a job cannot be prepared. Precondition: replay() accepts the
  /// table.
  std::optional<TableSwitch> extend(realtime::StaticTable table,
                                    std::vector<realtime::TableTask> tasks,
                                    std::vector<TableJob> added);

 private:
  friend class TablePlayer;
  std::mutex mutex_;
  TablePlayer* player_ = nullptr;  // borrowed while it plays
};

struct PlayOptions {
  Time duration = std::chrono::seconds(10);
  Overrun overrun = Overrun::finish;
  int priority = 0;  // of SCHED_FIFO; 0: as the caller has it
  /// Asked between the jobs of one thread; true: the end. Null: never.
  std::function<bool()> is_interrupted = {};
  TableControl* control = nullptr;  // borrowed; null: the table stays as it is
  /// Called again and again on a thread of its own, from the begin to the end. Null: never.
  std::function<void()> meanwhile = {};
  std::size_t units = 0;  // that a later table may have, at most; 0: those of this one
  /// What a hypervisor took of these cores so far. Null: what the kernel counts.
  std::function<Time(const std::vector<int>&)> stolen = {};
};

/// From when a job was due and its thread free, to its end.
struct ExecutionTimes {
  std::int64_t jobs = 0;
  Time largest{}, sum{};
  double squares = 0;  // their sum, in nanoseconds
  void add(Time time);
  Time mean() const { return jobs > 0 ? sum / jobs : Time{}; }
  /// max(largest seen, mean + 6 deviations).
  Time worst_case() const;
};

/// No analysis covers what a hypervisor takes, so jobs that it disturbed count apart.
struct PlayedTask {
  ExecutionTimes all, undisturbed;
  std::int64_t overruns = 0, skipped = 0;
  std::int64_t missed = 0;              // jobs that ended after their deadline
  std::int64_t disturbed_overruns = 0;  // among the overruns
  Time latest{};                        // the largest time from a job's activation to its end
  /// Worst case of undisturbed jobs, if these are at least half of all; else of all jobs.
  Time worst_case() const {
    return (2 * undisturbed.jobs >= all.jobs ? undisturbed : all).worst_case();
  }
};

struct Played {
  std::vector<PlayedTask> tasks;  // in the table's order
  Time elapsed{};
  bool stopped = false;  // by an overrun
  Time stolen{};         // by a hypervisor, of the cores that were used
};

/// A unit of the table is a thread; a job on several units runs on that of the first, while the
/// others wait. Two jobs never overlap on a unit, whatever happens. EngineError, with the task's
/// name, if a job fails. Precondition: replay() accepts the table.
Played play(const realtime::StaticTable& table, const std::vector<realtime::TableTask>& tasks,
            const std::vector<TableJob>& jobs, const PlayOptions& options);

}  // namespace millrace::runtime
