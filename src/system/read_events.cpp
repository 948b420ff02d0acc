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
  if (group.has("sporadic")) events.sporadic = group.at("sporadic").boolean();
  if (group.has("burst"))
    events.burst = board::read_count(group.at("burst"), 1, most_frames_of_a_burst);
  if (group.has("burst_distance_ms") && events.burst == 1)
    group.at("burst_distance_ms")
        .fail("is between frames of a burst; add 'burst', or leave it out");
  events.burst_distance = read_time(group, "burst_distance_ms");
  return events;
}

void add_events(nlohmann::ordered_json& group, const Events& events) {
  add_time(group, "jitter_ms", events.jitter);
  add_time(group, "offset_ms", events.offset);
  add_time(group, "min_distance_ms", events.min_distance);
  if (events.sporadic) group["sporadic"] = true;
  if (events.burst > 1) group["burst"] = events.burst;
  add_time(group, "burst_distance_ms", events.burst_distance);
}

}  // namespace millrace::system
