#include "deployment/script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "deployment/events.h"

namespace millrace::deployment {
namespace {

constexpr double longest_script = 1e6;  // seconds
constexpr const char* add_word = "add";

system::ScenarioId scenario_named(const system::System& system, const std::string& name,
                                  const std::string& place) {
  std::vector<std::string_view> known;
  for (std::size_t s = 0; s < system.scenarios.size(); ++s) {
    if (system.scenarios[s].name == name) return system::ScenarioId(s);
    known.push_back(system.scenarios[s].name);
  }
  throw InputError(place, fmt::format("the system has no scenario '{}', only {}{}", name,
                                      fmt::join(known, ", "), did_you_mean(name, known)));
}

bool is_number(const std::string& word) {
  std::istringstream text(word);
  double number = 0;
  return text >> number && text.eof();
}

/// A scenario's name may hold blanks, so it is all that follows the first word or, if there is no
/// such scenario, what stands before a number at the end.
ScriptStep step_of(const std::string& line, const system::System& system,
                   const std::string& place) {
  std::istringstream text(line);
  double at = 0;
  if (!(text >> at) || !(at >= 0) || at > longest_script)
    throw InputError(place, fmt::format("found '{}', expected a time in seconds, a scenario and a "
                                        "level, such as 2.5 {} 0",
                                        line, system.scenarios.front().name));
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  std::int64_t level = system.levels - 1;
  const auto joined = [&] { return fmt::format("{}", fmt::join(words, " ")); };
  const auto is_scenario = [&](const std::string& name) {
    const auto& all = system.scenarios;
    return std::ranges::find(all, name, &system::Scenario::name) != all.end();
  };
  const std::string all = joined();
  if (is_scenario(all)) return {time_from_seconds(at), {scenario_named(system, all, place), level}};
  if (words.size() > 1 && words.front() == add_word)
    return {time_from_seconds(at), {}, all.substr(words.front().size() + 1)};
  const auto is_digit = [](unsigned char c) { return c >= '0' && c <= '9'; };
  if (words.size() > 1 && words.back().size() < 6 && std::ranges::all_of(words.back(), is_digit)) {
    level = std::stoll(words.back());
    words.pop_back();
  }
  if (level >= system.levels)
    throw InputError(
        place, fmt::format("found level {}, the system has 0 to {}", level, system.levels - 1));
  const std::string name = joined();
  if (words.size() > 1 && is_number(words.back()) && !is_scenario(name))
    throw InputError(place, fmt::format("found level {}, expected a whole number from 0 to {}",
                                        words.back(), system.levels - 1));
  return {time_from_seconds(at), {scenario_named(system, name, place), level}};
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
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw InputError(path.string(),
                     "is a folder, expected a drive: a file with a line 'TIME_S SCENARIO LEVEL' "
                     "for each transition");
  std::istringstream lines(read_file(path));
  Script script;
  std::int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string place = fmt::format("{}: line {}", path.string(), number);
    ScriptStep step = step_of(line, system, place);
    if (!step.add.empty()) {
      if (script.empty())
        throw InputError(place, "found 'add', expected the scenario of the begin before it");
      step.wanted = script.back().wanted;
      step.add = (path.parent_path() / step.add).string();
    }
    if (!script.empty() && step.at < script.back().at)
      throw InputError(place, fmt::format("found {} s after {} s, expected times that ascend",
                                          seconds(step.at), seconds(script.back().at)));
    script.push_back(std::move(step));
  }
  if (script.empty()) throw InputError(path.string(), "has no steps, expected one at least");
  return script;
}

Wanted read_wanted(const std::string& text, const system::System& system,
                   const std::string& place) {
  const ScriptStep step = step_of("0 " + text, system, place);
  refuse_additions({step}, "is to be added, expected a scenario; a script adds deployments");
  return step.wanted;
}

void refuse_additions(const Script& script, const std::string& reason) {
  for (const ScriptStep& step : script)
    if (!step.add.empty()) throw InputError(step.add, reason);
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

std::int64_t most_on_the_way(const system::System& system, system::GroupId group) {
  std::int64_t most = 1;
  for (std::int64_t level = 0; level < system.levels; ++level)
    most = std::max(most, frames_within_deadline(system, group, level));
  return most;
}

}  // namespace millrace::deployment
