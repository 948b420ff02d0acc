#pragma once
// Event models and events that came: which model bounds them, and where they break one.
#include <cstddef>
#include <optional>
#include <span>

#include "realtime/event_model.h"

namespace millrace::realtime {

/// The periodic model with the least jitter that allows these events: event n came from n * period
/// to n * period + jitter after a common begin, and none closer than the least distance.
/// Precondition: two at least, ascending.
EventModel fit_events(std::span<const Time> events);

/// Where events come as the model does not allow.
struct Breach {
  std::size_t event = 0;         // of those given
  std::size_t since = 0;         // the earlier event to which it is too close, or too far
  Time found{}, allowed{};       // the distance of the two, and its limit
  bool is_late = false;          // it is too far; else too close
  bool operator==(const Breach&) const = default;
};

/// The first event that is too close to an earlier one: then bounds of responses need not hold.
/// None: each delta-minus holds. Precondition: ascending.
std::optional<Breach> first_too_close(const EventModel& model, std::span<const Time> events);
/// The first one that comes later after the one before than the model's longest gap: then bounds of
/// chains need not hold.
std::optional<Breach> first_too_late(const EventModel& model, std::span<const Time> events);

}  // namespace millrace::realtime
