#include "dataflow/self_timed.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <tuple>

#include "dataflow/checked.h"

namespace millrace::dataflow {
namespace {

constexpr std::uint32_t all = std::numeric_limits<std::uint32_t>::max();
/// An event that only ends a firing: its tokens have events of their own.
constexpr std::uint32_t no_channel = all - 1;

}  // namespace

bool SelfTimed::Event::operator>(const Event& other) const {
  return std::tie(time, actor, phase, outgoing) >
         std::tie(other.time, other.actor, other.phase, other.outgoing);
}

SelfTimed::SelfTimed(const Graph& graph, const Component& component)
    : graph_(graph),
      component_(component),
      outgoing_(graph.actors.size()),
      incoming_(graph.actors.size()),
      phase_(graph.actors.size(), 0),
      ended_(graph.actors.size(), 0),
      running_(graph.actors.size(), 0),
      left_(graph.actors.size(), std::numeric_limits<std::int64_t>::max()),
      arrival_(graph.channels.size(), 0),
      overtakes_(graph.actors.size(), false),
      candidates_(component.actors.rbegin(), component.actors.rend()) {
  for (const Channel& channel : graph.channels) tokens_.push_back(channel.initial_tokens);
  for (std::size_t c : component.channels) {
    outgoing_[graph.channels[c].from.index].push_back(c);
    incoming_[graph.channels[c].to.index].push_back(c);
  }
  for (std::size_t actor : component.actors) overtakes_[actor] = may_overtake(graph.actors[actor]);
}

void SelfTimed::stop_after_round() {
  for (std::size_t at = 0; at < component_.actors.size(); ++at)
    left_[component_.actors[at]] = firings_per_round(graph_, component_, at);
}

bool SelfTimed::round_is_complete() const {
  return std::all_of(component_.actors.begin(), component_.actors.end(),
                     [&](std::size_t actor) { return left_[actor] == 0 && running_[actor] == 0; });
}

bool SelfTimed::can_start(std::size_t actor) const {
  if (left_[actor] == 0 || (running_[actor] > 0 && !graph_.actors[actor].concurrent)) return false;
  return std::all_of(incoming_[actor].begin(), incoming_[actor].end(), [&](std::size_t c) {
    return tokens_[c] >= graph_.channels[c].consumption[phase_[actor]];
  });
}

void SelfTimed::schedule(const Event& event) {
  events_.push_back(event);
  std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

void SelfTimed::start(std::size_t actor) {
  const std::size_t phase = phase_[actor];
  for (std::size_t c : incoming_[actor]) tokens_[c] -= graph_.channels[c].consumption[phase];
  const std::int64_t end = checked_add(now_, graph_.actors[actor].times[phase].count(),
                                       "the time of a self-timed execution");
  phase_[actor] = (phase + 1) % graph_.actors[actor].times.size();
  ++running_[actor];
  ++started_;
  --left_[actor];
  if (graph_.actors[actor].concurrent) candidates_.push_back(actor);
  Event event{end, static_cast<std::uint32_t>(actor), static_cast<std::uint32_t>(phase), all};
  if (overtakes_[actor]) {
    for (std::uint32_t out = 0; out < outgoing_[actor].size(); ++out) {
      const std::size_t c = outgoing_[actor][out];
      if (graph_.channels[c].production[phase] == 0) continue;
      arrival_[c] = std::max(arrival_[c], end);
      schedule({arrival_[c], event.actor, event.phase, out});
    }
    event.outgoing = no_channel;
  }
  schedule(event);
}

void SelfTimed::produce(std::size_t channel, std::size_t phase) {
  const Channel& at = graph_.channels[channel];
  tokens_[channel] = checked_add(tokens_[channel], at.production[phase], at.name);
  candidates_.push_back(at.to.index);
}

void SelfTimed::end(const Event& event) {
  const auto& outgoing = outgoing_[event.actor];
  if (event.outgoing < outgoing.size()) return produce(outgoing[event.outgoing], event.phase);
  if (event.outgoing == all)
    for (std::size_t c : outgoing) produce(c, event.phase);
  --running_[event.actor];
  ++ended_[event.actor];
  candidates_.push_back(event.actor);
}

void SelfTimed::settle(std::int64_t max_firings, std::int64_t at_once) {
  while (started_ <= max_firings && started_now() <= at_once) {
    if (!candidates_.empty()) {
      const std::size_t actor = candidates_.back();
      candidates_.pop_back();
      if (can_start(actor)) start(actor);
    } else if (!events_.empty() && events_.front().time == now_) {
      const Event event = events_.front();
      std::pop_heap(events_.begin(), events_.end(), std::greater<>());
      events_.pop_back();
      end(event);
    } else {
      return;
    }
  }
}

bool SelfTimed::advance() {
  if (events_.empty()) return false;
  if (events_.front().time > now_) started_before_ = started_;
  now_ = events_.front().time;
  return true;
}

std::size_t SelfTimed::state_size() const {
  return 1 + component_.actors.size() + component_.channels.size() +
         words_of_event * events_.size();
}

std::vector<std::int64_t> SelfTimed::outline() const {
  std::vector<std::int64_t> result{static_cast<std::int64_t>(events_.size())};
  for (std::size_t actor : component_.actors)
    result.push_back(static_cast<std::int64_t>(phase_[actor]));
  for (std::size_t c : component_.channels) result.push_back(tokens_[c]);
  return result;
}

std::vector<std::int64_t> SelfTimed::state() const {
  std::vector<std::int64_t> result = outline();
  std::vector<Event> events = events_;
  std::sort(events.begin(), events.end());
  for (const Event& event : events)
    for (const std::int64_t word : std::array<std::int64_t, words_of_event>{
             event.time - now_, event.actor, event.phase, event.outgoing})
      result.push_back(word);
  return result;
}

}  // namespace millrace::dataflow
