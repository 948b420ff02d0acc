#pragma once
// Inside the folder: fields that both forms of files have.
#include <optional>
#include <string_view>

#include "realtime/files/task_file.h"

namespace millrace::realtime {

/// A decimal number in the unit, exactly. Fails if it is negative, no whole number of ticks, or
/// too long.
Time time_of(const YamlView& view, const TimeUnit& unit);
/// Time of a field that may be absent.
std::optional<Time> time_at(const YamlView& view, std::string_view key, const TimeUnit& unit);

/// The digits after the point of the number with the most of them, at most 9.
int decimals_of(const YamlNode& root);

/// Fails if it is longer than the worst-case time; `view` has the best one at `key`, or none.
void check_best(const YamlView& view, std::string_view key, const Task& task, const TimeUnit& unit);
/// Fails if events are due closer to each other than they may come.
void check_distance(const YamlView& view, std::string_view key, const EventModel& events,
                    const TimeUnit& unit);

ResourceId resource_named(const TaskSystem& system, const YamlView& name);
TaskId task_named(const TaskSystem& system, const YamlView& name);

TaskSystem read_own_form(const YamlView& root, const TimeUnit& unit);
/// pyCPA's and MAST's words.
TaskSystem read_tool_form(const YamlView& root, const TimeUnit& unit);

}  // namespace millrace::realtime
