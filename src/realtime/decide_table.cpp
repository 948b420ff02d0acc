#include "realtime/decide_table.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

namespace millrace::realtime {
namespace {

struct Piece {
  TablePart part = TablePart::run;
  Time length{}, after{};  // what follows in the same job
  std::vector<std::size_t> units;
};

std::vector<Piece> pieces_of(const TableTask& task) {
  std::vector<Piece> pieces;
  Time left = length_of(task);
  for (const TablePart part : {TablePart::in, TablePart::run, TablePart::out})
    if (const Time length = length_of(task, part); length > Time{})
      pieces.push_back({part, length, left -= length, units_of(task, part)});
  return pieces;
}

struct Span {
  Time begin, end;
};

/// What units do already, in one cycle.
class BusySpans {
 public:
  BusySpans(const KeptTable& kept, Time cycle, std::size_t units) : spans_(units) {
    if (kept.table.entries.empty()) return;
    for (Time from{}; from < cycle; from += kept.table.cycle)
      for (const TableEntry& entry : kept.table.entries)
        add(kept.tasks[entry.task], entry, from);
  }

  /// The first moment from `from` on at which the unit is free so long.
  Time free_from(std::size_t unit, Time from, Time length) const {
    const std::vector<Span>& spans = spans_[unit];
    auto next = std::ranges::upper_bound(spans, from, {}, &Span::end);
    for (; next != spans.end() && next->begin < from + length; ++next)
      from = std::max(from, next->end);
    return from;
  }

 private:
  void add(const TableTask& task, const TableEntry& entry, Time from) {
    for (const std::size_t unit : units_of(task, entry.part))
      if (unit < spans_.size()) spans_[unit].push_back({from + entry.begin, from + entry.end});
  }

  std::vector<std::vector<Span>> spans_;
};

std::size_t units_used(const std::vector<TableTask>& tasks) {
  std::size_t units = 0;
  for (const TableTask& task : tasks)
    for (const Piece& piece : pieces_of(task))
      for (const std::size_t unit : piece.units) units = std::max(units, unit + 1);
  return units;
}

/// How far each task is, and from when on units and results are there; none before the last begin.
struct TableState {
  std::vector<std::uint32_t> done;  // pieces, by task
  std::vector<Time> free, ended;    // by unit, by task
};

/// Which task goes on, from when to when.
struct Next {
  std::size_t task = 0;
  Time begin{}, end{}, deadline{};
};

class TableSearch {
 public:
  TableSearch(const std::vector<TableTask>& tasks, const KeptTable& kept, Time cycle,
              const TableLimits& limits)
      : tasks_(tasks), limits_(limits), cycle_(cycle), busy_(kept, cycle, units_used(tasks)) {
    is_read_.resize(tasks.size());
    for (const TableTask& task : tasks)
      for (const std::size_t before : task.after) is_read_[before] = true;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      pieces_.push_back(pieces_of(tasks[t]));
      total_ += pieces_.back().size() * static_cast<std::size_t>(cycle / tasks[t].period);
      std::vector<Time>& deadlines = deadlines_.emplace_back();
      for (std::int64_t job = 0; job < cycle / tasks[t].period; ++job)
        deadlines.push_back(deadline_of_job(tasks, t, job));
      twins_.push_back(twin_before(t));
    }
  }

  TableDecision run() {
    constexpr std::size_t deepest = 4000;
    if (total_ > deepest) return {};
    TableState state{std::vector<std::uint32_t>(tasks_.size(), 0),
                     std::vector<Time>(units_used(tasks_)), std::vector<Time>(tasks_.size())};
    const bool found = visit(state);
    if (!found)
      return {stopped_ ? TableDecision::Answer::unknown : TableDecision::Answer::none, {}};
    StaticTable table{cycle_, Time{}, std::move(entries_)};
    std::ranges::stable_sort(table.entries, [](const TableEntry& a, const TableEntry& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.task < b.task;
    });
    return {TableDecision::Answer::exists, std::move(table)};
  }

