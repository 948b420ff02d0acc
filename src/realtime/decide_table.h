#pragma once
// Whether there is a static table at all: every order of jobs that could matter is looked at.
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "realtime/static_table.h"

namespace millrace::realtime {

/// A table that runs already, and stays as it is: its entries keep their times.
struct KeptTable {
  std::vector<TableTask> tasks = {};
  StaticTable table = {};
};

struct TableLimits {
  std::size_t states = 100'000;
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};

struct TableDecision {
  enum class Answer { exists, none, unknown };
  Answer answer = Answer::unknown;  // unknown: a limit was reached
  StaticTable table = {};           // if it exists; without frames; `kept` is not in it
};

/// Exact for tasks that are not cut. Each unit works from the begin of the table on as early as the
/// order of jobs allows; of two states with the same jobs done, one that is no later in anything is
/// enough. Precondition: check() passes. InputError as hyperperiod().
TableDecision decide_table(const std::vector<TableTask>& tasks, const KeptTable& kept = {},
                           const TableLimits& limits = {});

/// Tasks that share a unit, or read each other's results, directly or through others; by task the
/// number of its part. Tables of different parts do not depend on each other.
std::vector<std::vector<std::size_t>> independent_parts(const std::vector<TableTask>& tasks);

/// These tasks alone; who reads what is not there, reads nothing.
std::vector<TableTask> only(const std::vector<TableTask>& tasks,
                            const std::vector<std::size_t>& which);

/// The tables of some parts as one of all tasks, `kept` behind the others. InputError as
/// hyperperiod().
struct PartTable {
  std::vector<std::size_t> tasks;  // in the whole, by task of the table
  StaticTable table;
};
StaticTable joined_table(const std::vector<TableTask>& tasks, const std::vector<PartTable>& parts,
                         const KeptTable& kept = {});

}  // namespace millrace::realtime
