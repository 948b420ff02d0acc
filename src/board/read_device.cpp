#include "board/read_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "board/board.h"
#include "board/words.h"

namespace millrace::board {
namespace {

constexpr std::string_view device_keys[] = {
    "name",       "model",           "kind",
    "cores",      "together",        "processors",
    "clocks_mhz", "multiprocessors", "multiprocessor_groups",
    "units",      "power",           "bandwidth_gb_per_s",
    "scheduling", "limits",          "costs",
    "efficiency", "source"};
constexpr std::string_view unit_keys[] = {"name", "peak_gops", "source"};
constexpr std::string_view power_keys[] = {"clock_mhz", "static_mw", "dynamic_mw", "source"};
constexpr std::string_view limit_keys[] = {"operators",   "not_operators", "precisions",
                                           "granularity", "subnets",       "subnets_together",
                                           "streams",     "fallback",      "source"};
constexpr std::string_view cost_keys[] = {"launch_us",    "border_us", "transfer_gb_per_s",
                                          "copy_engines", "feeding",   "fed_by_core",
                                          "source"};
constexpr std::string_view efficiency_keys[] = {"operator", "precision", "arithmetic", "memory",
                                                "source"};
constexpr int most = 1 << 16;
constexpr Bounds share{0, 1, true}, clock{0, 1e5, true};

std::vector<YamlView> optional_items(const YamlView& view, std::string_view key) {
  return view.has(key) ? view.at(key).items() : std::vector<YamlView>{};
}

std::optional<int> optional_count(const YamlView& view, std::string_view key) {
  if (!view.has(key)) return std::nullopt;
  return read_count(view.at(key), 1, most);
}

std::vector<int> read_cores(const YamlView& view) {
  std::vector<int> cores;
  for (const YamlView& item : view.items()) {
    cores.push_back(read_count(item, 0, largest_core));
    if (cores.size() > 1 && cores.back() <= cores[cores.size() - 2])
      item.fail(fmt::format("core {} stands after core {}, expected ascending numbers",
                            cores.back(), cores[cores.size() - 2]));
  }
  if (cores.empty()) view.fail("found no cores, expected at least one");
  return cores;
}

void refuse(const YamlView& view, std::string_view key, std::string_view why) {
  if (view.has(key)) view.at(key).fail(fmt::format("{}; remove it", why));
}

/// Fails on a processor that another device has, too.
void read_processors(const YamlView& view, Device& device, Names& processors) {
  const bool is_cpu = device.kind == ProcessorKind::cpu;
  if (is_cpu) {
    refuse(view, "processors", "processors of kind cpu are named after their cores");
    device.cores = read_cores(view.at("cores"));
    device.together = view.has("together") && view.at("together").boolean();
    for (const Processor& processor : board::processors_of(device))
      device.processors.push_back(processors.add(view.at("cores"), processor.name));
    return;
  }
  refuse(view, "cores", "cores are numbered on devices of kind cpu only");
  refuse(view, "together", "only the cores of a device of kind cpu work together");
  if (!view.has("processors")) {
    device.processors = {processors.add(view.at("name"))};
    return;
  }
  for (const YamlView& item : view.at("processors").items())
    device.processors.push_back(processors.add(item));
  if (device.processors.empty())
    view.at("processors").fail("found no processors, expected at least one");
}

std::vector<Megahertz> read_clocks(const YamlView& view) {
  std::vector<Megahertz> clocks;
  for (const YamlView& item : optional_items(view, "clocks_mhz")) {
    const Megahertz next{read_number(item, clock)};
    if (!clocks.empty() && next <= clocks.back())
      item.fail(fmt::format("{} MHz stands after {} MHz, expected ascending clocks", next.value,
                            clocks.back().value));
    clocks.push_back(next);
  }
  if (view.has("clocks_mhz") && clocks.empty())
    view.at("clocks_mhz").fail("found no clocks, expected at least one");
  return clocks;
}

Unit read_unit(const YamlView& view, const Names& sources) {
  view.only(unit_keys);
  Unit unit{view.at("name").text(), {}, read_origins(view, sources)};
  const YamlView peaks = view.at("peak_gops");
  peaks.only(precisions);
  for (const std::string& key : peaks.keys())
    unit.operations[read_precision(key, key)] = read_giga(peaks.at(key));
  if (unit.operations.empty()) peaks.fail("found no rates, expected one for each precision");
  return unit;
}

PowerPoint read_power_point(const YamlView& view, const Names& sources) {
  view.only(power_keys);
  return {{read_number(view.at("clock_mhz"), clock)},
          read_power(view.at("static_mw")),
          read_power(view.at("dynamic_mw")),
          read_origins(view, sources)};
}

std::vector<PowerPoint> read_power_points(const YamlView& view, const Names& sources) {
  std::vector<PowerPoint> points;
  for (const YamlView& item : optional_items(view, "power")) {
    const PowerPoint point = read_power_point(item, sources);
    if (!points.empty() && point.clock <= points.back().clock)
      item.at("clock_mhz")
          .fail(fmt::format("{} MHz stands after {} MHz, expected ascending clocks",
                            point.clock.value, points.back().clock.value));
    points.push_back(point);
  }
  return points;
}

Limits read_limits(const YamlView& view, const Names& sources) {
  view.only(limit_keys);
  Limits limits;
  if (view.has("operators")) limits.operators = read_texts(view.at("operators"));
  if (view.has("not_operators")) limits.not_operators = read_texts(view.at("not_operators"));
  for (const YamlView& item : optional_items(view, "precisions"))
    limits.precisions.push_back(read_precision(item));
  if (view.has("granularity"))
    limits.granularity = static_cast<Granularity>(read_word(view.at("granularity"), granularities));
  limits.subnets = optional_count(view, "subnets");
  limits.subnets_together = optional_count(view, "subnets_together");
  limits.streams = optional_count(view, "streams");
  if (view.has("fallback")) limits.fallback = view.at("fallback").text();
  limits.origins = read_origins(view, sources);
  return limits;
}

void read_feeding(const YamlView& view, ProcessorKind kind, Costs& costs) {
  if (kind == ProcessorKind::cpu) {
    refuse(view, "feeding",
           "a core launches its own work: only devices of kind gpu or npu are fed");
    refuse(view, "fed_by_core",
           "a core launches its own work: only devices of kind gpu or npu are fed");
  }
  if (view.has("feeding")) {
    costs.feeding = view.at("feeding").number();
    if (!(costs.feeding >= 0 && costs.feeding <= 1))
      view.at("feeding").fail(fmt::format(
          "found {}, expected a share of the device's time, from 0 to 1; write 20 % as 0.2",
          costs.feeding));
  }
  if (!view.has("fed_by_core")) return;
  costs.fed_by_core = read_count(view.at("fed_by_core"), 0, largest_core);
  if (!view.has("feeding"))
    view.at("fed_by_core")
        .fail(
            "names a core, but 'feeding' is missing; give the share of the device's time, from "
            "0 to 1, that the core is busy with launching");
}

Costs read_costs(const YamlView& view, ProcessorKind kind, const Names& sources) {
  view.only(cost_keys);
  Costs costs;
  read_feeding(view, kind, costs);
  if (view.has("launch_us")) costs.launch = read_microseconds(view.at("launch_us"));
  if (view.has("border_us")) costs.border = read_microseconds(view.at("border_us"));
  if (view.has("transfer_gb_per_s")) costs.transfer = read_giga(view.at("transfer_gb_per_s"));
  if (view.has("copy_engines")) {
    costs.copy_engines = read_count(view.at("copy_engines"), 0, 2);
    if (costs.copy_engines > 0 && !costs.transfer)
      view.at("copy_engines")
          .fail("copies over a way that is not there; give 'transfer_gb_per_s', or leave it out");
  }
  costs.origins = read_origins(view, sources);
  return costs;
}

Efficiency read_efficiency(const YamlView& view, const Names& sources) {
  view.only(efficiency_keys);
  Efficiency efficiency;
  efficiency.op = view.at("operator").text();
  if (view.has("precision")) efficiency.precision = read_precision(view.at("precision"));
  if (view.has("arithmetic")) efficiency.arithmetic = read_number(view.at("arithmetic"), share);
  if (view.has("memory")) efficiency.memory = read_number(view.at("memory"), share);
  efficiency.origins = read_origins(view, sources);
  return efficiency;
}

std::vector<Efficiency> read_efficiencies(const YamlView& view, const Names& sources) {
  std::vector<Efficiency> result;
  for (const YamlView& item : optional_items(view, "efficiency")) {
    const Efficiency next = read_efficiency(item, sources);
    const auto same = [&](const Efficiency& e) {
      return e.op == next.op && e.precision == next.precision;
    };
    if (std::any_of(result.begin(), result.end(), same))
      item.at("operator").fail(fmt::format("'{}' is there twice; remove one", next.op));
    result.push_back(next);
  }
  return result;
}

}  // namespace

Device read_device(const YamlView& view, FileNames& names) {
  view.only(device_keys);
  Device device;
  device.name = names.devices.add(view.at("name"));
  if (view.has("model")) device.model = view.at("model").text();
  device.kind = static_cast<ProcessorKind>(read_word(view.at("kind"), processor_kinds));
  read_processors(view, device, names.processors);
  if (device.kind != ProcessorKind::gpu) {
    refuse(view, "multiprocessors", "only devices of kind gpu have multiprocessors");
    refuse(view, "multiprocessor_groups", "only devices of kind gpu have multiprocessors");
  }
  device.multiprocessors = optional_count(view, "multiprocessors").value_or(0);
  device.multiprocessor_groups = optional_count(view, "multiprocessor_groups").value_or(0);
  if (device.multiprocessor_groups > device.multiprocessors)
    view.at("multiprocessor_groups")
        .fail(fmt::format("found {} groups, expected at most one for each of the {} "
                          "multiprocessors",
                          device.multiprocessor_groups, device.multiprocessors));
  device.clocks = read_clocks(view);
  if (view.has("bandwidth_gb_per_s")) device.bytes = read_giga(view.at("bandwidth_gb_per_s"));
  for (const YamlView& unit : optional_items(view, "units"))
    device.units.push_back(read_unit(unit, names.sources));
  device.power = read_power_points(view, names.sources);
  device.scheduling = usual_scheduling(device.kind);
  if (view.has("scheduling"))
    device.scheduling = static_cast<Scheduling>(read_word(view.at("scheduling"), schedulings));
  if (view.has("limits")) device.limits = read_limits(view.at("limits"), names.sources);
  if (view.has("costs")) device.costs = read_costs(view.at("costs"), device.kind, names.sources);
  device.efficiency = read_efficiencies(view, names.sources);
  device.origins = read_origins(view, names.sources);
  return device;
}

}  // namespace millrace::board
