#include "analysis/channel_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "schedule/schedule.h"

namespace millrace::analysis {
namespace {

using schedule::End;

struct Moments {
  Time begin{}, end{};
};

/// When frames were worked on, by actor and phase; for the caller when they came and went.
class Diary {
 public:
  explicit Diary(const Trace& trace) {
    for (const TraceFiring& firing : trace.firings)
      for (std::int64_t i = 0; i < firing.count; ++i) {
        auto& frames = moments_[{firing.stage, firing.phase}];
        const auto [at, fresh] =
            frames.try_emplace(firing.frame + i * firing.step, Moments{firing.begin, {}});
        at->second.end = firing.end;
      }
    for (const TraceFrame& frame : trace.frames)
      moments_[{End::outside, 0}][frame.frame] = {frame.completed, frame.submitted};
  }

  const std::map<std::int64_t, Moments>& of(const End& end) const {
    static const std::map<std::int64_t, Moments> none;
    const auto found = moments_.find({end.actor, end.is_outside() ? std::size_t{0} : end.phase});
    return found == moments_.end() ? none : found->second;
  }

 private:
  std::map<std::pair<std::size_t, std::size_t>, std::map<std::int64_t, Moments>> moments_;
};

std::string end_name(const schedule::Schedule& schedule, const End& end, const char* outside) {
  if (end.is_outside()) return outside;
  const schedule::Actor& actor = schedule.actors[end.actor];
  if (actor.phases.size() == 1) return actor.name;
  return fmt::format("{}, phase {}", actor.name, end.phase);
}

ChannelWait wait_between(const schedule::Schedule& schedule, const schedule::Channel& channel,
                         const Diary& diary) {
  ChannelWait wait{end_name(schedule, channel.from, "input"),
                   end_name(schedule, channel.to, "output")};
  const auto& made = diary.of(channel.from);
  Time sum{};
  for (const auto& [frame, read] : diary.of(channel.to)) {
    const auto at = made.find(frame);
    if (at == made.end()) continue;
    const Time waited = std::max(Time{}, read.begin - at->second.end);
    sum += waited;
    wait.longest = std::max(wait.longest, waited);
    ++wait.frames;
  }
  if (wait.frames > 0) wait.mean = sum / wait.frames;
  return wait;
}

}  // namespace

std::vector<ChannelWait> channel_waits(const plan::Plan& plan, const Trace& trace) {
  const schedule::Schedule schedule = schedule::compile(plan);
  const Diary diary(trace);
  std::vector<ChannelWait> result;
  std::vector<std::pair<End, End>> seen;
  for (const schedule::Channel& channel : schedule.channels) {
    const std::pair ends{channel.from, channel.to};
    if (std::find(seen.begin(), seen.end(), ends) != seen.end()) continue;
    seen.push_back(ends);
    result.push_back(wait_between(schedule, channel, diary));
  }
  return result;
}

}  // namespace millrace::analysis
