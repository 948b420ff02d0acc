#include "dataflow/self_timed.h"

#include <algorithm>

#include "dataflow/checked.h"

namespace millrace::dataflow {

SelfTimed::SelfTimed(const Graph& graph, const Neighbours& near, std::vector<std::size_t> part)
    : graph_(graph),
      near_(near),
      part_(std::move(part)),
      phase_(graph.actors.size(), 0),
      ended_(graph.actors.size(), 0),
      end_time_(graph.actors.size(), -1),
      candidates_(part_.rbegin(), part_.rend()) {
  for (const Channel& channel : graph.channels) tokens_.push_back(channel.initial_tokens);
}

bool SelfTimed::can_start(std::size_t actor) const {
  if (end_time_[actor] >= 0) return false;
  const auto& incoming = near_.incoming[actor];
  return std::all_of(incoming.begin(), incoming.end(), [&](std::size_t c) {
    return tokens_[c] >= graph_.channels[c].consumption[phase_[actor]];
  });
}

void SelfTimed::start(std::size_t actor) {
  for (std::size_t c : near_.incoming[actor])
    tokens_[c] -= graph_.channels[c].consumption[phase_[actor]];
  const Time time = graph_.actors[actor].times[phase_[actor]];
  end_time_[actor] = checked_add(now_, time.count(), graph_.name);
  running_.push({end_time_[actor], actor});
  ++started_;
}

void SelfTimed::end(std::size_t actor) {
  for (std::size_t c : near_.outgoing[actor]) {
    const Channel& channel = graph_.channels[c];
    tokens_[c] = checked_add(tokens_[c], channel.production[phase_[actor]], channel.name);
    candidates_.push_back(channel.to.index);
  }
  phase_[actor] = (phase_[actor] + 1) % graph_.actors[actor].times.size();
  end_time_[actor] = -1;
  ++ended_[actor];
  candidates_.push_back(actor);
}

void SelfTimed::settle(std::int64_t max_firings) {
  while (started_ <= max_firings) {
    if (!candidates_.empty()) {
      const std::size_t actor = candidates_.back();
      candidates_.pop_back();
      if (can_start(actor)) start(actor);
    } else if (!running_.empty() && running_.top().time == now_) {
      const std::size_t actor = running_.top().actor;
      running_.pop();
      end(actor);
    } else {
      return;
    }
  }
}

bool SelfTimed::advance() {
  if (running_.empty()) return false;
  now_ = running_.top().time;
  return true;
}

std::vector<std::int64_t> SelfTimed::state() const {
  std::vector<std::int64_t> result;
  for (std::size_t actor : part_) {
    result.push_back(static_cast<std::int64_t>(phase_[actor]));
    result.push_back(end_time_[actor] < 0 ? -1 : end_time_[actor] - now_);
    for (std::size_t c : near_.incoming[actor]) result.push_back(tokens_[c]);
  }
  return result;
}

}  // namespace millrace::dataflow
