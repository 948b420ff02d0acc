#include "present/results/drive.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "present/description.h"

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

DriveJson frames_json(const FrameCounts& frames) {
  return {{"due", frames.due},         {"released", frames.released},   {"done", frames.done},
          {"skipped", frames.skipped}, {"stretched", frames.stretched}, {"held", frames.held},
          {"longest_held_ms", milliseconds(frames.longest_held)}, {"missed", frames.missed}};
}

Description<DriveGroup> group_fields(const system::System& system) {
  const auto count = [](std::int64_t FrameCounts::*part) {
    return [part](const DriveGroup& group) { return group.frames.*part; };
  };
  const auto response = [](auto time) {
    return [time](const DriveGroup& group) {
      return group.responses.count() > 0 ? Value::time(time(group.responses)) : Value::none();
    };
  };
  const auto parts = [&](const DriveGroup& group) {
    DriveJson all = DriveJson::array();
    for (const simulate::DrivePart& part : group.parts)
      all.push_back({{"scenario", system[part.at.scenario].name},
                     {"level", part.at.level},
                     {"frames", frames_json(part.frames)},
                     {"max_ms", milliseconds(part.largest)}});
    return all;
  };
  std::vector<RowField<DriveGroup>> fields{
      {"group", "group", &DriveGroup::name},
      {"", "frames due", count(&FrameCounts::due)},
      {"", "done", count(&FrameCounts::done)},
      {"", "skipped", count(&FrameCounts::skipped)},
      {"", "late begin", count(&FrameCounts::stretched)},
      {"", "held", count(&FrameCounts::held)},
      {"", "missed", count(&FrameCounts::missed)},
      {"response/mean_ms", "response: mean", response([](const auto& of) { return of.mean(); })}};
  for (const auto& [name, share] : drive_percentiles)
    fields.push_back({fmt::format("response/{}_ms", name), name,
                      response([part = share](const auto& of) { return of.percentile(part); })});
  fields.insert(fields.end(),
                {{"response/max_ms", "maximum",
                  response([](const auto& of) { return of.maximum(); })},
                 {"frames", nullptr, [](const auto& group) { return frames_json(group.frames); }},
                 {"parts", nullptr, parts}});
  return Description<DriveGroup>(std::move(fields));
}

Description<simulate::DriveProcessor> processor_fields(const Drive& drive) {
  using Processor = simulate::DriveProcessor;
  const double elapsed_s = seconds(drive.elapsed);
  return Description<Processor>({
      {"processor", "processor", &Processor::name},
      {"utilisation", "busy",
       [=](const Processor& each) {
         return Value::share(elapsed_s > 0 ? seconds(each.busy) / elapsed_s : 0);
       }},
  });
}

Description<simulate::DriveDevice> device_fields(const Drive& drive) {
  using Device = simulate::DriveDevice;
  const double elapsed_s = seconds(drive.elapsed);
  const auto energy = [](double millijoules) {
    return Value{millijoules, fmt::format("{:.3f} J", millijoules / 1000)};
  };
  const auto power = [=](const Device& each) -> std::string {
    if (elapsed_s <= 0) return "-";
    return fmt::format("{:.3f} W", (each.still_mj + each.busy_mj) / 1000 / elapsed_s);
  };
  return Description<Device>({
      {"device", "device", &Device::name},
      {"still_mj", "energy: still", [=](const Device& each) { return energy(each.still_mj); }},
      {"busy_mj", "busy", [=](const Device& each) { return energy(each.busy_mj); }},
      {"", "mean power", power, Align::right},
  });
}

std::string devices_text(const Drive& drive) {
  if (drive.devices.empty()) return "";
  simulate::DriveDevice all{"all"};
  for (const simulate::DriveDevice& device : drive.devices) {
    all.still_mj += device.still_mj;
    all.busy_mj += device.busy_mj;
  }
  return "\n" + device_fields(drive).text(drive.devices, all);
}

}  // namespace

std::string drive_text(const SimulatedDrive& simulated) {
  const Drive& drive = simulated.drive;
  std::string text = head_text(simulated);
  if (drive.transitions.level_changes > 0)
    text += fmt::format("overload     the level changed {} times by the policy lower_rate\n",
                        drive.transitions.level_changes);
  if (drive.transitions.passed_over > 0)
    text += fmt::format("passed over  {} recorded releases, in transitions or of groups that were "
                        "not active\n",
                        drive.transitions.passed_over);
  return text + "\n" + group_fields(simulated.deployment.system).text(drive.groups) + "\n" +
         processor_fields(drive).text(drive.processors) + devices_text(drive);
}

std::string drive_json(const SimulatedDrive& simulated) {
  const Drive& drive = simulated.drive;
  DriveJson fields{{"deployment", simulated.file},
                   {"script", or_null(simulated.script)},
                   {"seed", simulated.options.seed},
                   {"times", simulated.options.drawn ? "drawn" : "worst"},
                   {"elapsed_ms", milliseconds(drive.elapsed)},
                   {"transitions",
                    {{"wished", drive.transitions.wished},
                     {"done", drive.transitions.done},
                     {"replaced", drive.transitions.replaced},
                     {"level_changes", drive.transitions.level_changes},
                     {"passed_over", drive.transitions.passed_over},
                     {"longest_ms", milliseconds(drive.transitions.longest)}}},
                   {"groups", group_fields(simulated.deployment.system).array(drive.groups)},
                   {"processors", processor_fields(drive).array(drive.processors)},
                   {"devices", device_fields(drive).array(drive.devices)}};
  for (DriveJson& group : fields["groups"])
    if (group["response"]["mean_ms"].is_null()) group["response"] = nullptr;
  return json_document("drive", std::move(fields));
}

}  // namespace millrace::present
