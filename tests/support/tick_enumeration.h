#pragma once
// Whether a static table exists, by trying all begins of all jobs: for times of a few ticks.
#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "realtime/decide_table.h"

namespace millrace::test {

using realtime::KeptTable;
using realtime::TableEntry;
using realtime::TablePart;
using realtime::TableTask;

/// At each tick any of the pieces that may begin begin, or none: nothing is left out but what
/// failed before in the same state.
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
  /// State: by task, pieces begun, and ticks left of the last one. Tasks before `first` have
  /// chosen.
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
    for (const TableEntry& entry : kept_.table.entries) {
      const auto units = units_of(kept_.tasks[entry.task], entry.part);
      if (std::ranges::count(units, unit) > 0 && is_kept(entry, now, until)) return true;
    }
    return false;
  }
  bool is_kept(const TableEntry& entry, std::int64_t now, std::int64_t until) const {
    for (std::int64_t at = 0; at < cycle_; at += kept_.table.cycle.count())
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

}  // namespace millrace::test