 private:
  /// An equal task of a lower number, whose jobs go first.
  std::optional<std::size_t> twin_before(std::size_t task) const {
    if (!tasks_[task].after.empty() || is_read_[task]) return std::nullopt;
    for (std::size_t t = task; t-- > 0;) {
      TableTask same = tasks_[t];
      same.name = tasks_[task].name;
      if (same == tasks_[task] && !is_read_[t]) return t;
    }
    return std::nullopt;
  }

  std::int64_t job_of(const TableState& state, std::size_t task) const {
    return state.done[task] / static_cast<std::int64_t>(pieces_[task].size());
  }
  const Piece& piece_of(const TableState& state, std::size_t task) const {
    return pieces_[task][state.done[task] % pieces_[task].size()];
  }
  bool is_over(const TableState& state, std::size_t task) const {
    return static_cast<std::size_t>(job_of(state, task)) >= deadlines_[task].size();
  }

  /// From when on the task's next piece may begin, whatever units do; none: it has to wait for
  /// another piece to begin.
  std::optional<Time> ready_at(const TableState& state, std::size_t task) const {
    if (state.done[task] % pieces_[task].size() > 0) return state.ended[task];
    const std::int64_t job = job_of(state, task);
    Time ready = tasks_[task].period * job;
    for (const std::size_t before : tasks_[task].after) {
      const std::int64_t due = job_read(tasks_[task], job, tasks_[before]) + 1;
      const std::int64_t had = job_of(state, before);
      if (had < due) return std::nullopt;
      if (had == due && state.done[before] % pieces_[before].size() == 0)
        ready = std::max(ready, state.ended[before]);
    }
    return ready;
  }

  Time begin_of(const TableState& state, const Piece& piece, Time ready) const {
    for (const std::size_t unit : piece.units) ready = std::max(ready, state.free[unit]);
    for (Time before = Time::min(); before != ready;) {
      before = ready;
      for (const std::size_t unit : piece.units) ready = busy_.free_from(unit, ready, piece.length);
    }
    return ready;
  }

  /// All that can go on; nothing if some deadline cannot be met any more.
  std::optional<std::vector<Next>> next_of(const TableState& state) const {
    std::vector<Next> next;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (is_over(state, t)) continue;
      const std::optional<Time> ready = ready_at(state, t);
      if (!ready) continue;
      const Piece& piece = piece_of(state, t);
      const Time begin = begin_of(state, piece, *ready);
      const Time deadline = deadlines_[t][static_cast<std::size_t>(job_of(state, t))];
      if (begin + piece.length + piece.after > deadline) return std::nullopt;
      next.push_back({t, begin, begin + piece.length, deadline - piece.after});
    }
    if (is_overloaded(state)) return std::nullopt;
    keep_useful(state, next);
    return next;
  }

  /// What another piece can end before, without making it later, goes after that piece.
  void keep_useful(const TableState& state, std::vector<Next>& next) const {
    Time first_end = Time::max();
    for (const Next& each : next) first_end = std::min(first_end, each.end);
    std::erase_if(next, [&](const Next& each) {
      const std::optional<std::size_t> twin = twins_[each.task];
      return each.begin >= first_end || (twin && state.done[*twin] <= state.done[each.task] &&
                                         state.done[each.task] % pieces_[each.task].size() == 0);
    });
    std::ranges::stable_sort(next, {},
                             [](const Next& each) { return std::pair(each.deadline, each.begin); });
  }

