#include "present/results/drive.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "present/text/table.h"

namespace millrace::present {
namespace {

using schedule::FrameCounts, simulate::Drive, simulate::DriveGroup, simulate::SimulatedDrive;
using DriveJson = nlohmann::json;

constexpr std::pair<const char*, double> drive_percentiles[] = {
    {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};

std::string head_text(const SimulatedDrive& simulated) {
  const Drive& drive = simulated.drive;
  const std::string script = simulated.script.empty()
                                 ? fmt::format("random, from seed {}", simulated.options.seed)
                                 : simulated.script;
  return fmt::format(
      "drive        {:.3g} s, {} transitions ({})\ntimes        {}\ntransitions  {} done, {} "
      "replaced by a later one; the longest took {}\n",
      seconds(drive.elapsed), drive.transitions.wished, script,
      simulated.options.drawn ? "drawn between best and worst" : "worst", drive.transitions.done,
      drive.transitions.replaced, to_text(drive.transitions.longest));
}

std::string frames_text(const Drive& drive) {
  std::vector<Table::Column> columns{
      {"group", Align::left}, {"frames due"}, {"done"},          {"skipped"},
      {"late begin"},         {"missed"},     {"response: mean"}};
  for (const auto& [name, share] : drive_percentiles) columns.push_back({name});
  columns.push_back({"maximum"});
  Table table(columns);
  for (const DriveGroup& group : drive.groups) {
    const FrameCounts& frames = group.frames;
    std::vector<std::string> cells{group.name};
    for (const std::int64_t count :
         {frames.due, frames.done, frames.skipped, frames.stretched, frames.missed})
      cells.push_back(fmt::to_string(count));
    const bool any = group.responses.count() > 0;
    cells.push_back(any ? to_text(group.responses.mean()) : "-");
    for (const auto& [name, share] : drive_percentiles)
      cells.push_back(any ? to_text(group.responses.percentile(share)) : "-");
    cells.push_back(any ? to_text(group.responses.maximum()) : "-");
    table.add(std::move(cells));
  }
  return table.text();
}

double busy_share(const Drive& drive, Time busy) {
  return drive.elapsed > Time{} ? seconds(busy) / seconds(drive.elapsed) : 0;
}

std::string busy_processors_text(const Drive& drive) {
  Table table({{"processor", Align::left}, {"busy"}});
  for (const simulate::DriveProcessor& processor : drive.processors)
    table.add({processor.name, fmt::format("{:.1f} %", 100 * busy_share(drive, processor.busy))});
  return table.text();
}

std::string devices_text(const Drive& drive) {
  if (drive.devices.empty()) return "";
  Table table({{"device", Align::left}, {"energy: still"}, {"busy"}, {"mean power"}});
  double still = 0, busy = 0;
  const auto add = [&](const std::string& name, double still_mj, double busy_mj) {
    const double elapsed_s = seconds(drive.elapsed);
    table.add(
        {name, fmt::format("{:.3f} J", still_mj / 1000), fmt::format("{:.3f} J", busy_mj / 1000),
         elapsed_s > 0 ? fmt::format("{:.3f} W", (still_mj + busy_mj) / 1000 / elapsed_s) : "-"});
  };
  for (const simulate::DriveDevice& device : drive.devices) {
    add(device.name, device.still_mj, device.busy_mj);
    still += device.still_mj;
    busy += device.busy_mj;
  }
  table.add_rule();
  add("all", still, busy);
  return "\n" + table.text();
}

DriveJson frames_json(const FrameCounts& frames) {
  return {{"due", frames.due},         {"released", frames.released},   {"done", frames.done},
          {"skipped", frames.skipped}, {"stretched", frames.stretched}, {"missed", frames.missed}};
}

DriveJson responses_json(const simulate::Latencies& responses) {
  if (responses.count() == 0) return nullptr;
  DriveJson json{{"mean_ms", milliseconds(responses.mean())},
                 {"max_ms", milliseconds(responses.maximum())}};
  for (const auto& [name, share] : drive_percentiles)
    json[fmt::format("{}_ms", name)] = milliseconds(responses.percentile(share));
  return json;
}

DriveJson drive_group_json(const DriveGroup& group, const system::System& system) {
  DriveJson json{{"group", group.name},
                 {"frames", frames_json(group.frames)},
                 {"response", responses_json(group.responses)},
                 {"parts", DriveJson::array()}};
  for (const simulate::DrivePart& part : group.parts)
    json["parts"].push_back({{"scenario", system[part.at.scenario].name},
                             {"level", part.at.level},
                             {"frames", frames_json(part.frames)},
                             {"max_ms", milliseconds(part.largest)}});
  return json;
}

}  // namespace

std::string drive_text(const SimulatedDrive& simulated) {
  const Drive& drive = simulated.drive;
  std::string text = head_text(simulated);
  if (drive.transitions.level_changes > 0)
    text += fmt::format("overload     the level changed {} times by the policy lower_rate\n",
                        drive.transitions.level_changes);
  return text + "\n" + frames_text(drive) + "\n" + busy_processors_text(drive) +
         devices_text(drive);
}

std::string drive_json(const SimulatedDrive& simulated) {
  const Drive& drive = simulated.drive;
  DriveJson fields{{"deployment", simulated.file},
                   {"script", simulated.script.empty() ? DriveJson() : DriveJson(simulated.script)},
                   {"seed", simulated.options.seed},
                   {"times", simulated.options.drawn ? "drawn" : "worst"},
                   {"elapsed_ms", milliseconds(drive.elapsed)},
                   {"transitions",
                    {{"wished", drive.transitions.wished},
                     {"done", drive.transitions.done},
                     {"replaced", drive.transitions.replaced},
                     {"level_changes", drive.transitions.level_changes},
                     {"longest_ms", milliseconds(drive.transitions.longest)}}},
                   {"groups", DriveJson::array()},
                   {"processors", DriveJson::array()},
                   {"devices", DriveJson::array()}};
  for (const DriveGroup& group : drive.groups)
    fields["groups"].push_back(drive_group_json(group, simulated.deployment.system));
  for (const simulate::DriveProcessor& processor : drive.processors)
    fields["processors"].push_back(
        {{"processor", processor.name}, {"utilisation", busy_share(drive, processor.busy)}});
  for (const simulate::DriveDevice& device : drive.devices)
    fields["devices"].push_back(
        {{"device", device.name}, {"still_mj", device.still_mj}, {"busy_mj", device.busy_mj}});
  return json_document("drive", std::move(fields));
}

}  // namespace millrace::present
