#include <algorithm>
#include <map>

#include "plan/steps.h"

namespace millrace::plan {
namespace {

/// How far apart things are in the pipeline. The caller takes part as two stages of one phase: one
/// that submits, before all others, and one that collects, behind them.
class Distances {
 public:
  explicit Distances(const Plan& plan) : plan_(plan), stages_(plan.stages.size() + 2) {
    find_levels();
    find_reach();
    find_begins();
  }

  /// Stages on the longest way between the channel's ends, both counted: a bound on the frames that
  /// are on this way at once when every stage is busy. Stages that feed each other in a circle
  /// share their frames, so together they count no more than there are of them.
  std::int64_t stages_between(const Channel& channel) const {
    const std::size_t from = writer(channel), to = reader(channel);
    const std::int64_t by_level = level_of(channel.to, true) - level_of(channel.from, false) + 1;
    return std::min(by_level, begins_[to] + circle_size(to) - begins_[from]);
  }

 private:
  std::size_t submitting() const { return plan_.stages.size(); }
  std::size_t collecting() const { return plan_.stages.size() + 1; }
  std::size_t writer(const Channel& channel) const {
    return channel.from.stage == Endpoint::outside ? submitting() : channel.from.stage;
  }
  std::size_t reader(const Channel& channel) const {
    return channel.to.stage == Endpoint::outside ? collecting() : channel.to.stage;
  }

  std::int64_t level_of(const Endpoint& end, bool reads) const {
    if (end.stage != Endpoint::outside) return levels_[end.stage][end.phase];
    return reads ? last_level_ + 1 : 0;
  }

  bool raise(std::int64_t& level, std::int64_t least) {
    const bool higher = level < least;
    level = std::max(level, least);
    return higher;
  }

  /// The level of a phase: hand-overs between stages on the longest way to it.
  void find_levels() {
    for (const Stage& stage : plan_.stages) levels_.emplace_back(stage.phases.size(), 1);
    bool changed = true;
    while (changed) {
      changed = false;
      for (const Channel& channel : plan_.channels)
        if (channel.to.stage != Endpoint::outside && channel.from.stage != channel.to.stage)
          changed |=
              raise(levels_[channel.to.stage][channel.to.phase], level_of(channel.from, false) + 1);
      for (auto& phases : levels_)
        for (std::size_t p = 1; p < phases.size(); ++p) changed |= raise(phases[p], phases[p - 1]);
    }
    for (const auto& phases : levels_) last_level_ = std::max(last_level_, phases.back());
  }

  void find_reach() {
    reach_.assign(stages_, std::vector<bool>(stages_, false));
    for (std::size_t s = 0; s < stages_; ++s) reach_[s][s] = true;
    for (const Channel& channel : plan_.channels) reach_[writer(channel)][reader(channel)] = true;
    for (std::size_t via = 0; via < stages_; ++via)
      for (std::size_t from = 0; from < stages_; ++from)
        if (reach_[from][via]) join_reach(from, via);
  }

  void join_reach(std::size_t from, std::size_t via) {
    for (std::size_t to = 0; to < stages_; ++to)
      if (reach_[via][to]) reach_[from][to] = true;
  }

  bool in_circle(std::size_t a, std::size_t b) const { return reach_[a][b] && reach_[b][a]; }

  std::int64_t circle_size(std::size_t stage) const {
    std::int64_t size = 0;
    for (std::size_t other = 0; other < stages_; ++other) size += in_circle(stage, other) ? 1 : 0;
    return size;
  }

  /// Stages on the longest way that ends before each stage's circle.
  void find_begins() {
    begins_.assign(stages_, 0);
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::size_t from = 0; from < stages_; ++from) changed |= push_back_followers(from);
    }
  }

  bool push_back_followers(std::size_t from) {
    bool changed = false;
    for (std::size_t to = 0; to < stages_; ++to) {
      const std::int64_t own = in_circle(from, to) ? 0 : circle_size(from);
      if (reach_[from][to]) changed |= raise(begins_[to], begins_[from] + own);
    }
    return changed;
  }

  const Plan& plan_;
  std::size_t stages_;
  std::vector<std::vector<std::int64_t>> levels_;  // by stage and phase
  std::int64_t last_level_ = 0;
  std::vector<std::vector<bool>> reach_;  // by stage: whom its frames get to
  std::vector<std::int64_t> begins_;      // by stage
};

}  // namespace

/// One slot is enough to be live: all phases of one frame, in the order in which they wait for each
/// other, then all of the next, is a schedule that never needs a second. For full speed a slot
/// must be free while later stages still read: with stages that take at most the period T, a frame
/// is held for at most T times the stages between the ends. A stage's own later phase is always
/// done before its earlier one comes again.
Plan size_channels(Plan plan, const Material& material) {
  const Distances distances(plan);
  const std::int64_t extra = material.options.capacity - 2;
  std::map<TensorId, std::int64_t> slots;
  for (const Channel& channel : plan.channels) {
    const bool own = channel.from.stage == channel.to.stage;
    const std::int64_t needed = own ? 1 : distances.stages_between(channel) + extra;
    std::int64_t& most = slots[channel.tensor];
    most = std::max({most, needed, std::int64_t{1}});
  }
  for (Channel& channel : plan.channels) channel.capacity = slots[channel.tensor];
  return plan;
}

}  // namespace millrace::plan