  /// Whether a unit has more to do until the deadline of some job than there is time.
  bool is_overloaded(const TableState& state) const {
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (is_over(state, t)) continue;
      const Time until = deadlines_[t][static_cast<std::size_t>(job_of(state, t))];
      std::vector<Time> left(state.free.size());
      for (std::size_t u = 0; u < left.size(); ++u) left[u] = until - state.free[u];
      for (std::size_t other = 0; other < tasks_.size(); ++other)
        take_due(state, other, until, left);
      if (std::ranges::any_of(left, [](Time each) { return each < Time{}; }) &&
          is_short(left, state, until))
        return true;
    }
    return false;
  }

  /// A unit that is used beyond this time anyway has nothing to do before it.
  static bool is_short(const std::vector<Time>& left, const TableState& state, Time until) {
    for (std::size_t u = 0; u < left.size(); ++u)
      if (left[u] < std::min(Time{}, until - state.free[u])) return true;
    return false;
  }

  void take_due(const TableState& state, std::size_t task, Time until,
                std::vector<Time>& left) const {
    const std::vector<Time>& deadlines = deadlines_[task];
    const auto count =
        static_cast<std::size_t>(std::ranges::upper_bound(deadlines, until) - deadlines.begin());
    const std::size_t pieces = pieces_[task].size();
    const std::size_t due = count * pieces;
    if (due <= state.done[task]) return;
    const std::size_t jobs = (due - state.done[task]) / pieces;  // whole ones
    const std::size_t first = state.done[task] % pieces;
    for (std::size_t p = 0; p < pieces; ++p) {
      const auto times = static_cast<std::int64_t>(jobs + (first > 0 && p >= first ? 1 : 0));
      for (const std::size_t unit : pieces_[task][p].units)
        left[unit] -= pieces_[task][p].length * times;
    }
  }

  /// Whether nothing that was looked at before is as good; then it is noted.
  bool is_new(const TableState& state) {
    std::string key(state.done.size() * sizeof(std::uint32_t), '\0');
    std::copy_n(reinterpret_cast<const char*>(state.done.data()), key.size(), key.data());
    std::vector<std::vector<Time>>& seen = seen_[key];
    std::vector<Time> now = state.free;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      const bool matters = is_read_[t] || state.done[t] % pieces_[t].size() > 0;
      now.push_back(matters ? state.ended[t] : Time{});
    }
    const auto is_as_good = [&](const std::vector<Time>& a, const std::vector<Time>& b) {
      for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] > b[i]) return false;
      return true;
    };
    for (const std::vector<Time>& each : seen)
      if (is_as_good(each, now)) return false;
    std::erase_if(seen, [&](const std::vector<Time>& each) { return is_as_good(now, each); });
    seen.push_back(std::move(now));
    return true;
  }

  bool is_stopped() {
    stopped_ = stopped_ || ++states_ > limits_.states ||
               (states_ % 256 == 0 && std::chrono::steady_clock::now() > limits_.until);
    return stopped_;
  }

  TableState after(const TableState& state, const Next& next) const {
    TableState result = state;
    const Piece& piece = piece_of(state, next.task);
    for (const std::size_t unit : piece.units) result.free[unit] = next.end;
    result.ended[next.task] = next.end;
    ++result.done[next.task];
    // Nothing begins before what began last.
    for (Time& each : result.free) each = std::max(each, next.begin);
    for (Time& each : result.ended) each = std::max(each, next.begin);
    return result;
  }

  bool visit(const TableState& state) {
    if (entries_.size() == total_) return true;
    if (is_stopped()) return false;
    const std::optional<std::vector<Next>> next = next_of(state);
    if (!next || !is_new(state)) return false;
    for (const Next& each : *next) {
      entries_.push_back({each.task, job_of(state, each.task), each.begin, each.end,
                          piece_of(state, each.task).part});
      if (visit(after(state, each))) return true;
      entries_.pop_back();
      if (stopped_) return false;
    }
    return false;
  }

  const std::vector<TableTask>& tasks_;
  const TableLimits& limits_;
  const Time cycle_;
  const BusySpans busy_;
  std::vector<std::vector<Piece>> pieces_;         // by task
  std::vector<std::vector<Time>> deadlines_;       // by task and job
  std::vector<std::optional<std::size_t>> twins_;  // by task
  std::vector<bool> is_read_;                      // by task: others wait for its results
  std::size_t total_ = 0, states_ = 0;
  std::vector<TableEntry> entries_;
  std::unordered_map<std::string, std::vector<std::vector<Time>>> seen_;
  bool stopped_ = false;
};

