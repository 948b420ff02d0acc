#pragma once
// Inside the room: one discrete-event run.
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "realtime/dispatch.h"
#include "realtime/simulate.h"
#include "realtime/structure.h"

namespace millrace::realtime {

class Run {
 public:
  Run(const TaskSystem& system, const Structure& structure, const Scenario& scenario, Trace* trace);

  /// Ends early after so much work().
  ScenarioResult result(std::int64_t most_work);
  /// Jobs that were looked at to choose the next one; what a run costs.
  std::int64_t work() const { return work_; }

 private:
  struct Arrival {
    Time due{}, comes{};
    Time begins{};  // as the flow's limit lets it
  };
  struct FlowState {
    std::vector<Arrival> events;
    std::size_t next = 0;
    std::vector<std::size_t> open;        // by event and task of the flow: what it waits for
    std::vector<std::size_t> unfinished;  // by event
  };
  struct Release {
    Time at{};
    TaskId task;
    std::int64_t event = 0;
  };

  void choose_events(FlowId flow);
  void hold_events(FlowId flow);
  Time lateness_of(FlowId flow, std::int64_t event);
  Time next_time() const;
  void end_pieces(Time now);
  void activate_flows(Time now);
  void activate(FlowId flow, std::int64_t event, Time now);
  void release_due(Time now);
  void release(TaskId task, std::int64_t event, Time now);
  void release_or_wait(TaskId task, std::int64_t event, Time now);
  std::vector<Time> kernels_of(TaskId task, std::int64_t event);
  void end_job(const TaskJob& job, Time now);
  void dispatch(ResourceId resource, Time now);
  void stop_piece(ResourceId resource, Time now);
  void record(const TaskJob& job, Time begin, Time end);
  std::size_t open_index(FlowId flow, TaskId task, std::int64_t event) const;

  const TaskSystem& system_;
  const Structure& structure_;
  const Scenario& scenario_;
  Trace* trace_;
  /// Among kernels that queue at the same time, one that queues again comes last; a job that is
  /// activated then comes before or after those that are there.
  static constexpr std::uint64_t first_queued = 1 << 20;
  std::uint64_t queued_ = first_queued;
  Random random_;
  std::vector<FlowState> flows_;
  std::vector<std::size_t> place_;  // by TaskId: in its flow
  std::vector<ResourceState> resources_;
  std::vector<Release> releases_;  // that an offset holds back
  std::int64_t work_ = 0;
  ScenarioResult result_;
};

}  // namespace millrace::realtime
