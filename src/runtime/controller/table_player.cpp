#include "runtime/controller/table_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/error.h"
#include "runtime/first_error.h"
#include "runtime/scheduling/host.h"
#include "runtime/scheduling/thread_priority.h"
#include "runtime/waiting/event_count.h"

namespace millrace::runtime {
namespace {

using Clock = std::chrono::steady_clock;

class TablePlayer {
 public:
  TablePlayer(const realtime::StaticTable& table, const std::vector<realtime::TableTask>& tasks,
              const std::vector<TableJob>& jobs, const PlayOptions& options)
      : table_(table), tasks_(tasks), jobs_(jobs), options_(options), works_(tasks.size()) {
    result_.tasks.resize(tasks.size());
    for (const realtime::TableTask& task : tasks) {
      players_.insert(task.units.front());
      units_ = std::max(units_, task.units.back() + 1);
    }
    locks_ = std::make_unique<std::mutex[]>(units_);
  }

  Played run() {
    std::barrier ready(static_cast<std::ptrdiff_t>(players_.size()), [this]() noexcept {
      begin_ = Clock::now() + std::chrono::milliseconds(20);
    });
    const std::vector<int> cores = cores_used();
    const Time stolen = stolen_so_far(cores);
    play_on_threads(ready);
    first_error_.rethrow();
    result_.elapsed = Clock::now() - begin_;
    result_.stolen = stolen_so_far(cores) - stolen;
    result_.stopped = overran_;
    return result_;
  }

 private:
  std::vector<int> cores_used() const {
    std::set<int> cores;
    for (const TableJob& job : jobs_)
      cores.insert(job.processor.cores.begin(), job.processor.cores.end());
    return {cores.begin(), cores.end()};
  }

  Time stolen_so_far(const std::vector<int>& cores) const {
    return options_.stolen ? options_.stolen(cores) : stolen_from(cores);
  }

  void fail(const std::string& what) {
    first_error_.set({what});
    end_all();
  }

  /// If one cannot be started, the others do not wait for those that are missing.
  template <class Ready>
  void play_on_threads(Ready& ready) {
    std::vector<std::jthread> threads;
    try {
      threads.reserve(players_.size());
      for (std::size_t unit : players_)
        threads.emplace_back([this, unit, &ready] { be_player(unit, ready); });
    } catch (...) {
      end_all();
      for (std::size_t i = threads.size(); i < players_.size(); ++i) ready.arrive_and_drop();
      throw;
    }
  }

  template <class Ready>
  void be_player(std::size_t unit, Ready& ready) {
    std::optional<PriorityGuard> priority;
    try {
      for (std::size_t t = 0; t < tasks_.size(); ++t)
        if (tasks_[t].units.front() == unit) works_[t] = jobs_[t].prepare();
      priority.emplace(options_.priority);
    } catch (const std::exception& error) {
      fail(error.what());
    }
    ready.arrive_and_wait();
    try {
      Clock::time_point free = begin_;
      for (Time from{}; !ended_ && from < options_.duration; from += table_.cycle)
        cycle(unit, from, free);
    } catch (const std::exception& error) {  // such as a core that went away
      fail(error.what());
    }
  }

  /// `free`: when the thread's last job ended.
  void cycle(std::size_t unit, Time from, Clock::time_point& free) {
    for (const realtime::TableEntry& entry : table_.entries) {
      const realtime::TableTask& task = tasks_[entry.task];
      if (task.units.front() != unit) continue;
      if (ended_ || from + entry.begin >= options_.duration) return;
      if (options_.is_interrupted && options_.is_interrupted()) end_all();
      PlayedTask& played = result_.tasks[entry.task];
      const Clock::time_point due = begin_ + from + entry.begin;
      if (options_.overrun == Overrun::skip && Clock::now() > due + Clock::duration(slack)) {
        ++played.skipped;
        continue;
      }
      const Time stolen = stolen_so_far(jobs_[entry.task].processor.cores);
      const board::PinGuard here(jobs_[entry.task].processor);
      wait_until(due);
      if (!ended_) free = execute(entry, from, {stolen, std::max(due, free)});
    }
  }

