#pragma once
// What a controller did with a deployment.
#include <cstdint>
#include <string>
#include <vector>

#include "base/trace.h"
#include "base/verdict.h"
#include "deployment/script.h"
#include "runtime/controller/response_times.h"
#include "runtime/session.h"
#include "schedule/release_machine.h"

namespace millrace::runtime {

/// A group in one scenario at one level, in which its frames were due.
struct OperationRecord {
  deployment::Wanted at;
  schedule::FrameCounts frames;
  Time largest{};  // response
};

struct TaskRecord {
  std::string name, processor;
  CoreTimes times;  // on the core, without what others took; simulated: all of it
};

struct GroupTasks {
  std::string group;
  std::vector<TaskRecord> tasks;
};

struct GroupRecord {
  std::string name;
  schedule::FrameCounts frames;
  ResponseTimes responses;                  // from when a frame was due to the end of its last task
  std::vector<Time> kept_responses;         // the first ones, if they are wanted
  std::vector<OperationRecord> operations;  // those in which a frame was due
  std::vector<TaskRecord> tasks;
  std::int64_t overruns = 0;  // frames after which its budget was missing time
  Time longest_overrun{};
  std::int64_t preemptions = 0;  // of its threads, by groups of higher priority and by the system
  /// The layer of its network that made NaN of numbers, as far as was noticed; empty: none.
  std::string nan_layer = {};
};

struct ProcessorRecord {
  std::string name;
  Time busy{};    // with tasks
  Time stolen{};  // by a hypervisor, as the kernel counts it
};

struct TransitionRecord : schedule::TransitionCounts {
  std::int64_t beyond_bound = 0;  // lasted longer than what was left and the largest lateness
};

struct ControllerRecord {
  Time elapsed{};
  Time start{};  // from the begin of the process to the first release; in steps of 10 ms
  std::vector<GroupRecord> groups;          // by GroupId
  std::vector<ProcessorRecord> processors;  // those with tasks
  TransitionRecord transitions;
  ResponseTimes lateness;           // of the releases, by policy aside
  std::vector<Time> release_costs;  // the first ones, if they are wanted: see ReleaseCosts
  Verdict priorities = Verdict::yes(), locked_memory = Verdict::yes();
  /// No: SCHED_DEADLINE was asked for the release thread, and refused.
  Verdict release_deadline = Verdict::yes();
  std::vector<std::string> clocks_that_stay;  // with reasons
  std::vector<std::string> heat;              // what showed that processors were slowed down
  Trace trace;
};

}  // namespace millrace::runtime
