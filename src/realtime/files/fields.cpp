#include "realtime/files/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/file.h"
#include "realtime/checked.h"

namespace millrace::realtime {
namespace {

bool is_decimal(std::string_view text) {
  const auto point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view part = point == std::string_view::npos ? "0" : text.substr(point + 1);
  const auto digits = [](std::string_view s) {
    return !s.empty() &&
           std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  return digits(whole) && digits(part);
}

template <class Values>
std::string nearest(const Values& values, const std::string& name) {
  std::vector<std::string_view> names;
  for (const auto& value : values) names.push_back(value.name);
  return did_you_mean(name, names);
}

std::string with_unit(Time time, const TimeUnit& unit) {
  return to_text(time, unit) + (unit.name.empty() ? "" : " ") + unit.name;
}

}  // namespace

Time time_of(const YamlView& view, const TimeUnit& unit) {
  const std::string text = view.scalar();
  if (!is_decimal(text))
    view.fail(fmt::format("found '{}', expected a time such as 12 or 0.5", text));
  __int128 ticks = 0, over = 1;
  bool after_point = false;
  for (const char c : text) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    ticks = ticks * 10 + (c - '0');
    if (after_point) over *= 10;
    if (ticks > static_cast<__int128>(1) << 90 || over > static_cast<__int128>(1) << 90)
      view.fail(fmt::format("found '{}', which has too many digits", text));
  }
  ticks *= unit.ticks;
  if (ticks % over != 0)
    view.fail(fmt::format("found '{}', which is no whole number of nanoseconds", text));
  if (ticks / over > longest_time.count())
    view.fail(fmt::format("found '{}', which is longer than 2^50 ns, 13 days", text));
  return Time(static_cast<std::int64_t>(ticks / over));
}

std::optional<Time> time_at(const YamlView& view, std::string_view key, const TimeUnit& unit) {
  if (!view.has(key)) return std::nullopt;
  return time_of(view.at(key), unit);
}

void check_best(const YamlView& view, std::string_view key, const Task& task,
                const TimeUnit& unit) {
  if (task.best > task.worst)
    view.at(key).fail(
        fmt::format("the best-case time {} of task '{}' exceeds its worst-case time {}; swap them",
                    with_unit(task.best, unit), task.name, with_unit(task.worst, unit)));
}

void check_distance(const YamlView& view, std::string_view key, const EventModel& events,
                    const TimeUnit& unit) {
  const Time due =
      events.burst == 1 ? events.period : std::min(events.burst_distance, events.period);
  if (view.has(key) && events.min_distance > due)
    view.at(key).fail(
        fmt::format("found {}, longer than the {} at which its events are due; give a shorter one",
                    with_unit(events.min_distance, unit), with_unit(due, unit)));
}

int decimals_of(const YamlNode& root) {
  std::size_t most = 0;
  if (root.kind == YamlNode::Kind::scalar && !root.quoted && is_decimal(root.text)) {
    const auto point = root.text.find('.');
    if (point != std::string::npos) most = root.text.size() - point - 1;
  }
  int result = static_cast<int>(std::min<std::size_t>(most, 9));
  for (const YamlNode& item : root.items) result = std::max(result, decimals_of(item));
  return result;
}

ResourceId resource_named(const TaskSystem& system, const YamlView& view) {
  const std::string name = view.scalar();
  for (std::size_t r = 0; r < system.resources.size(); ++r)
    if (system.resources[r].name == name) return ResourceId(r);
  view.fail(fmt::format("there is no resource '{}'{}", name, nearest(system.resources, name)));
}

TaskId task_named(const TaskSystem& system, const YamlView& view) {
  const std::string name = view.scalar();
  for (std::size_t t = 0; t < system.tasks.size(); ++t)
    if (system.tasks[t].name == name) return TaskId(t);
  view.fail(fmt::format("there is no task '{}' before this{}", name, nearest(system.tasks, name)));
}

}  // namespace millrace::realtime