  /// Or until all ends. The last moment is spent awake, since a sleeper is woken late; but only a
  /// part of what is left free, since the system stops real-time threads that never sleep.
  void wait_until(Clock::time_point due) {
    const Clock::time_point wake = due - std::min<Time>(longest_awake, (due - Clock::now()) / 4);
    for (;;) {
      const std::uint32_t ticket = end_.ticket();
      const Clock::time_point now = Clock::now();
      if (ended_ || now >= due) return;
      if (now < wake) end_.sleep_before(ticket, wake);
    }
  }
  void end_all() {
    ended_ = true;
    end_.notify();
  }

  /// All units of the task, in their order.
  class Units {
   public:
    Units(std::mutex* locks, const std::vector<std::size_t>& units) : locks_(locks), units_(units) {
      for (std::size_t unit : units_) locks_[unit].lock();
    }
    ~Units() {
      for (std::size_t unit : units_) locks_[unit].unlock();
    }
    Units(const Units&) = delete;
    Units& operator=(const Units&) = delete;

   private:
    std::mutex* locks_;
    const std::vector<std::size_t>& units_;
  };

  struct Before {
    Time stolen;              // from the job's cores
    Clock::time_point ready;  // it was due, and the thread's job before had ended
  };

  /// What it takes until the job begins is a part of its time: no table would hold without it.
  /// Waiting for other units is not. Returns when it ended.
  Clock::time_point execute(const realtime::TableEntry& entry, Time from, const Before& before) {
    const realtime::TableTask& task = tasks_[entry.task];
    const Time late = Clock::now() - before.ready;
    const Units units(locks_.get(), task.units);
    const Clock::time_point begin = Clock::now() - late;
    try {
      works_[entry.task]();
    } catch (const std::exception& error) {
      fail(fmt::format("task '{}': {}", task.name, error.what()));
      return Clock::now();
    }
    const Clock::time_point end = Clock::now();
    PlayedTask& played = result_.tasks[entry.task];
    const bool disturbed = stolen_so_far(jobs_[entry.task].processor.cores) > before.stolen;
    played.all.add(end - begin);
    if (!disturbed) played.undisturbed.add(end - begin);
    played.latest = std::max<Time>(played.latest, end - (begin_ + from + task.period * entry.job));
    if (end <= begin_ + from + entry.end) return end;
    ++played.overruns;
    played.disturbed_overruns += disturbed;
    if (options_.overrun != Overrun::stop) return end;
    overran_ = true;
    end_all();
    return end;
  }

  /// Longer than waking up usually takes.
  static constexpr Time longest_awake = std::chrono::microseconds(300);
  /// So late a begin is still in time: timers are not exact.
  static constexpr Time slack = std::chrono::microseconds(200);

  const realtime::StaticTable& table_;
  const std::vector<realtime::TableTask>& tasks_;
  const std::vector<TableJob>& jobs_;
  const PlayOptions& options_;
  std::set<std::size_t> players_;  // units with a thread
  std::size_t units_ = 0;
  std::unique_ptr<std::mutex[]> locks_;  // by unit
  std::vector<TableWork> works_;  // by task; each of the thread of its first unit, like its result
  Played result_;
  Clock::time_point begin_;
  std::atomic<bool> ended_ = false, overran_ = false;
  EventCount end_;
  FirstError first_error_;
};

}  // namespace

void ExecutionTimes::add(Time time) {
  ++jobs;
  sum += time;
  squares += std::pow(static_cast<double>(time.count()), 2);
  largest = std::max(largest, time);
}

Time ExecutionTimes::worst_case() const {
  if (jobs == 0) return {};
  const double mean_ns = static_cast<double>(sum.count()) / static_cast<double>(jobs);
  const double variance = squares / static_cast<double>(jobs) - mean_ns * mean_ns;
  const double high = mean_ns + 6 * std::sqrt(std::max(variance, 0.0));
  return std::max(largest, Time(static_cast<std::int64_t>(std::ceil(high))));
}

Played play(const realtime::StaticTable& table, const std::vector<realtime::TableTask>& tasks,
            const std::vector<TableJob>& jobs, const PlayOptions& options) {
  for (const realtime::TableTask& task : tasks)
    if (task.transfers)
      throw InputError(fmt::format("task '{}'", task.name),
                       "it has transfers, which a table that runs on this machine has not");
  return TablePlayer(table, tasks, jobs, options).run();
}

}  // namespace millrace::runtime