/// The hyperperiod of all tasks, of `kept` too.
Time whole_cycle(const std::vector<TableTask>& tasks, const KeptTable& kept) {
  std::vector<TableTask> all = tasks;
  all.insert(all.end(), kept.tasks.begin(), kept.tasks.end());
  return all.empty() ? Time{} : hyperperiod(all);
}

}  // namespace

TableDecision decide_table(const std::vector<TableTask>& tasks, const KeptTable& kept,
                           const TableLimits& limits) {
  if (tasks.empty()) return {TableDecision::Answer::exists, {}};
  const bool is_cut = std::ranges::any_of(tasks, &TableTask::preemptive);
  const Time cycle = whole_cycle(tasks, kept);
  TableDecision decision;
  if (!is_cut) decision = TableSearch(tasks, kept, cycle, limits).run();
  if (decision.answer != TableDecision::Answer::unknown || !kept.tasks.empty()) return decision;
  if (std::chrono::steady_clock::now() > limits.until) return decision;
  if (auto table = make_table(tasks)) return {TableDecision::Answer::exists, std::move(*table)};
  return decision;
}

std::vector<std::vector<std::size_t>> independent_parts(const std::vector<TableTask>& tasks) {
  std::vector<std::size_t> part(tasks.size());
  std::iota(part.begin(), part.end(), std::size_t{0});
  const auto join = [&](std::size_t a, std::size_t b) {
    const std::size_t from = std::max(part[a], part[b]), to = std::min(part[a], part[b]);
    std::ranges::replace(part, from, to);
  };
  std::vector<std::size_t> user(units_used(tasks), tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    for (const std::size_t before : tasks[t].after) join(t, before);
    for (const Piece& piece : pieces_of(tasks[t]))
      for (const std::size_t unit : piece.units)
        join(t, std::min(t, std::exchange(user[unit], t)));
  }
  std::vector<std::vector<std::size_t>> result;
  for (std::size_t first = 0; first < tasks.size(); ++first) {
    std::vector<std::size_t> members;
    for (std::size_t t = 0; t < tasks.size(); ++t)
      if (part[t] == first) members.push_back(t);
    if (!members.empty()) result.push_back(std::move(members));
  }
  return result;
}

std::vector<TableTask> only(const std::vector<TableTask>& tasks,
                            const std::vector<std::size_t>& which) {
  std::vector<TableTask> result;
  for (const std::size_t t : which) {
    TableTask task = tasks[t];
    task.after.clear();
    for (const std::size_t before : tasks[t].after)
      if (const auto found = std::ranges::find(which, before); found != which.end())
        task.after.push_back(static_cast<std::size_t>(found - which.begin()));
    result.push_back(std::move(task));
  }
  return result;
}

StaticTable joined_table(const std::vector<TableTask>& tasks, const std::vector<PartTable>& parts,
                         const KeptTable& kept) {
  StaticTable result;
  result.cycle = whole_cycle(tasks, kept);
  const auto add = [&](const StaticTable& table, const std::vector<TableTask>& of,
                       const auto& number) {
    for (std::int64_t again = 0; !table.entries.empty() && again < result.cycle / table.cycle;
         ++again)
      for (TableEntry entry : table.entries) {
        const Time period = of[number(entry.task)].period;
        entry.job += again * (table.cycle / period);
        entry.begin += table.cycle * again;
        entry.end += table.cycle * again;
        entry.task = number(entry.task);
        result.entries.push_back(entry);
      }
  };
  for (const PartTable& part : parts)
    add(part.table, tasks, [&](std::size_t task) { return part.tasks[task]; });
  std::vector<TableTask> all = tasks;
  all.insert(all.end(), kept.tasks.begin(), kept.tasks.end());
  add(kept.table, all, [&](std::size_t task) { return tasks.size() + task; });
  std::ranges::stable_sort(result.entries, [](const TableEntry& a, const TableEntry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.task < b.task;
  });
  return result;
}

}  // namespace millrace::realtime
