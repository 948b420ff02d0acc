#pragma once
// Which variant of which task on which processor: tasks with periods, and processors that share
// silicon (Pujol et al., "Generating and Exploiting Deep Learning Variants").
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace millrace::explore {

/// A share of a unit's time: exact, for sums that are compared with all of it.
struct Share {
  Time busy{}, period{1};
  double value() const;
  bool operator==(const Share&) const = default;
};
/// Whether these shares together are at most all of a unit's time. Exact.
bool at_most_one(const std::vector<Share>& shares);

/// A share in parts of 2^-50, rounded down: if sums of these are too much, so are the shares.
using UnitParts = std::int64_t;
inline constexpr UnitParts whole_unit = UnitParts{1} << 50;
/// More than one unit is too much, however much more: at most two units.
UnitParts rounded_down(const Share& share);

/// What holds one task at a time: some units of silicon at once, such as both of two NPUs.
struct SharedProcessor {
  std::string name;
  std::vector<std::size_t> units;  // at least one; ascending
  /// A unit as well, which carries what goes to its own memory and from it; none: it has none.
  std::optional<std::size_t> link = {};
  bool operator==(const SharedProcessor&) const = default;
};

/// Transfer times of a task: to the memory of a processor before it runs, and from it afterwards.
struct LinkTimes {
  Time in{}, out{};
  bool operator==(const LinkTimes&) const = default;
};

/// A network, once each period.
struct AdmissionTask {
  std::string name;
  Time period{}, deadline{};
  std::vector<std::optional<Time>> times;  // by processor: the bound of its variant; none: no such
  std::vector<double> energy = {};         // by processor, of one activation; empty: unknown
  std::vector<LinkTimes> transfers = {};   // by processor; empty: none
  /// Tasks whose results it reads: of each the last job that is activated no later than its own.
  std::vector<std::size_t> after = {};
  /// From the first activation of the jobs that it reads, and that these read, to its end.
  std::optional<Time> end_to_end = {};
  bool operator==(const AdmissionTask&) const = default;
};

/// A task on a processor.
struct Placed {
  std::size_t task = 0, processor = 0;
  bool operator==(const Placed&) const = default;
};

/// The sets CE and Gamma of the paper.
struct AdmissionProblem {
  std::vector<std::string> units;
  std::vector<SharedProcessor> processors;
  /// Two processors of which only one may be used: modes that exclude each other.
  std::vector<std::pair<std::size_t, std::size_t>> exclusive = {};
  std::vector<AdmissionTask> tasks;
  /// What may not be together, such as what has no static table. Of tasks that are_alike() each may
  /// stand for the other.
  std::vector<std::vector<Placed>> refused = {};
  bool operator==(const AdmissionProblem&) const = default;
};

/// By task: its processor.
using AdmissionChoice = std::vector<std::size_t>;

/// InputError naming the task or processor: a period, deadline or time that is not above 0, a
/// processor without units, lists that do not fit each other.
void check(const AdmissionProblem& problem);

/// Utilisation of a processor by a task: its time by its period.
Share utilisation(const AdmissionTask& task, std::size_t processor);
/// The same of its transfers.
Share link_utilisation(const AdmissionTask& task, std::size_t processor);
LinkTimes transfers_of(const AdmissionTask& task, std::size_t processor);
/// From its activation to its end, if nothing else runs.
Time time_with_transfers(const AdmissionTask& task, std::size_t processor);

/// A share of a unit's time.
struct UnitShare {
  std::size_t unit = 0;
  Share share;
};
/// Shares of all units, and of the link, that the task needs on the processor; none of them is 0.
std::vector<UnitShare> shares_of(const AdmissionProblem& problem, std::size_t task,
                                 std::size_t processor);

/// The processors on which the task meets its deadline, alone; ascending.
std::vector<std::size_t> options_of(const AdmissionTask& task);

/// By unit, for people. Precondition: the choice has a processor with a time for each task.
std::vector<double> loads_of(const AdmissionProblem& problem, const AdmissionChoice& choice);

/// By task: the first one that differs from it in nothing that a table depends on; whose results
/// are read, or who reads, is like no other.
std::vector<std::size_t> are_alike(const AdmissionProblem& problem);

/// The first of the tasks on a way, up to the last, which cannot end in time on these processors
/// even if nothing else runs; none: all can.
std::vector<Placed> late_way(const AdmissionProblem& problem, const AdmissionChoice& choice);

/// Whether each task has one of its options, no unit is loaded by more than all of its time, no
/// two exclusive processors are used, and nothing that is refused or late_way(). Exact.
bool fits(const AdmissionProblem& problem, const AdmissionChoice& choice);

/// The problem with these of its tasks only.
AdmissionProblem only_tasks(const AdmissionProblem& problem, const std::vector<std::size_t>& tasks);

}  // namespace millrace::explore
