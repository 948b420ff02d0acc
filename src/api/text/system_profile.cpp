#include "api/text/system_profile.h"

#include <vector>

#include "report/table.h"

namespace millrace::api {
namespace {

using report::Align;

report::Table times_table(std::vector<report::Table::Column> columns) {
  for (const char* name : {"mean", "deviation", "maximum", "worst case", "runs"})
    columns.push_back({name});
  return report::Table(columns);
}

void add_row(report::Table& table, std::vector<std::string> cells, const profile::Statistics& s) {
  for (const Time time : {s.mean, s.deviation, s.maximum, s.worst_case})
    cells.push_back(millrace::to_text(time));
  cells.push_back(std::to_string(s.count) + (s.stable ? "" : " unstable"));
  table.add(std::move(cells));
}

std::string tasks_text(const SystemProfile& profile) {
  if (profile.tasks.empty()) return "no group has a task graph, so only networks are measured\n";
  report::Table table = times_table(
      {{"group", Align::left}, {"task", Align::left}, {"processor", Align::left}, {"best"}});
  for (const TaskProfile& each : profile.tasks)
    add_row(table, {each.group, each.task, each.processor, millrace::to_text(each.best)},
            each.times);
  return table.text();
}

std::string steps_text(const SystemProfile& profile) {
  if (profile.steps.empty()) return {};
  report::Table table({{"group", Align::left}, {"worst before the network"}, {"worst after"}});
  for (const StepsProfile& each : profile.steps)
    table.add({each.group, millrace::to_text(each.worst.preprocess),
               millrace::to_text(each.worst.postprocess)});
  return "\n" + table.text();
}

std::string networks_text(const SystemProfile& profile) {
  if (profile.networks.empty()) return {};
  report::Table table = times_table(
      {{"network", Align::left}, {"processor", Align::left}, {"precision", Align::left}});
  for (const profile::Profile& network : profile.networks)
    for (const profile::ProcessorProfile& on : network.processors)
      add_row(table, {network.network_name, on.processor.name, to_text(on.precision)}, on.whole);
  return "\n" + table.text();
}

}  // namespace

std::string system_profile_text(const SystemProfile& profile) {
  return tasks_text(profile) + steps_text(profile) + networks_text(profile);
}

}  // namespace millrace::api
