#pragma once
// A plan made ready to run: prepared phases, channels, memory. No threads yet.
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "network/network.h"
#include "plan/capacities.h"
#include "runtime/actor.h"
#include "runtime/channel.h"
#include "runtime/preparation.h"
#include "runtime/session.h"
#include "runtime/slots.h"

namespace millrace::runtime {

/// Where the caller puts a network input.
struct Inlet {
  Slots* slots = nullptr;
  std::vector<Link> links;  // none: no layer reads it
};

/// Says that a tensor that is a result is ready.
struct Outlet {
  TensorId tensor;
  Link link;
  bool from_caller = false;  // an input that is a result as well
  TimeStamps ready;
};

struct Pipeline {
  std::unique_ptr<EventCount> event_count =
      std::make_unique<EventCount>();              // of the caller's side of all channels
  std::vector<std::unique_ptr<Slots>> slots;       // by tensor, in the host's memory; null: none
  std::map<plan::SlotsKey, Slots> device_slots;    // in the memory spaces of devices
  std::vector<std::unique_ptr<Channel>> channels;  // all there are
  std::vector<std::unique_ptr<StageTask>> stages;  // in the order of the plan
  std::vector<Inlet> inlets;                       // in the order of network.inputs
  std::vector<Link> credits;                       // of phases that have no other input
  std::vector<std::unique_ptr<Outlet>> outlets;    // each result that is not a constant, once
  std::unique_ptr<Shared> shared;                  // if whoever is free takes a frame; else null
  Channel* submitted = nullptr;                    // from the caller to itself: frames on their way
  std::int64_t submitted_capacity = 0;
  std::int64_t depth = 0;  // the smallest capacity
  std::int64_t largest_offset = 0;
  std::int64_t round = 1;  // as the schedule has it
  std::int64_t trace_frames = 0;
  bool has_priorities = false;
};

/// See deploy().
Pipeline assemble(const PlanToRun& given, const SessionOptions& options);

}  // namespace millrace::runtime
