#pragma once
// A cyclic executive: what runs when, decided before, over one hyperperiod, again and again.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "base/verdict.h"

namespace millrace::realtime {

/// What goes to the memory of the units before each job, and from it after the job. The link does
/// one thing at a time, and no transfer is cut.
struct TableTransfers {
  Time in{}, out{};      // 0: none
  std::size_t link = 0;  // a unit too, and none of the task's
  bool operator==(const TableTransfers&) const = default;
};

/// Once each period it needs `worst` on all of its units at the same time. All first activations
/// are at 0.
struct TableTask {
  std::string name;
  Time period{1}, deadline{1};  // the deadline counts from the activation and is at most the period
  Time worst{};
  std::vector<std::size_t> units;  // at least one; ascending
  bool preemptive = false;         // may be cut into pieces; of tasks with one unit only
  std::optional<TableTransfers> transfers = {};  // in time between activation and deadline as well
  /// Tasks whose results it reads: of each the last job that is activated no later than its own.
  std::vector<std::size_t> after = {};
  /// From the first activation of the jobs that it reads, and that these read, to its end.
  std::optional<Time> end_to_end = {};
  bool operator==(const TableTask&) const = default;
};

/// Part of a job, in this order.
enum class TablePart { in, run, out };
const char* to_text(TablePart part);

/// On its units, or on its link.
std::vector<std::size_t> units_of(const TableTask& task, TablePart part);
Time length_of(const TableTask& task, TablePart part);
/// All parts.
Time length_of(const TableTask& task);

/// A part of a job, or a piece of it, lasts from `begin` to `end`.
struct TableEntry {
  std::size_t task = 0;
  std::int64_t job = 0;  // the n-th of the task in the hyperperiod, from 0
  Time begin{}, end{};
  TablePart part = TablePart::run;
  bool operator==(const TableEntry&) const = default;
};

struct StaticTable {
  Time cycle{};                     // the hyperperiod, after which it begins again
  Time frame{};                     // no entry crosses a multiple of it; 0: there are no frames
  std::vector<TableEntry> entries;  // by begin, then by task
  bool operator==(const StaticTable&) const = default;
};

/// InputError naming the task: a time that is not above 0, a deadline longer than the period or
/// shorter than the worst time and the transfers, pieces of a task with several units, a link that
/// is one of its units, tasks that wait for each other.
void check(const std::vector<TableTask>& tasks);

/// The job of the task `before` that this job of the task reads.
std::int64_t job_read(const TableTask& task, std::int64_t job, const TableTask& before);
/// From the start of the table, within its first cycle. The end-to-end deadline counts too.
Time deadline_of_job(const std::vector<TableTask>& tasks, std::size_t task, std::int64_t job);

/// The least common multiple of the periods. InputError if it does not fit into 64 bits, or the
/// table would have more than a million jobs; harmonised() helps.
Time hyperperiod(const std::vector<TableTask>& tasks);

/// The lengths of frames that a cyclic executive may have (Baker and Shaw 1989), the longest first:
/// they divide the hyperperiod, hold the longest job that is not cut, and one whole frame lies
/// between each activation and its deadline.
std::vector<Time> frames(const std::vector<TableTask>& tasks);

/// Periods that are `base` times powers of two, each at most the one before, so that the
/// hyperperiod is the longest; the base is the one that adds the least utilisation (Han and Tyan
/// 1997). Deadlines are cut to the periods.
struct Harmonised {
  std::vector<TableTask> tasks;
  double added_utilisation = 0;  // of all tasks together
};
Harmonised harmonised(const std::vector<TableTask>& tasks);

/// With the longest frame for which one is found, else without frames. The earliest deadline goes
/// first, but nothing begins that would make a more urgent job late which comes soon; where that
/// fails, the order is varied. Nothing: it found none, though there may be one. InputError as
/// above.
std::optional<StaticTable> make_table(const std::vector<TableTask>& tasks);

/// Whether each job has its transfer in, its worst time and its transfer out between activation and
/// deadline, one after the other, in one piece or in several where it may be cut, and no unit does
/// two things at once. No names the first job that is wrong.
Verdict replay(const StaticTable& table, const std::vector<TableTask>& tasks);

/// The busy share of each unit in the cycle.
std::vector<double> table_loads(const StaticTable& table, const std::vector<TableTask>& tasks);

}  // namespace millrace::realtime
