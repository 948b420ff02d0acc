#include "runtime/controller/table_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <deque>
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

/// What one task does, and how long it took; of the thread of its first unit.
struct PlayedJob {
  TableJob job;
  TableWork work = {};
  PlayedTask result = {};
};

/// A table that is played from a moment on. Its tasks are those of the one before, and more.
struct TableProgram {
  realtime::StaticTable table;
  std::vector<realtime::TableTask> tasks;
  std::vector<PlayedJob*> jobs;  // by task
  Time begins{};                 // from the begin of the first
  TableProgram* next = nullptr;
};

}  // namespace

class TablePlayer {
 public:
  TablePlayer(const realtime::StaticTable& table, const std::vector<realtime::TableTask>& tasks,
              const std::vector<TableJob>& jobs, const PlayOptions& options)
      : options_(options), units_(options.units) {
    for (const TableJob& job : jobs) jobs_.push_back({job});
    programs_.push_back({table, tasks, all_jobs()});
    for (const realtime::TableTask& task : tasks) {
      players_.insert(task.units.front());
      units_ = std::max(units_, task.units.back() + 1);
    }
    locks_ = std::make_unique<std::mutex[]>(units_);
  }

  Played run() {
    std::barrier ready(static_cast<std::ptrdiff_t>(players_.size()), [this]() noexcept {
      begin_ = Clock::now() + std::chrono::milliseconds(20);
      is_begun_ = true;
      end_.notify();
    });
    const std::vector<int> cores = cores_used();
    const Time stolen = stolen_so_far(cores);
    const Listening listening(*this);
    std::jthread meanwhile;
    if (options_.meanwhile)
      meanwhile = std::jthread([this](const std::stop_token& stop) {
        wait_for_begin(stop);
        while (!stop.stop_requested()) options_.meanwhile();
      });
    play_on_threads(ready);
    meanwhile = {};
    Played result;
    {
      const std::lock_guard lock(extending_);  // no thread is added any more
      is_over_ = true;
    }
    later_players_.clear();
    first_error_.rethrow();
    for (const PlayedJob& job : jobs_) result.tasks.push_back(job.result);
    result.elapsed = Clock::now() - begin_;
    result.stolen = stolen_so_far(cores) - stolen;
    result.stopped = overran_;
    return result;
  }

  std::optional<TableSwitch> extend(realtime::StaticTable table,
                                    std::vector<realtime::TableTask> tasks,
                                    const std::vector<TableJob>& added) {
    const std::lock_guard lock(extending_);
    if (is_over_ || !is_begun_ || ended_) return std::nullopt;
    for (const realtime::TableTask& task : tasks)
      if (task.units.back() >= units_) throw EngineError("the new table has too many units");
    const Clock::time_point from = Clock::now();
    prepare_apart(added);
    const Time prepared = Clock::now() - from;
    programs_.push_back({std::move(table), std::move(tasks), all_jobs()});
    TableProgram& program = programs_.back();
    program.begins = agreed_moment();
    TableProgram* last = &programs_[programs_.size() - 2];
    for (const realtime::TableTask& task : program.tasks)
      if (players_.insert(task.units.front()).second) add_player(task.units.front(), program);
    std::atomic_ref(last->next).store(&program, std::memory_order_release);
    return TableSwitch{program.begins, prepared};
  }

 private:
  /// While the table is played, it may be replaced.
  class Listening {
   public:
    explicit Listening(TablePlayer& player) : control_(player.options_.control) {
      if (control_ == nullptr) return;
      const std::lock_guard lock(control_->mutex_);
      control_->player_ = &player;
    }
    ~Listening() {
      if (control_ == nullptr) return;
      const std::lock_guard lock(control_->mutex_);
      control_->player_ = nullptr;
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

   private:
    TableControl* control_;
  };

  void wait_for_begin(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { end_.notify(); });
    for (;;) {
      const std::uint32_t ticket = end_.ticket();
      if (is_begun_ || stop.stop_requested()) return;
      end_.sleep_before(ticket, Clock::now() + std::chrono::hours(1));
    }
  }

  std::vector<PlayedJob*> all_jobs() {
    std::vector<PlayedJob*> jobs;
    for (PlayedJob& job : jobs_) jobs.push_back(&job);
    return jobs;
  }

  /// On a thread of its own: jobs that run are not to be late for it.
  void prepare_apart(const std::vector<TableJob>& added) {
    std::vector<PlayedJob> ready;
    std::string error;
    std::thread thread([&] {
      try {
        for (const TableJob& job : added) ready.push_back({job, job.prepare()});
      } catch (const std::exception& caught) {
        error = caught.what();
      }
    });
    // Real-time threads are never late for an ordinary one.
    if (options_.priority == 0) leave_cores_to_others(thread);
    thread.join();
    if (!error.empty()) throw EngineError(error);
    for (PlayedJob& job : ready) jobs_.push_back(std::move(job));
  }

  /// The start of a cycle that no thread has looked at: the one after the next, or a later one if
  /// that is close.
  Time agreed_moment() const {
    constexpr Time to_look = std::chrono::milliseconds(10);
    const TableProgram& last = programs_[programs_.size() - 2];
    const Time cycle = last.table.cycle;
    const Time now = std::max<Time>(Clock::now() + to_look - begin_, last.begins);
    return last.begins + cycle * ((now - last.begins) / cycle + 2);
  }

