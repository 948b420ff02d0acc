#pragma once
// What a run did so far, in numbers.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "application/live/observer.h"
#include "serve/metrics/histogram.h"
#include "serve/streams.h"

namespace millrace::serve {

struct InputNow {
  std::string name;                       // empty: there is one
  std::int64_t frames = 0;                // that came out
  std::int64_t arrived = 0, dropped = 0;  // of a live input
  Histogram::Counts latency;              // since the picture was taken
  std::int64_t gaps = 0;                  // of a camera
  double gap_s = 0;
  double rate_fps = 0;     // of the last seconds
  std::string group = {};  // of a deployment
};

struct StageNow {
  std::string name, processor;
  std::int64_t frames = 0;
  double busy_s = 0, waiting_s = 0;
  double utilisation = 0;  // of the last second
  std::string group = {};  // of a deployment: a stage is one of its tasks
};

struct GroupNow {
  std::string name;
  std::int64_t frames = 0, missed = 0;  // missed: their deadlines
  Histogram::Counts response;           // since they were due
  double deadline_s = 0;
  double rate_fps = 0;  // of the last second
  // In the scenario and at the level in which the last frame was due:
  double largest_s = 0;                // response
  std::optional<double> bound_s = {};  // of responses; none: it is not proven
};

struct FiguresNow {
  std::string name;  // of the application or deployment
  bool is_live = false, is_running = false, is_busy = false;
  double running_s = 0;
  std::int64_t skipped = 0;      // pictures that cannot be decoded
  std::vector<InputNow> inputs;  // of a deployment: of all groups with an application
  std::vector<StageNow> stages;  // a row for each replica
  std::vector<GroupNow> groups;

  std::int64_t frames() const;
};

/// Counts. now() may be called by any thread at any time.
class Figures final : public application::Observer {
 public:
  void begun(const application::AtWork& work) override;
  void begun(const application::DeploymentAtWork& work) override;
  void take(const application::Outcome& outcome) override;
  void skipped() override { ++skipped_; }
  void done(std::size_t group, const runtime::EndedFrame& frame) override;
  void ended() override;

  FiguresNow now();
  /// What the stages did in the last `span`; empty before and after the run.
  Trace recent(Time span);

 private:
  using Clock = std::chrono::steady_clock;

  struct Input {
    std::atomic<std::int64_t> frames{0};
    Histogram latency;
    std::deque<Clock::time_point> last = {};  // frames of the last seconds; under mutex_
    double rate_fps(Clock::time_point now) const;
  };
  /// Written by the group's threads, one at a time, which do not wait.
  struct Group {
    std::atomic<std::int64_t> frames{0}, missed{0}, deadline_ns{0}, largest_ns{0};
    std::atomic<std::size_t> operation{0};
    Histogram response;
  };
  /// What had been done at a time.
  struct Sample {
    Clock::time_point at;
    std::vector<double> busy_s;        // by stage
    std::vector<std::int64_t> frames;  // by group
  };

  void begin(const std::string& name, Streams streams);
  void ask(FiguresNow& now, Clock::time_point at);
  void add_inputs(FiguresNow& now, Clock::time_point at);
  void add_groups(FiguresNow& now) const;
  void add_rates(FiguresNow& now, Clock::time_point at);

  std::mutex mutex_;                          // of all but what is atomic
  std::function<void(FiguresNow&)> ask_run_;  // none: there is no run
  std::function<Trace(Time)> ask_trace_;
  FiguresNow last_;  // of the run, when it was asked last
  std::deque<Sample> samples_;
  Clock::time_point start_ = Clock::now();
  Streams streams_;
  std::vector<std::unique_ptr<Input>> inputs_;  // by stream
  std::vector<application::DeploymentAtWork::Group> group_names_;
  std::vector<Group> groups_;  // with room for more; made once
  std::atomic<std::int64_t> skipped_{0};
};

}  // namespace millrace::serve
