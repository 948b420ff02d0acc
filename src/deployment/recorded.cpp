#include "deployment/recorded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/trace.h"
#include "deployment/events.h"
#include "deployment/ros_trace.h"
#include "realtime/fit_events.h"

namespace millrace::deployment {
namespace {

constexpr double longest_record = 1e6;  // seconds
constexpr const char* map_word = "map";

std::optional<std::size_t> group_named(const system::System& system, const std::string& name) {
  const auto found = std::ranges::find(system.groups, name, &system::Group::name);
  if (found == system.groups.end()) return std::nullopt;
  return static_cast<std::size_t>(found - system.groups.begin());
}

[[noreturn]] void fail_at_group(const system::System& system, const std::string& name,
                                const std::string& place) {
  std::vector<std::string_view> known;
  for (const system::Group& group : system.groups) known.push_back(group.name);
  throw InputError(place, fmt::format("the system has no group '{}', only {}{}", name,
                                      fmt::join(known, ", "), did_you_mean(name, known)));
}

/// The lines of one file.
class RecordReader {
 public:
  RecordReader(const std::string& file, const system::System& system)
      : file_(file), system_(system), releases_(system.groups.size()) {}

  RecordedReleases read(const std::string& content) {
    std::istringstream lines(content);
    std::int64_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      place_ = fmt::format("{}: line {}", file_, ++number);
      if (!trace_.read_line(line)) read_own(line.substr(0, line.find('#')));
    }
    if (!trace_.is_empty()) take_trace();
    return std::move(releases_);
  }

 private:
  void read_own(const std::string& line) {
    std::istringstream words(line);
    std::string first, name;
    if (!(words >> first)) return;
    if (first == map_word) return read_map(words);
    std::istringstream number(first);
    double at = 0;
    std::getline(words >> std::ws, name);
    name.erase(name.find_last_not_of(" \t\r") + 1);
    if (!(number >> at) || !number.eof() || !(at >= 0) || at > longest_record || name.empty())
      throw InputError(place_, fmt::format("found '{}', expected a time in seconds and a group, "
                                           "such as 2.5 {}, or a line of ROS 2's tracing",
                                           line, system_.groups.front().name));
    releases_[group_at(name)].push_back(time_from_seconds(at));
  }

  void read_map(std::istringstream& words) {
    std::string name, key;
    words >> name;
    std::getline(words >> std::ws, key);
    key.erase(key.find_last_not_of(" \t\r") + 1);
    if (!trace_.set_key(group_at(name), key))
      throw InputError(place_, fmt::format("found the key '{}', expected callback=0xADDRESS, "
                                           "symbol=TEXT or topic=/NAME",
                                           key));
  }

  std::size_t group_at(const std::string& name) const {
    const auto found = group_named(system_, name);
    if (!found) fail_at_group(system_, name, place_);
    return *found;
  }

  /// From the first release of a group on. A group without a key has the topic of its name.
  void take_trace() {
    Time begin = Time::max();
    std::vector<std::size_t> mapped;
    for (std::size_t g = 0; g < releases_.size(); ++g) {
      const std::string topic = "topic=/" + system_.groups[g].name;
      const bool is_told = trace_.has_key(g);
      if (!is_told) trace_.set_key(g, topic);
      std::vector<Time> found = trace_.releases(g);
      if (found.empty() && is_told)
        throw InputError(file_, fmt::format("has no ros2:callback_start of group '{}' as its line "
                                            "'{}' says; look at the key",
                                            system_.groups[g].name, map_word));
      if (found.empty()) continue;
      begin = std::min(begin, found.front());
      mapped.push_back(g);
      releases_[g] = std::move(found);
    }
    for (const std::size_t g : mapped)
      for (Time& at : releases_[g]) at -= begin;
  }

