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

namespace millrace::runtime {

/// Each frame that was due is released or skipped, and each that was released is done or lost.
struct FrameCounts {
  std::int64_t due = 0;
  std::int64_t released = 0;
  std::int64_t skipped = 0;    // by policy: the frames before it were on their way
  std::int64_t stretched = 0;  // of those released: later than they were due, by policy
  std::int64_t done = 0;
  std::int64_t missed = 0;  // of those done: after their deadlines

  std::int64_t lost() const { return released - done; }
  FrameCounts& operator+=(const FrameCounts& other);
};

/// A group in one scenario at one level, in which its frames were due.
struct OperationRecord {
  deployment::Wanted at;
  FrameCounts frames;
  Time largest{};  // response
};

struct TaskRecord {
  std::string name, processor;
  CoreTimes times;  // on the core, without what others took; simulated: all of it
};

struct GroupRecord {
  std::string name;
  FrameCounts frames;
  ResponseTimes responses;                  // from when a frame was due to the end of its last task
  std::vector<Time> kept_responses;         // the first ones, if they are wanted
  std::vector<OperationRecord> operations;  // those in which a frame was due
  std::vector<TaskRecord> tasks;
  std::int64_t preemptions = 0;  // of its threads, by groups of higher priority and by the system
  /// The layer of its network that made NaN of numbers, as far as was noticed; empty: none.
  std::string nan_layer = {};
};

struct ProcessorRecord {
  std::string name;
  Time busy{};    // with tasks
  Time stolen{};  // by a hypervisor, as the kernel counts it
};

/// A transition lasts from the wish until the first frame of the new scenario can be released.
struct TransitionRecord {
  std::int64_t wished = 0, done = 0;
  std::int64_t replaced = 0;       // by a later wish, before they were done
  std::int64_t level_changes = 0;  // by the policy lower_rate
  std::int64_t extensions = 0;     // for groups that were added
  Time longest{};
  Time longest_bound{};           // the largest time that was left to the frames on their way
  std::int64_t beyond_bound = 0;  // lasted longer than what was left and the largest lateness
};

struct ControllerRecord {
  Time elapsed{};
  std::vector<GroupRecord> groups;          // by GroupId
  std::vector<ProcessorRecord> processors;  // those with tasks
  TransitionRecord transitions;
  ResponseTimes lateness;           // of the releases, by policy aside
  std::vector<Time> release_costs;  // the first ones, if they are wanted: see ReleaseCosts
  Verdict priorities = Verdict::yes(), locked_memory = Verdict::yes();
  std::vector<std::string> clocks_that_stay;  // with reasons
  Trace trace;
};

}  // namespace millrace::runtime
