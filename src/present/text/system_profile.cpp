#include "present/text/system_profile.h"

#include <vector>

#include "present/text/table.h"

namespace millrace::present {
namespace {

Table times_table(std::vector<Table::Column> columns) {
  for (const char* name : {"mean", "deviation", "maximum", "worst case", "runs"})
    columns.push_back({name});
  return Table(columns);
}

void add_row(Table& table, std::vector<std::string> cells, const profile::Statistics& s) {
  for (const Time time : {s.mean, s.deviation, s.maximum, s.worst_case})
    cells.push_back(millrace::to_text(time));
  cells.push_back(std::to_string(s.count) + (s.stable ? "" : " unstable"));
  table.add(std::move(cells));
}

std::string tasks_text(const explore::SystemProfile& profile) {
  if (profile.tasks.empty()) return "no group has a task graph, so only networks are measured\n";
  Table table = times_table(
      {{"group", Align::left}, {"task", Align::left}, {"processor", Align::left}, {"best"}});
  for (const explore::TaskProfile& each : profile.tasks)
    add_row(table, {each.group, each.task, each.processor, millrace::to_text(each.best)},
            each.times);
  return table.text();
}

std::string steps_text(const explore::SystemProfile& profile) {
  if (profile.steps.empty()) return {};
  Table table({{"group", Align::left}, {"worst before the network"}, {"worst after"}});
  for (const explore::StepsProfile& each : profile.steps)
    table.add({each.group, millrace::to_text(each.worst.preprocess),
               millrace::to_text(each.worst.postprocess)});
  return "\n" + table.text();
}

std::string networks_text(const explore::SystemProfile& profile) {
  if (profile.networks.empty()) return {};
  Table table = times_table(
      {{"network", Align::left}, {"processor", Align::left}, {"precision", Align::left}});
  for (const profile::Profile& network : profile.networks)
    for (const profile::ProcessorProfile& on : network.processors)
      add_row(table, {network.network_name, on.processor.name, to_text(on.precision)}, on.whole);
  return "\n" + table.text();
}

}  // namespace

std::string system_profile_text(const explore::SystemProfile& profile) {
  return tasks_text(profile) + steps_text(profile) + networks_text(profile);
}

}  // namespace millrace::present
