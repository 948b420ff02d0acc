#include "runtime/controller/script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "runtime/scheduling/thread_priority.h"
#include "runtime/waiting/event_count.h"

namespace millrace::runtime {
namespace {

/// How often is_over is asked.
constexpr Time most_between_questions = std::chrono::milliseconds(50);
constexpr double longest_script = 1e6;  // seconds

system::ScenarioId scenario_named(const system::System& system, const std::string& name,
                                  const std::string& place) {
  std::vector<std::string> names;
  for (std::size_t s = 0; s < system.scenarios.size(); ++s) {
    if (system.scenarios[s].name == name) return system::ScenarioId(s);
    names.push_back(system.scenarios[s].name);
  }
  throw InputError(place,
                   fmt::format("found scenario '{}', there are {}", name, fmt::join(names, ", ")));
}

ScriptStep step_of(const std::string& line, const system::System& system,
                   const std::string& place) {
  std::istringstream words(line);
  double at = 0;
  std::string scenario, more;
  if (!(words >> at >> scenario) || !(at >= 0) || at > longest_script)
    throw InputError(place, fmt::format("found '{}', expected a time in seconds, a scenario and a "
                                        "level, such as 2.5 {} 0",
                                        line, system.scenarios.front().name));
  ScriptStep step{time_from_seconds(at),
                  {scenario_named(system, scenario, place), system.levels - 1}};
  if (words >> step.wanted.level) {
    if (step.wanted.level < 0 || step.wanted.level >= system.levels)
      throw InputError(place, fmt::format("found level {}, expected 0 to {}", step.wanted.level,
                                          system.levels - 1));
  } else if (!words.eof()) {
    throw InputError(place, fmt::format("found '{}', expected a level behind the scenario", line));
  }
  if (words.clear(), words >> more)
    throw InputError(place, fmt::format("found '{}' behind the level, expected nothing", more));
  return step;
}

/// Where a random drive goes from here.
system::ScenarioId successor(const system::System& system, system::ScenarioId from,
                             Random& random) {
  if (system.transitions.empty()) return system::ScenarioId(random.below(system.scenarios.size()));
  double left = 1;
  std::int64_t open = 0;
  for (const system::Transition& each : system.transitions) {
    if (each.from != from) continue;
    left -= each.probability.value_or(0);
    open += each.probability ? 0 : 1;
  }
  double at = random.unit();
  system::ScenarioId last = from;
  for (const system::Transition& each : system.transitions) {
    if (each.from != from) continue;
    last = each.to;
    at -= each.probability.value_or(left / static_cast<double>(std::max<std::int64_t>(open, 1)));
    if (at < 0) break;
  }
  return last;
}

}  // namespace

Script read_script(const std::filesystem::path& path, const system::System& system) {
  std::istringstream lines(read_file(path));
  Script script;
  std::int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string place = fmt::format("{}:{}", path.string(), number);
    const ScriptStep step = step_of(line, system, place);
    if (!script.empty() && step.at < script.back().at)
      throw InputError(place, fmt::format("found {} s after {} s, expected times that ascend",
                                          seconds(step.at), seconds(script.back().at)));
    script.push_back(step);
  }
  return script;
}

Script random_script(const system::System& system, const RandomDrive& drive) {
  Random random(drive.seed);
  const auto level = [&] {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(system.levels)));
  };
  std::vector<Time> moments;
  for (std::int64_t i = 0; i < drive.transitions; ++i)
    moments.push_back(time_from_seconds(random.unit() * seconds(drive.duration)));
  std::ranges::sort(moments);
  Script script{{Time{}, {system::ScenarioId(0), level()}}};
  for (const Time moment : moments)
    script.push_back({moment, {successor(system, script.back().wanted.scenario, random), level()}});
  return script;
}

void play(Controller& controller, const Script& script, Time duration,
          const std::function<bool()>& is_over) {
  const PriorityGuard in_time(controller.release_priority());
  const auto begin = std::chrono::steady_clock::now();
  EventCount never;
  const std::uint32_t ticket = never.ticket();
  std::size_t next = 0;
  while (!controller.has_failed() && !(is_over && is_over())) {
    const auto now = std::chrono::steady_clock::now();
    while (next < script.size() && begin + script[next].at <= now)
      controller.switch_to(script[next++].wanted);
    auto until = std::min(begin + duration, now + most_between_questions);
    if (now >= begin + duration) return;
    if (next < script.size()) until = std::min(until, begin + script[next].at);
    never.sleep_before(ticket, until);
  }
}

}  // namespace millrace::runtime