  const std::string& file_;
  const system::System& system_;
  RosTrace trace_;
  RecordedReleases releases_;
  std::string place_;
};

RecordedReleases of_own_trace(const std::filesystem::path& path, const system::System& system) {
  const Trace trace = read_chrome_trace(path);
  RecordedReleases releases(system.groups.size());
  for (const TraceFrame& frame : trace.frames)
    if (const auto group = group_named(system, trace.plans.at(frame.plan)))
      releases[*group].push_back(std::max(Time{}, frame.released));
  return releases;
}

bool is_json(const std::string& content) {
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return false;
  const std::size_t second = content.find_first_not_of(" \t\r\n", first + 1);
  // The line of a ROS 2 trace begins with '[' and a time.
  return content[first] == '{' || (content[first] == '[' && second != std::string::npos &&
                                   (content[second] == '{' || content[second] == ']'));
}

std::string breach_text(const std::vector<Time>& releases, const realtime::Breach& breach) {
  return fmt::format("release {} at {:.6f} s comes {} after release {}, and its events allow {} {}",
                     breach.event, seconds(releases[breach.event]), millrace::to_text(breach.found),
                     breach.since, breach.is_late ? "at most" : "at least",
                     millrace::to_text(breach.allowed));
}

std::string recorded_text(const system::Group& group, const std::vector<Time>& releases) {
  if (releases.size() < 2)
    return fmt::format("group '{}': {} recorded", group.name,
                       counted(releases.size(), "release"));
  Time longest{};
  for (std::size_t n = 1; n < releases.size(); ++n)
    longest = std::max(longest, releases[n] - releases[n - 1]);
  const realtime::EventModel model = realtime::fit_events(releases);
  return fmt::format("group '{}': {} recorded, {} to {} apart; a period of {} and a jitter of {} "
                     "bound them",
                     group.name, counted(releases.size(), "release"),
                     millrace::to_text(model.min_distance), millrace::to_text(longest),
                     millrace::to_text(model.period), millrace::to_text(model.jitter));
}

}  // namespace

RecordedReleases read_recorded(const std::filesystem::path& path, const system::System& system) {
  const std::string content = read_file(path), file = path.string();
  RecordedReleases releases =
      is_json(content) ? of_own_trace(path, system) : RecordReader(file, system).read(content);
  for (std::vector<Time>& each : releases) std::ranges::sort(each);
  if (std::ranges::all_of(releases, [](const auto& each) { return each.empty(); }))
    throw InputError(file, fmt::format("has no release of a group of the system, such as '{}'; "
                                       "name groups in its lines, or map callbacks to them",
                                       system.groups.front().name));
  return releases;
}

system::System with_recorded_events(system::System system, const RecordedReleases& recorded) {
  for (std::size_t g = 0; g < recorded.size(); ++g) {
    if (recorded[g].size() < 2) continue;
    system::Group& group = system.groups[g];
    const realtime::EventModel model = realtime::fit_events(recorded[g]);
    group.deadline = deadline_of(system, system::GroupId(g), system.levels - 1);
    const double rate = 1e9 / static_cast<double>(model.period.count());
    group.rates = {rate, rate};
    group.events = {.jitter = model.jitter, .min_distance = model.min_distance};
  }
  return system;
}

std::vector<std::string> recorded_texts(const system::System& system,
                                        const RecordedReleases& recorded) {
  std::vector<std::string> texts;
  for (std::size_t g = 0; g < recorded.size(); ++g) {
    const system::Group& group = system.groups[g];
    if (recorded[g].empty()) {
      texts.push_back(
          fmt::format("group '{}': not recorded, so it comes as the system says", group.name));
      continue;
    }
    texts.push_back(recorded_text(group, recorded[g]));
    if (group.events.aperiodic) continue;
    const auto events = events_of(system, system::GroupId(g), system.levels - 1);
    if (const auto breach = realtime::first_too_close(events, recorded[g]))
      texts.push_back(fmt::format("group '{}': {}; bounds need not hold", group.name,
                                  breach_text(recorded[g], *breach)));
    else if (const auto late = realtime::first_too_late(events, recorded[g]);
             late && !system.chains.empty())
      texts.push_back(fmt::format("group '{}': {}; bounds of its chains need not hold", group.name,
                                  breach_text(recorded[g], *late)));
  }
  return texts;
}

}  // namespace millrace::deployment
