#include <algorithm>
#include <map>
#include <tuple>

#include "plan/build.h"
#include "plan/steps.h"
#include "schedule/schedule.h"

namespace millrace::schedule {
namespace {

Frames frames_of(const plan::Turn& turn) { return {turn.index, turn.of}; }

End end_of(const plan::Endpoint& end) {
  if (end.is_outside()) return {};
  return {end.stage, end.phase};
}

Actor actor_of(const plan::Plan& plan, std::size_t index) {
  const plan::Stage& stage = plan.stages[index];
  Actor actor{index, stage.name, stage.processor, frames_of(stage.turn), {}};
  for (const plan::Phase& phase : stage.phases) actor.phases.push_back({phase.lag, phase.batch});
  return actor;
}

/// Numbers of edges: channels to, or from, the replicas of a stage are one.
class Edges {
 public:
  explicit Edges(const plan::Plan& plan) : plan_(plan) {}

  std::size_t of(TensorId tensor, const plan::Endpoint& from, const plan::Endpoint& to) {
    const Key key{tensor, first_replica(from), from.phase, first_replica(to), to.phase};
    return numbers_.try_emplace(key, numbers_.size()).first->second;
  }

 private:
  using Key = std::tuple<TensorId, std::size_t, std::size_t, std::size_t, std::size_t>;

  std::size_t first_replica(const plan::Endpoint& end) const {
    if (end.is_outside() || plan_.stages[end.stage].turn.of == 1) return end.stage;
    const auto& layers = plan_.stages[end.stage].phases[0].layers;
    const auto first =
        std::find_if(plan_.stages.begin(), plan_.stages.end(), [&](const plan::Stage& other) {
          return other.turn.of > 1 && other.phases[0].layers == layers;
        });
    return static_cast<std::size_t>(first - plan_.stages.begin());
  }

  const plan::Plan& plan_;
  std::map<Key, std::size_t> numbers_;
};

void add_tickets(Schedule& schedule, Edges& edges) {
  for (std::size_t a = 0; a < schedule.actors.size(); ++a)
    for (std::size_t p = 0; p < schedule.actors[a].phases.size(); ++p) {
      const End to{a, p};
      if (std::any_of(schedule.channels.begin(), schedule.channels.end(),
                      [&](const Channel& channel) { return channel.to == to; }))
        continue;
      schedule.tickets.push_back({TensorId(),
                                  {},
                                  to,
                                  schedule.actors[a].frames,
                                  frames_held(schedule),
                                  0,
                                  edges.of(TensorId(), {}, {schedule.actors[a].stage, p})});
    }
}

/// With first-free replicas no two frames may have the same slot; else each channel sees to that.
std::int64_t most_in_flight(const Schedule& schedule) {
  std::int64_t most = frames_held(schedule);
  if (schedule.first_free)
    for (const Channel& channel : schedule.channels)
      most = std::min(most, channel.capacity * channel.frames.step);
  return most;
}

}  // namespace

std::int64_t frames_held(const Schedule& schedule) {
  std::int64_t most = 1;
  for (const Channel& channel : schedule.channels)
    most = std::min(most + channel.capacity, most_tokens + 1);
  return most;
}

Schedule compile(const plan::Plan& plan) {
  Schedule schedule{.name = plan.network_name,
                    .first_free = plan::is_shared(plan),
                    .round = plan::round_of(plan),
                    .batch = plan::batch_of(plan),
                    .replicas = plan::turns_of(plan)};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    schedule.actors.push_back(actor_of(plan, s));
    for (const Phase& phase : schedule.actors.back().phases)
      schedule.largest_offset = std::max(schedule.largest_offset, phase.offset);
  }
  Edges edges(plan);
  for (const plan::Channel& channel : plan.channels) {
    const Frames frames = frames_of(plan::turn_of(plan, channel));
    schedule.channels.push_back({channel.tensor, end_of(channel.from), end_of(channel.to), frames,
                                 channel.capacity / frames.step,
                                 plan::initial_tokens(plan, channel),
                                 edges.of(channel.tensor, channel.from, channel.to)});
  }
  schedule.most_in_flight = most_in_flight(schedule);
  add_tickets(schedule, edges);
  return schedule;
}

}  // namespace millrace::schedule
