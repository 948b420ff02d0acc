#include "present/text/deploy.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/printable.h"
#include "base/quantity.h"
#include "present/svg/pareto.h"
#include "present/text/table.h"

namespace millrace::present {
namespace {

using product::placed_stages_text;

std::string power_text(double milliwatts) {
  return std::isfinite(milliwatts) ? four_digits(milliwatts) : "-";
}

std::string whole_rate_text(double fps) { return fps > 0 ? fmt::format("{:.0f}", fps) : "-"; }

std::string processors_of(const deployment::Assignment& assignment) {
  std::string text;
  for (const deployment::Task& task : assignment.tasks)
    text += (text.empty() ? "" : ", ") + task.name + " on " + task.processor;
  return text;
}

/// The plan of a group with a network, where it was placed.
std::string plan_text(const product::DeployResult& result, std::size_t group) {
  const product::GroupSearch& of = result.groups[group];
  if (result.mappings) {
    const explore::Mapping& mapping = result.mappings->methods.front().found.mapping;
    return placed_stages_text(of, mapping.plans[group], result.board, mapping.stages[group]);
  }
  const explore::Combined& found = result.methods.front().decided.found.front();
  return placed_stages_text(of, found.combination[group], result.board, found.placement[group]);
}

/// The group whose bound is the largest share of its deadline.
std::string tightest_text(const product::DeployResult& result, const deployment::Setting& setting) {
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

/// The plans that each group may have.
std::string group_searches_text(const product::DeployResult& result) {
  Table table({{"group", Align::left},
               {"layers"},
               {"cut points"},
               {"candidates"},
               {"evaluated"},
               {"plans"},
               {"missed of the exact front"}});
  for (const product::GroupSearch& group : result.groups)
    table.add(
        {group.name, std::to_string(group.layers), std::to_string(group.cut_points),
         fmt::format("{:.0f}", group.candidates), std::to_string(group.front.evaluated),
         std::to_string(group.front.plans.size()),
         group.quality ? fmt::format("{} of {}", group.quality->missed, group.exact_plans) : "-"});
  return table.text();
}

/// What was chosen for each group.
std::string assignments_text(const product::DeployResult& result) {
  if (!result.deployment) return {};
  Table table(
      {{"group", Align::left}, {"plan", Align::left}, {"tasks", Align::left}, {"priority"}});
  for (std::size_t g = 0; g < result.groups.size(); ++g) {
    const deployment::Assignment& assignment = result.deployment->assignments[g];
    table.add({result.groups[g].name, result.groups[g].texts.empty() ? "-" : plan_text(result, g),
               processors_of(assignment), std::to_string(assignment.priority)});
  }
  return table.text();
}

/// The table of clocks by scenario and level.
std::string settings_text(const product::DeployResult& result) {
  if (!result.deployment) return {};
  std::vector<Table::Column> columns{{"scenario", Align::left}, {"level"}};
  for (const board::Device& device : result.board.devices)
    if (!device.clocks.empty()) columns.push_back({device.name + ", MHz"});
  columns.push_back({"power, mW"});
  columns.push_back({"largest bound and deadline", Align::left});
  Table table(columns);
  for (const deployment::Setting& setting : result.deployment->settings) {
    std::vector<std::string> cells{result.system[setting.scenario].name,
                                   std::to_string(setting.level)};
    for (const board::Device& device : result.board.devices)
      if (!device.clocks.empty())
        cells.push_back(fmt::format("{:g}", setting.clocks.at(device.name).value));
    cells.push_back(setting.power_mw > 0 ? power_text(setting.power_mw) : "-");
    cells.push_back(tightest_text(result, setting));
    table.add(cells);
  }
  return table.text();
}

/// Methods beside each other, if there are several, or rates were searched.
std::string methods_text(const product::DeployResult& result) {
  if (result.methods.empty()) return {};
  const bool has_rates = result.methods.front().max_rate.has_value();
  if (result.methods.size() < 2 && !has_rates && !result.methods.front().exact_mw) return {};
  Table table({{"method", Align::left},
               {"power at the highest level, mW"},
               {"usual search, mW"},
               {"lower bound of these plans, mW"},
               {"evaluated"},
               {"search, s"},
               {"highest rate, frames/s"},
               {"all at once, frames/s"}});
  const bool has_power = !result.is_power_assumed;
  for (const product::MethodReport& method : result.methods) {
    const auto& rate = method.max_rate;
    table.add({method.name, has_power ? power_text(method.decided.power_mw) : "-",
               has_power ? power_text(method.usual_mw) : "-",
               has_power && method.bound_mw ? power_text(*method.bound_mw) : "-",
               std::to_string(method.decided.evaluated), fmt::format("{:.2f}", method.seconds),
               rate ? whole_rate_text(rate->fps) : "-",
               rate ? whole_rate_text(rate->together_fps) : "-"});
  }
  return table.text();
}

/// Methods for networks and tasks of graphs beside each other.
std::string mappings_text(const product::DeployResult& result) {
  if (!result.mappings) return {};
  Table table({{"method", Align::left},
               {"largest utilisation, %"},
               {"largest response"},
               {"share of its deadline, %"},
               {"evaluated"},
               {"search, s"}});
  for (const product::MappingReport& method : result.mappings->methods) {
    const explore::MappingValue& value = method.found.value;
    table.add({method.name, value.feasible ? fmt::format("{:.2f}", 100 * value.utilisation) : "-",
               value.feasible ? to_text(value.response) : "-",
               value.feasible ? fmt::format("{:.1f}", 100 * value.demand) : "-",
               std::to_string(method.found.evaluated), fmt::format("{:.2f}", method.seconds)});
  }
  std::string text = table.text();
  const bool is_measured =
      result.deployment && result.deployment->contention == deployment::Contention::beside_others;
  text += fmt::format("No mapping has a smaller largest utilisation than {:.2f} %{}.\n",
                      100 * result.mappings->least_utilisation,
                      is_measured ? " by the times that it was decided with" : "");
  if (const auto& least = result.mappings->least_by_trying)
    text += fmt::format("All mappings were tried: the smallest is {:.2f} %.\n", 100 * *least);
  return text;
}

bool is_chosen(const product::DeployResult& result, std::size_t group, std::size_t plan) {
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

std::string deploy_text(const product::DeployResult& result, const std::string& output) {
  const std::string times = !result.system.board.empty() ? "modelled, of " + result.board.name
                            : result.measured
                                ? "measured on this machine, each task beside the others"
                                : "of this machine, the worst of each layer";
  std::string text = fmt::format("{}: {}, {}; times are {}\n\n{}", printable(result.system.name),
                                 counted(result.system.groups.size(), "group"),
                                 counted(result.system.scenarios.size(), "scenario"),
                                 printable(times), group_searches_text(result));
  for (const std::string& table : {methods_text(result), mappings_text(result),
                                   assignments_text(result), settings_text(result)})
    if (!table.empty()) text += "\n" + table;
  if (result.deployment) text += fmt::format("\nwritten: {}\n", printable(output));
  if (!result.deployment && result.refusal.empty())
    text += "\nno deployment is written: tasks cannot migrate between the plans of scenarios\n";
  return text;
}

std::string fronts_picture(const product::DeployResult& result) {
  std::vector<FrontPanel> panels;
  for (std::size_t g = 0; g < result.groups.size(); ++g) {
    const product::GroupSearch& group = result.groups[g];
    if (group.front.plans.empty()) continue;  // it has no network
    FrontPanel& panel = panels.emplace_back();
    panel.title = group.name + (result.is_power_assumed ? ", power assumed" : "");
    for (std::size_t p = 0; p < group.front.plans.size(); ++p) {
      const explore::GroupPlan& plan = group.front.plans[p];
      double power = 0;
      for (const double each : plan.power_mw) power += each;
      panel.points.push_back({milliseconds(plan.latency), power, plan.configuration.stages.size(),
                              group.texts[p], is_chosen(result, g, p)});
    }
  }
  return fronts_svg(panels);
}

}  // namespace millrace::present