  void add_player(std::size_t unit, TableProgram& program) {
    later_players_.emplace_back([this, unit, &program] {
      try {
        const PriorityGuard priority(options_.priority);
        play_from(unit, &program);
      } catch (const std::exception& error) {
        fail(error.what());
      }
    });
  }

  std::vector<int> cores_used() const {
    std::set<int> cores;
    for (const PlayedJob& each : jobs_)
      cores.insert(each.job.processor.cores.begin(), each.job.processor.cores.end());
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
    const std::vector<std::size_t> units(players_.begin(), players_.end());
    TableProgram& first = programs_.front();
    try {
      threads.reserve(units.size());
      for (std::size_t unit : units)
        threads.emplace_back([this, unit, &first, &ready] { be_player(unit, first, ready); });
    } catch (...) {
      end_all();
      for (std::size_t i = threads.size(); i < units.size(); ++i) ready.arrive_and_drop();
      throw;
    }
  }

  template <class Ready>
  void be_player(std::size_t unit, TableProgram& first, Ready& ready) {
    std::optional<PriorityGuard> priority;
    try {
      for (std::size_t t = 0; t < first.tasks.size(); ++t)
        if (first.tasks[t].units.front() == unit)
          first.jobs[t]->work = first.jobs[t]->job.prepare();
      priority.emplace(options_.priority);
    } catch (const std::exception& error) {
      fail(error.what());
    }
    ready.arrive_and_wait();
    try {
      play_from(unit, &first);
    } catch (const std::exception& error) {  // such as a core that went away
      fail(error.what());
    }
  }

  void play_from(std::size_t unit, TableProgram* program) {
    Clock::time_point free = begin_;
    for (Time from = program->begins; !ended_ && from < options_.duration;
         from += program->table.cycle) {
      TableProgram* next = std::atomic_ref(program->next).load(std::memory_order_acquire);
      if (next != nullptr && next->begins <= from) program = next;
      cycle(*program, unit, from, free);
    }
  }

  /// `free`: when the thread's last job ended.
  void cycle(const TableProgram& program, std::size_t unit, Time from, Clock::time_point& free) {
    for (const realtime::TableEntry& entry : program.table.entries) {
      const realtime::TableTask& task = program.tasks[entry.task];
      if (task.units.front() != unit) continue;
      if (ended_ || from + entry.begin >= options_.duration) return;
      if (options_.is_interrupted && options_.is_interrupted()) end_all();
      PlayedJob& played = *program.jobs[entry.task];
      const Clock::time_point due = begin_ + from + entry.begin;
      if (options_.overrun == Overrun::skip && Clock::now() > due + Clock::duration(slack)) {
        ++played.result.skipped;
        continue;
      }
      const Time stolen = stolen_so_far(played.job.processor.cores);
      const board::PinGuard here(played.job.processor);
      wait_until(due);
      if (!ended_) free = execute({task, entry, played}, from, {stolen, std::max(due, free)});
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

  struct Job {
    const realtime::TableTask& task;
    const realtime::TableEntry& entry;
    PlayedJob& of;
  };
  struct Before {
    Time stolen;              // from the job's cores
    Clock::time_point ready;  // it was due, and the thread's job before had ended
  };

  /// What it takes until the job begins is a part of its time: no table would hold without it.
  /// Waiting for other units is not. Returns when it ended.
  Clock::time_point execute(const Job& job, Time from, const Before& before) {
    const auto& [task, entry, of] = job;
    const Time late = Clock::now() - before.ready;
    const Units units(locks_.get(), task.units);
    const Clock::time_point begin = Clock::now() - late;
    try {
      of.work();
    } catch (const std::exception& error) {
      fail(fmt::format("task '{}': {}", task.name, error.what()));
      return Clock::now();
    }
    const Clock::time_point end = Clock::now();
    PlayedTask& played = of.result;
    const bool disturbed = stolen_so_far(of.job.processor.cores) > before.stolen;
    played.all.add(end - begin);
    if (!disturbed) played.undisturbed.add(end - begin);
    const Time response = end - (begin_ + from + task.period * entry.job);
    played.latest = std::max(played.latest, response);
    if (response > task.deadline) ++played.missed;
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

  const PlayOptions& options_;
  // What stands in these never moves: players use it while the extending thread adds to the end.
  std::deque<TableProgram> programs_;
  std::deque<PlayedJob> jobs_;
  std::set<std::size_t> players_;  // units with a thread
  std::size_t units_ = 0;
  std::unique_ptr<std::mutex[]> locks_;  // by unit
  Clock::time_point begin_;
  std::atomic<bool> is_begun_ = false, ended_ = false, overran_ = false;
  EventCount end_;  // and the begin
  FirstError first_error_;
  std::mutex extending_;
  bool is_over_ = false;                     // under the mutex
  std::vector<std::jthread> later_players_;  // of units that came later
};

std::optional<TableSwitch> TableControl::extend(realtime::StaticTable table,
                                                std::vector<realtime::TableTask> tasks,
                                                std::vector<TableJob> added) {
  const std::lock_guard lock(mutex_);
  if (player_ == nullptr) return std::nullopt;
  return player_->extend(std::move(table), std::move(tasks), added);
}

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
