#include "realtime/fit_events.h"

#include <algorithm>
#include <vector>

#include "realtime/cause_effect.h"

namespace millrace::realtime {
namespace {

/// The latest event after n * period less the earliest one.
Time jitter_at(std::span<const Time> events, Time period) {
  Time least = events[0], most = events[0];
  for (std::size_t n = 0; n < events.size(); ++n) {
    const Time after = events[n] - period * static_cast<std::int64_t>(n);
    least = std::min(least, after);
    most = std::max(most, after);
  }
  return most - least;
}

/// Jitter is a convex function of the period. Its least value is between the least and the largest
/// distance; on a level part any period is as good.
Time best_period(std::span<const Time> events, Time low, Time high) {
  while (low < high) {
    const Time middle = low + (high - low) / 2;
    if (jitter_at(events, middle) <= jitter_at(events, middle + Time{1}))
      high = middle;
    else
      low = middle + Time{1};
  }
  return low;
}

/// Events whose numbers are alike modulo a burst: the one that forbids most, as its time less the
/// periods of bursts before it.
struct Anchor {
  Time from = Time::min();
  std::size_t event = 0;
};

class TooClose {
 public:
  TooClose(const EventModel& model, std::span<const Time> events)
      : model_(model), events_(events), anchors_(static_cast<std::size_t>(model.burst)) {}

  /// The earlier event to which this one is too close. Events are looked at in order.
  std::optional<std::size_t> look_at(std::size_t event) {
    const std::size_t burst = anchors_.size(), place = event % burst;
    const Time periods = model_.period * static_cast<std::int64_t>(event / burst);
    std::optional<std::size_t> found;
    for (std::size_t p = 0; p < burst && !found; ++p) {
      if (anchors_[p].from == Time::min()) continue;
      // Bursts between the two, and places within one.
      const Time before = p > place ? model_.period : Time{};
      const auto places = static_cast<std::int64_t>((place + burst - p) % burst);
      const Time due = anchors_[p].from + periods - before + model_.burst_distance * places;
      if (events_[event] < due - model_.jitter) found = anchors_[p].event;
    }
    Anchor& own = anchors_[place];
    if (events_[event] - periods > own.from) own = {events_[event] - periods, event};
    return found;
  }

 private:
  const EventModel& model_;
  std::span<const Time> events_;
  std::vector<Anchor> anchors_;  // by place in a burst
};

}  // namespace

EventModel fit_events(std::span<const Time> events) {
  Time least = Time::max(), most{};
  for (std::size_t n = 1; n < events.size(); ++n) {
    least = std::min(least, events[n] - events[n - 1]);
    most = std::max(most, events[n] - events[n - 1]);
  }
  EventModel model;
  model.period = std::max(Time{1}, best_period(events, least, most));
  model.jitter = jitter_at(events, model.period);
  model.min_distance = std::min(least, model.period);
  return model;
}

std::optional<Breach> first_too_close(const EventModel& model, std::span<const Time> events) {
  TooClose before(model, events);
  for (std::size_t n = 0; n < events.size(); ++n) {
    std::optional<std::size_t> since = before.look_at(n);
    if (n > 0 && events[n] - events[n - 1] < model.distance(2)) since = n - 1;
    if (since)
      return Breach{n, *since, events[n] - events[*since],
                    model.distance(static_cast<std::int64_t>(n - *since) + 1), false};
  }
  return std::nullopt;
}

std::optional<Breach> first_too_late(const EventModel& model, std::span<const Time> events) {
  const std::optional<Time> longest = longest_gap(model);
  for (std::size_t n = 1; longest && n < events.size(); ++n)
    if (events[n] - events[n - 1] > *longest)
      return Breach{n, n - 1, events[n] - events[n - 1], *longest, true};
  return std::nullopt;
}

}  // namespace millrace::realtime
