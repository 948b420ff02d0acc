#include "present/results/deploy.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json_text.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "present/description.h"
#include "present/svg/pareto.h"
#include "present/text/placed_stages.h"

namespace millrace::present {
namespace {

using explore::MethodResult;
using product::DeployResult;
using product::GroupSearch;
using product::MappingReport;
using product::MethodReport;

/// In JSON null, for people a dash where it is infinite or some device's power was assumed.
Value power_value(const DeployResult& result, double milliwatts) {
  if (result.is_power_assumed || !std::isfinite(milliwatts)) return Value::none();
  return Value::rate(milliwatts);
}

Value power_value(const DeployResult& result, const std::optional<double>& milliwatts) {
  return milliwatts ? power_value(result, *milliwatts) : Value::none();
}

std::string whole_rate_text(double fps) { return fps > 0 ? fmt::format("{:.0f}", fps) : "-"; }

/// For people with two digits after the point.
Value seconds_value(double seconds) { return {seconds, fmt::format("{:.2f}", seconds)}; }

nlohmann::json power_by_device(const board::Board& board, const std::vector<double>& power) {
  nlohmann::json result = nlohmann::json::object();
  for (std::size_t d = 0; d < power.size(); ++d) result[board.devices[d].name] = power[d];
  return result;
}

Description<GroupSearch> group_fields() {
  const auto missed = [](const GroupSearch& group) {
    if (!group.quality) return Value::none();
    return Value{group.quality->missed,
                 fmt::format("{} of {}", group.quality->missed, group.exact_plans)};
  };
  return Description<GroupSearch>({
      {"name", "group", &GroupSearch::name},
      {"layers", "layers", &GroupSearch::layers},
      {"cut_points", "cut points", &GroupSearch::cut_points},
      {"candidates", "candidates",
       [](const auto& group) {
         return Value{group.candidates, fmt::format("{:.0f}", group.candidates)};
       }},
      {"evaluated", "evaluated", [](const auto& group) { return group.front.evaluated; }},
      {"plans", "plans", [](const auto& group) { return group.front.plans.size(); }},
      {"missed", "missed of the exact front", missed},
      {"seconds", nullptr, &GroupSearch::seconds},
      {"hypervolume_share", nullptr,
       [](const auto& group) {
         return group.quality ? Value::rate(group.quality->hypervolume) : Value::none();
       }},
  });
}

nlohmann::json front_json(const GroupSearch& group, const board::Board& board) {
  nlohmann::json plans = nlohmann::json::array();
  for (std::size_t p = 0; p < group.front.plans.size(); ++p) {
    const explore::GroupPlan& plan = group.front.plans[p];
    plans.push_back({{"stages", layers_by_stage(group.stages[p])},
                     {"cuts", plan.configuration.cuts},
                     {"latency_ns", plan.latency.count()},
                     {"power_mw", power_by_device(board, plan.power_mw)},
                     {"busiest_mw", power_by_device(board, plan.busiest_mw)}});
  }
  return plans;
}

nlohmann::json clocks_json(const board::Board& board, const explore::ClockLevels& levels) {
  nlohmann::json clocks = nlohmann::json::object();
  for (std::size_t d = 0; d < levels.size(); ++d)
    if (!board.devices[d].clocks.empty())
      clocks[board.devices[d].name] = board.devices[d].clocks[levels[d]].value;
  return clocks;
}

nlohmann::json levels_json(const DeployResult& result, const MethodReport& method) {
  nlohmann::json levels = nlohmann::json::array();
  for (const MethodResult& level : method.levels) {
    nlohmann::json scenarios = nlohmann::json::array();
    for (std::size_t s = 0; s < level.scenes.size(); ++s) {
      const explore::SceneResult& scene = level.scenes[s];
      const auto power = scene.schedulable ? std::optional(scene.power_mw) : std::nullopt;
      scenarios.push_back({{"name", result.system.scenarios[s].name},
                           {"feasible", scene.schedulable},
                           {"power_mw", power_value(result, power).json},
                           {"clocks_mhz", clocks_json(result.board, scene.clocks)},
                           {"checks", scene.checks}});
    }
    levels.push_back({{"feasible", level.feasible},
                      {"power_mw", power_value(result, level.power_mw).json},
                      {"scenarios", scenarios}});
  }
  return levels;
}

nlohmann::json plans_chosen(const DeployResult& result, const MethodResult& decided) {
  nlohmann::json all = nlohmann::json::array();
  for (const explore::Combined& found : decided.found) {
    nlohmann::json one = nlohmann::json::object();
    for (std::size_t g = 0; g < found.combination.size(); ++g)
      one[result.groups[g].name] = placed_stages_text(result.groups[g], found.combination[g],
                                                      result.board, found.placement[g]);
    all.push_back(std::move(one));
  }
  return all;
}

nlohmann::json max_rate_json(const DeployResult& result, const MethodReport& method) {
  if (!method.max_rate) return nullptr;
  const explore::MaxRate& rate = *method.max_rate;
  return {{"fps", rate.fps},
          {"together_fps", rate.together_fps},
          {"believed_fps", rate.believed_fps},
          {"power_mw", power_value(result, rate.result.power_mw).json},
          {"plans", plans_chosen(result, rate.result)}};
}

/// Methods beside each other.
Description<MethodReport> method_fields(const DeployResult& result) {
  const auto rate = [](double explore::MaxRate::*part) {
    return [part](const MethodReport& method) {
      return method.max_rate ? whole_rate_text((*method.max_rate).*part) : std::string("-");
    };
  };
  const auto decided = [](auto part) {
    return [part](const MethodReport& method) { return method.decided.*part; };
  };
  const auto power = [&](auto part) {
    return [&result, part](const MethodReport& method) {
      return power_value(result, method.*part);
    };
  };
  return Description<MethodReport>({
      {"name", "method", &MethodReport::name},
      {"power_mw", "power at the highest level, mW",
       [&](const MethodReport& method) { return power_value(result, method.decided.power_mw); }},
      {"usual_mw", "usual search, mW", power(&MethodReport::usual_mw)},
      {"bound_mw", "lower bound of these plans, mW", power(&MethodReport::bound_mw)},
      {"evaluated", "evaluated", decided(&MethodResult::evaluated)},
      {"seconds", "search, s", [](const auto& method) { return seconds_value(method.seconds); }},
      {"", "highest rate, frames/s", rate(&explore::MaxRate::fps), Align::right},
      {"", "all at once, frames/s", rate(&explore::MaxRate::together_fps), Align::right},
      {"feasible", nullptr, decided(&MethodResult::feasible)},
      {"plans", nullptr, [&](const auto& method) { return plans_chosen(result, method.decided); }},
      {"levels", nullptr, [&](const auto& method) { return levels_json(result, method); }},
      {"generations", nullptr, decided(&MethodResult::generations)},
      {"clock_searches", nullptr, decided(&MethodResult::clock_searches)},
      {"clock_seconds", nullptr, decided(&MethodResult::clock_seconds)},
      {"exact_mw", nullptr, power(&MethodReport::exact_mw)},
      {"max_rate", nullptr, [&](const auto& method) { return max_rate_json(result, method); }},
  });
}

/// Methods for networks and tasks of graphs beside each other.
Description<MappingReport> mapping_fields() {
  const auto if_feasible = [](auto text) {
    return [text](const MappingReport& method) {
      const explore::MappingValue& value = method.found.value;
      Value shown = text(value);
      return value.feasible ? shown : Value{shown.json, "-"};
    };
  };
  const auto response = [](const explore::MappingValue& value) {
    const bool is_bounded = value.response != realtime::unbounded;
    return Value{is_bounded ? nlohmann::json(value.response.count()) : nlohmann::json(),
                 to_text(value.response)};
  };
  return Description<MappingReport>({
      {"name", "method", &MappingReport::name},
      {"utilisation", "largest utilisation, %", if_feasible([](const auto& value) {
         return Value{value.utilisation, fmt::format("{:.2f}", 100 * value.utilisation)};
       })},
      {"response_ns", "largest response", if_feasible(response)},
      {"share_of_deadline", "share of its deadline, %", if_feasible([](const auto& value) {
         return Value{value.demand, fmt::format("{:.1f}", 100 * value.demand)};
       })},
      {"evaluated", "evaluated", [](const auto& method) { return method.found.evaluated; }},
      {"seconds", "search, s", [](const auto& method) { return seconds_value(method.seconds); }},
      {"feasible", nullptr, [](const auto& method) { return method.found.value.feasible; }},
      {"analyses", nullptr, [](const auto& method) { return method.found.analyses; }},
      {"generations", nullptr, [](const auto& method) { return method.found.generations; }},
  });
}

/// The figures of the methods, if there are several, or rates were searched.
std::string methods_text(const DeployResult& result) {
  if (result.methods.empty()) return {};
  const bool has_rates = result.methods.front().max_rate.has_value();
  if (result.methods.size() < 2 && !has_rates && !result.methods.front().exact_mw) return {};
  return method_fields(result).text(result.methods);
}

std::string mappings_text(const DeployResult& result) {
  if (!result.mappings) return {};
  const bool is_measured =
      result.deployment && result.deployment->contention == deployment::Contention::beside_others;
  std::string text = mapping_fields().text(result.mappings->methods) +
                     fmt::format("No mapping has a smaller largest utilisation than {:.2f} %{}.\n",
                                 100 * result.mappings->least_utilisation,
                                 is_measured ? " by the times that it was decided with" : "");
  if (const auto& least = result.mappings->least_by_trying)
    text += fmt::format("All mappings were tried: the smallest is {:.2f} %.\n", 100 * *least);
  return text;
}

nlohmann::json mappings_json(const DeployResult& result) {
  if (!result.mappings) return nullptr;
  return {{"methods", mapping_fields().array(result.mappings->methods)},
          {"least_utilisation", result.mappings->least_utilisation},
          {"least_by_trying", or_null(result.mappings->least_by_trying)}};
}

/// The plan of a group with a network, where it was placed.
std::string plan_text(const DeployResult& result, std::size_t group) {
  const GroupSearch& of = result.groups[group];
  if (of.stages.empty()) return "-";
  if (result.mappings) {
    const explore::Mapping& mapping = result.mappings->methods.front().found.mapping;
    return placed_stages_text(of, mapping.plans[group], result.board, mapping.stages[group]);
  }
  const explore::Combined& found = result.methods.front().decided.found.front();
  return placed_stages_text(of, found.combination[group], result.board, found.placement[group]);
}

/// What was chosen for each group.
std::string assignments_text(const DeployResult& result) {
  if (!result.deployment) return {};
  const auto& assignments = result.deployment->assignments;
  const auto tasks = [&](std::size_t g) {
    std::string text;
    for (const deployment::Task& task : assignments[g].tasks)
      text += (text.empty() ? "" : ", ") + task.name + " on " + task.processor;
    return text;
  };
  const Description<std::size_t> fields({
      {"", "group", [&](std::size_t g) { return result.groups[g].name; }},
      {"", "plan", [&](std::size_t g) { return plan_text(result, g); }},
      {"", "tasks", tasks},
      {"", "priority", [&](std::size_t g) { return assignments[g].priority; }},
  });
  return fields.text(numbers_of(result.groups));
}

/// The group whose bound is the largest share of its deadline.
std::string tightest_text(const DeployResult& result, const deployment::Setting& setting) {
  double most = -1;
  std::string text;
  for (std::size_t g = 0; g < setting.bounds.size(); ++g) {
    if (!setting.bounds[g]) continue;
    const Time deadline = deadline_of(result.system, system::GroupId(g), setting.level);
    const double share = seconds(*setting.bounds[g]) / seconds(deadline);
    if (share <= most) continue;
    most = share;
    text = fmt::format("{}: {} of {}", result.system.groups[g].name, to_text(*setting.bounds[g]),
                       to_text(deadline));
  }
  return text;
}

/// The table of clocks by scenario and level.
std::string settings_text(const DeployResult& result) {
  using deployment::Setting;
  if (!result.deployment) return {};
  std::vector<std::string> titles;
  for (const board::Device& device : result.board.devices)
    titles.push_back(device.name + ", MHz");
  std::vector<RowField<Setting>> fields{
      {"", "scenario", [&](const Setting& s) { return result.system[s.scenario].name; }},
      {"", "level", &Setting::level}};
  for (std::size_t d = 0; d < titles.size(); ++d)
    if (const board::Device& device = result.board.devices[d]; !device.clocks.empty())
      fields.push_back({"", titles[d].c_str(),
                        [&device](const Setting& s) {
                          return fmt::format("{:g}", s.clocks.at(device.name).value);
                        },
                        Align::right});
  fields.push_back({"", "power, mW", [](const Setting& s) {
                      return s.power_mw > 0 && std::isfinite(s.power_mw) ? Value::rate(s.power_mw)
                                                                         : Value::none();
                    }});
  fields.push_back({"", "largest bound and deadline",
                    [&](const Setting& s) { return tightest_text(result, s); }});
  return Description<Setting>(std::move(fields)).text(result.deployment->settings);
}

bool is_chosen(const DeployResult& result, std::size_t group, std::size_t plan) {
  if (result.mappings) {
    const explore::Mapping& mapping = result.mappings->methods.front().found.mapping;
    return group < mapping.plans.size() && mapping.plans[group] == plan;
  }
  if (result.methods.empty()) return false;
  for (const explore::Combined& found : result.methods.front().decided.found)
    if (group < found.combination.size() && found.combination[group] == plan) return true;
  return false;
}

}  // namespace

std::string deploy_text(const DeployResult& result, const std::string& output) {
  const std::string times = !result.system.board.empty() ? "modelled, of " + result.board.name
                            : result.measured
                                ? "measured on this machine, each task beside the others"
                                : "of this machine, the worst of each layer";
  std::string text = fmt::format("{}: {}, {}; times are {}\n\n{}", printable(result.system.name),
                                 counted(result.system.groups.size(), "group"),
                                 counted(result.system.scenarios.size(), "scenario"),
                                 printable(times), group_fields().text(result.groups));
  for (const std::string& table : {methods_text(result), mappings_text(result),
                                   assignments_text(result), settings_text(result)})
    if (!table.empty()) text += "\n" + table;
  if (result.deployment) text += fmt::format("\nwritten: {}\n", printable(output));
  if (!result.deployment && result.refusal.empty())
    text += "\nno deployment is written: tasks cannot migrate between the plans of scenarios\n";
  return text;
}

std::string deploy_json(const DeployResult& result, const std::string& output) {
  return json_document("deploy",
                       {{"system", result.system.name},
                        {"board", result.board.name},
                        {"groups", group_fields().array(result.groups)},
                        {"methods", method_fields(result).array(result.methods)},
                        {"mappings", mappings_json(result)},
                        {"deployment", or_null(result.deployment ? output : "")},
                        {"refusal", or_null(result.refusal)}});
}

std::string fronts_picture(const DeployResult& result) {
  std::vector<FrontPanel> panels;
  for (std::size_t g = 0; g < result.groups.size(); ++g) {
    const GroupSearch& group = result.groups[g];
    if (group.front.plans.empty()) continue;  // it has no network
    FrontPanel& panel = panels.emplace_back();
    panel.title = group.name + (result.is_power_assumed ? ", power assumed" : "");
    for (std::size_t p = 0; p < group.front.plans.size(); ++p) {
      const explore::GroupPlan& plan = group.front.plans[p];
      double power = 0;
      for (const double each : plan.power_mw) power += each;
      panel.points.push_back({milliseconds(plan.latency), power, plan.configuration.stages.size(),
                              layers_by_stage(group.stages[p]), is_chosen(result, g, p)});
    }
  }
  return fronts_svg(panels);
}

std::string fronts_json(const DeployResult& result) {
  nlohmann::json groups = group_fields().array(result.groups);
  for (std::size_t g = 0; g < result.groups.size(); ++g)
    groups[g]["front"] = front_json(result.groups[g], result.board);
  return json_document("fronts", {{"system", result.system.name},
                                  {"board", result.board.name},
                                  {"power_is_assumed", result.is_power_assumed},
                                  {"groups", groups}});
}

}  // namespace millrace::present
