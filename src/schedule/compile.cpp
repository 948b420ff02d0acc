#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plan/build.h"
#include "plan/steps.h"
#include "schedule/schedule.h"

namespace millrace::schedule {
namespace {

/// Rounded down for negative numbers too.
std::int64_t floor_of(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// From stages with replicas to actors, and from their channels to those between actors.
class Compiler {
 public:
  explicit Compiler(const plan::Plan& plan) : plan_(plan) {
    result_.name = plan.network_name;
    result_.first_free = plan::is_first_free(plan);
    result_.round = plan::round_of(plan);
    result_.batch = plan::batch_of(plan);
    result_.replicas = plan::replicas_of(plan);
  }

  Schedule compile() {
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) add_stage(s);
    name_lanes();
    for (std::size_t c = 0; c < plan_.channels.size(); ++c) add_channels(c);
    result_.most_in_flight = most_in_flight();
    add_credits();
    return std::move(result_);
  }

 private:
  void add_stage(std::size_t index) {
    const plan::Stage& stage = plan_.stages[index];
    first_actors_.push_back(result_.actors.size());
    for (std::size_t r = 0; r < stage.processors.size(); ++r) {
      Actor actor{index, r, plan::name_of(stage, r), stage.processors[r], {}, {}, {}};
      actor.frames = {static_cast<std::int64_t>(r), stage.replicas()};
      for (const plan::Phase& phase : stage.phases) {
        actor.phases.push_back({phase.offset, phase.batch});
        result_.largest_offset = std::max(result_.largest_offset, phase.offset);
      }
      result_.actors.push_back(std::move(actor));
    }
  }

  void name_lanes() {
    std::map<std::string, std::size_t> actors, named;
    for (const Actor& actor : result_.actors) ++actors[actor.processor.name];
    for (Actor& actor : result_.actors) {
      const std::string& name = actor.processor.name;
      actor.lane = actors[name] == 1 ? name : fmt::format("{}.{}", name, named[name]++);
    }
  }

  /// A replica has channels from and to all replicas of other stages that meet it, because they
  /// work on the same frames.
  void add_channels(std::size_t edge) {
    const plan::Channel& planned = plan_.channels[edge];
    const std::int64_t replicas = plan::replicas_of(plan_, planned);
    for (std::int64_t r = 0; r < replicas; ++r) {
      Channel channel{planned.tensor, end_of(planned.from, r), end_of(planned.to, r), {}};
      channel.frames = {r, replicas};
      channel.capacity = planned.capacity / replicas;
      channel.initial_tokens = initial_tokens(planned, channel.frames);
      channel.edge = edge;
      channel.space = planned.space;
      result_.channels.push_back(channel);
    }
  }

  End end_of(const plan::Endpoint& end, std::int64_t replica) const {
    if (end.is_outside()) return {};
    const std::int64_t own = replica % plan_.stages[end.stage].replicas();
    return {first_actors_[end.stage] + static_cast<std::size_t>(own), end.phase};
  }

  /// A writer makes frames from -(its offset) on, a reader begins with -(its offset), each with the
  /// first one after that which the channel carries.
  std::int64_t initial_tokens(const plan::Channel& channel, const Frames& frames) const {
    const std::int64_t writer =
        channel.from.is_outside()
            ? 0
            : plan_.stages[channel.from.stage].phases[channel.from.phase].offset;
    const auto before = [&](std::int64_t offset) {
      return floor_of(offset + frames.first, frames.step);
    };
    return before(writer + plan::offset_of(plan_, channel)) - before(writer);
  }

  /// With first-free replicas no two frames may have the same slot; else each channel sees to that.
  std::int64_t most_in_flight() const {
    std::int64_t most = frames_held(result_);
    if (result_.first_free)
      for (const plan::Channel& channel : plan_.channels) most = std::min(most, channel.capacity);
    return most;
  }

  void add_credits() {
    std::size_t edge = plan_.channels.size();
    for (std::size_t s = 0; s < plan_.stages.size(); ++s)
      for (std::size_t p = 0; p < plan_.stages[s].phases.size(); ++p, ++edge) {
        const plan::Endpoint to{s, p};
        if (std::any_of(plan_.channels.begin(), plan_.channels.end(),
                        [&](const plan::Channel& channel) { return channel.to == to; }))
          continue;
        for (std::int64_t r = 0; r < plan_.stages[s].replicas(); ++r) {
          const End end = end_of(to, r);
          result_.credits.push_back({TensorId(),
                                     {},
                                     end,
                                     result_.actors[end.actor].frames,
                                     frames_held(result_),
                                     0,
                                     edge});
        }
      }
  }

  const plan::Plan& plan_;
  std::vector<std::size_t> first_actors_;  // by stage
  Schedule result_;
};

}  // namespace

std::int64_t frames_held(const Schedule& schedule) {
  std::int64_t most = 1;
  for (const Channel& channel : schedule.channels)
    most = std::min(most + channel.capacity, most_tokens + 1);
  return most;
}

Schedule compile(const plan::Plan& plan) { return Compiler(plan).compile(); }

}  // namespace millrace::schedule
