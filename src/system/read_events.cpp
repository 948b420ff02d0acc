#include "system/read_events.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "board/read_values.h"

namespace millrace::system {
namespace {

Time read_time(const YamlView& group, const char* key) {
  constexpr board::Bounds of_times{0, 1e9};
  if (!group.has(key)) return {};
  return Time(std::llround(board::read_number(group.at(key), of_times) * 1e6));
}

void add_time(nlohmann::ordered_json& group, const char* key, Time time) {
  if (time != Time{}) group[key] = milliseconds(time);
}

}  // namespace

Events read_events(const YamlView& group) {
  Events events;
  events.jitter = read_time(group, "jitter_ms");
  events.offset = read_time(group, "offset_ms");
  events.min_distance = read_time(group, "min_distance_ms");
  if (group.has("aperiodic")) events.aperiodic = group.at("aperiodic").boolean();
  if (group.has("sporadic")) events.sporadic = group.at("sporadic").boolean();
  if (group.has("burst"))
    events.burst = board::read_count(group.at("burst"), 1, most_frames_of_a_burst);
  if (group.has("burst_distance_ms") && events.burst == 1)
    group.at("burst_distance_ms")
        .fail("is between frames of a burst; add 'burst', or leave it out");
  events.burst_distance = read_time(group, "burst_distance_ms");
  return events;
}

std::optional<Budget> read_budget(const YamlView& group) {
  constexpr board::Bounds of_times{1e-3, 1e9};
  const auto time_at = [&](const char* key) {
    return Time(std::llround(board::read_number(group.at(key), of_times) * 1e6));
  };
  if (!group.has("budget_ms")) {
    if (group.has("budget_every_ms"))
      group.at("budget_every_ms").fail("is found without 'budget_ms'; add it, or leave this out");
    return std::nullopt;
  }
  Budget budget{.time = time_at("budget_ms")};
  if (group.has("budget_every_ms")) budget.every = time_at("budget_every_ms");
  return budget;
}

void add_budget(nlohmann::ordered_json& group, const std::optional<Budget>& budget) {
  if (!budget) return;
  group["budget_ms"] = milliseconds(budget->time);
  if (budget->every) group["budget_every_ms"] = milliseconds(*budget->every);
}

void add_events(nlohmann::ordered_json& group, const Events& events) {
  add_time(group, "jitter_ms", events.jitter);
  add_time(group, "offset_ms", events.offset);
  add_time(group, "min_distance_ms", events.min_distance);
  if (events.aperiodic) group["aperiodic"] = true;
  if (events.sporadic) group["sporadic"] = true;
  if (events.burst > 1) group["burst"] = events.burst;
  add_time(group, "burst_distance_ms", events.burst_distance);
}

}  // namespace millrace::system
