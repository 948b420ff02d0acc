#include "engine/onednn/threads/team.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "board/board.h"

namespace millrace::engine::onednn {
namespace {

using Cores = std::vector<int>;  // ascending

class Team {
 public:
  explicit Team(const Cores& cores)
      : cores_(cores), thread_([this](const std::stop_token& end) { live(end); }) {}

  void run(const std::function<void()>& work) {
    const std::lock_guard turn(turn_);
    has_helpers_ = true;
    const auto in_scope = [&] {
      const ThreadScope threads(cores_);
      work();
    };
    hand_over(in_scope);
  }

  /// Not those that are at work: whoever has them is using its cores.
  void send_helpers_away() {
    const std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn || !has_helpers_) return;
    hand_over(end_helpers);
    has_helpers_ = false;
  }

 private:
  /// Precondition: it is the caller's turn.
  void hand_over(const std::function<void()>& work) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [&] { return work_ == nullptr; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  void live(const std::stop_token& end) {
    pin();
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, end, [&] { return work_ != nullptr; })) {
      lock.unlock();
      std::exception_ptr error;
      try {
        (*work_)();
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      error_ = std::move(error);
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  /// A core that this process may not use is its caller's mistake, who was told when it pinned
  /// itself; the thread then stays where it is.
  void pin() const {
    try {
      board::pin_this_thread({"core", board::ProcessorKind::cpu, {cores_.front()}});
    } catch (const std::exception&) {
    }
  }

  const Cores cores_;
  std::mutex turn_;
  bool has_helpers_ = false;  // of whose turn it is

  std::mutex mutex_;  // of those below
  std::condition_variable_any changed_;
  const std::function<void()>* work_ = nullptr;
  std::exception_ptr error_;

  std::jthread thread_;
};

class Teams {
 public:
  Team& of(const Cores& cores) {
    const std::lock_guard lock(mutex_);
    for (auto& [others, team] : teams_)
      if (others != cores && std::find_first_of(others.begin(), others.end(), cores.begin(),
                                                cores.end()) != others.end())
        team.send_helpers_away();
    return teams_.try_emplace(cores, cores).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<Cores, Team> teams_;
};

}  // namespace

void run_on_team(const std::vector<int>& cores, const std::function<void()>& work) {
  static Teams teams;
  teams.of(cores).run(work);
}

}  // namespace millrace::engine::onednn
