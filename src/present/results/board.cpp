#include "present/results/board.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "board/board_file.h"
#include "present/text/table.h"

namespace millrace::present {
namespace {

using board::Board;
using board::Device;
using board::Origins;

/// Marks the numbers of one part of a board.
class Marks {
 public:
  Marks(const Board& board, const Origins& origins) : board_(board), origins_(origins) {}

  /// `key` may lack the unit at its end.
  std::string operator()(const std::string& key, const std::string& text) const {
    const auto own = origins_.by_key.lower_bound(key);
    const bool has_own = own != origins_.by_key.end() && own->first.rfind(key, 0) == 0;
    const std::string& name = has_own ? own->second : origins_.all;
    const bool estimated = std::any_of(
        board_.sources.begin(), board_.sources.end(),
        [&](const board::Source& source) { return source.name == name && source.estimated; });
    return estimated ? fmt::format("~{}", text) : text;
  }

 private:
  const Board& board_;
  const Origins& origins_;
};

std::string rate_text(double bytes) {
  return bytes > 0 ? fmt::format("{:.4g} GB/s", bytes / 1e9) : "-";
}

std::string clocks_text(const Device& device) {
  const auto& clocks = device.clocks;
  if (clocks.empty()) return "-";
  if (clocks.size() == 1) return fmt::format("{} MHz", clocks[0].value);
  return fmt::format("{} to {} MHz ({} steps)", clocks.front().value, clocks.back().value,
                     clocks.size());
}

std::string devices_text(const Board& board) {
  Table table({{"device", Align::left},
               {"kind", Align::left},
               {"model", Align::left},
               {"processors", Align::left},
               {"clock", Align::left},
               {"bandwidth"},
               {"scheduling", Align::left}});
  for (const Device& device : board.devices) {
    const Marks mark(board, device.origins);
    std::string processors = fmt::format("{}", fmt::join(device.processors, " "));
    if (device.multiprocessors > 0)
      processors += fmt::format(" ({} multiprocessors)", device.multiprocessors);
    table.add({device.name, to_text(device.kind), device.model, processors,
               mark("clocks_mhz", clocks_text(device)),
               mark("bandwidth_gb_per_s", rate_text(device.bytes)), to_text(device.scheduling)});
  }
  return table.text();
}

std::string units_text(const Board& board) {
  using board::Precision;
  constexpr std::array precisions{Precision::f32, Precision::f16, Precision::bf16, Precision::int8};
  std::vector<Table::Column> columns{{"operations per second", Align::left}, {"unit", Align::left}};
  for (const Precision precision : precisions) columns.push_back({board::to_text(precision)});
  Table table(columns);
  for (const Device& device : board.devices)
    for (const board::Unit& unit : device.units) {
      std::vector<std::string> row{device.name, unit.name};
      for (const Precision precision : precisions) {
        const auto found = unit.operations.find(precision);
        row.push_back(found == unit.operations.end()
                          ? "-"
                          : Marks(board, unit.origins)("peak_gops", count_text(found->second)));
      }
      table.add(std::move(row));
    }
  return table.text();
}

std::string memories_text(const Board& board) {
  Table table({{"memory", Align::left},
               {"size"},
               {"bandwidth"},
               {"shared by", Align::left},
               {"behind", Align::left}});
  for (const board::Memory& memory : board.memories) {
    const Marks mark(board, memory.origins);
    table.add({memory.name, mark("size", to_text(memory.size)),
               mark("bandwidth_gb_per_s", rate_text(memory.bytes)),
               fmt::format("{}", fmt::join(memory.shared_by, " ")), memory.behind});
  }
  for (const board::Cache& cache : board.caches)
    table.add({fmt::format("cache L{}", cache.level),
               Marks(board, cache.origins)("size", to_text(cache.size)), "-",
               fmt::format("{} {}", cache.cores.size() == 1 ? "core" : "cores",
                           fmt::join(cache.cores, ",")),
               ""});
  return table.text();
}

std::string power_text(const Board& board) {
  Table table({{"power of one processor", Align::left}, {"clock"}, {"static"}, {"dynamic"}});
  const auto milliwatts = [](board::Milliwatts power) { return fmt::format("{} mW", power.value); };
  for (const Device& device : board.devices)
    for (const board::PowerPoint& point : device.power) {
      const Marks mark(board, point.origins);
      table.add({device.name, fmt::format("{} MHz", point.clock.value),
                 mark("static_mw", milliwatts(point.still)),
                 mark("dynamic_mw", milliwatts(point.busy))});
    }
  if (board.idle_power)
    table.add({"all that is no processor", "",
               Marks(board, board.origins)("idle_power_mw", milliwatts(*board.idle_power)), ""});
  return table.text();
}

std::string limits_of(const Board& board, const Device& device) {
  const board::Limits& limits = device.limits;
  const Marks mark(board, limits.origins);
  std::string text;
  const auto add = [&](const std::string& line) { text += fmt::format("  {}\n", line); };
  if (!limits.operators.empty()) add(fmt::format("only {}", fmt::join(limits.operators, ", ")));
  if (!limits.not_operators.empty())
    add(fmt::format("not {}", fmt::join(limits.not_operators, ", ")));
  std::string precisions;
  for (const board::Precision precision : limits.precisions)
    precisions += (precisions.empty() ? "in " : ", ") + to_text(precision);
  if (!precisions.empty()) add(precisions);
  if (limits.granularity == board::Granularity::subnet)
    add("measured and run as whole subnets, not layer by layer");
  const auto count = [&](const char* key, std::optional<int> most, const char* what) {
    if (most) add(fmt::format("at most {} {}", mark(key, std::to_string(*most)), what));
  };
  count("subnets", limits.subnets, "subnets on a processor");
  count("subnets_together", limits.subnets_together, "subnets on all its processors together");
  count("streams", limits.streams, "streams of a stage");
  if (!limits.fallback.empty())
    add(fmt::format("what does not run here runs on {}", limits.fallback));
  return text;
}

std::string costs_of(const Board& board, const Device& device) {
  const board::Costs& costs = device.costs;
  const Marks mark(board, costs.origins);
  std::string text;
  const auto add = [&](const std::string& line) { text += fmt::format("  {}\n", line); };
  if (costs.launch > Time{})
    add(fmt::format("launch {}", mark("launch_us", to_text(costs.launch))));
  if (costs.border > Time{})
    add(fmt::format("border of a subnet {}", mark("border_us", to_text(costs.border))));
  if (costs.transfer)
    add(fmt::format("transfer {}", mark("transfer_gb_per_s", rate_text(*costs.transfer))));
  if (costs.copy_engines > 0)
    add(costs.copy_engines == 1 ? "a copy engine moves tensors while it computes"
                                : "two copy engines move tensors, in and out, while it computes");
  if (costs.feeding > 0)
    add(fmt::format("{} is busy with feeding it for {} of its time",
                    costs.fed_by_core ? fmt::format("core {}", *costs.fed_by_core) : "a core",
                    mark("feeding", fmt::format("{:g} %", 100 * costs.feeding))));
  return text;
}

std::string limits_text(const Board& board) {
  std::string text;
  for (const Device& device : board.devices)
    if (const std::string lines = limits_of(board, device) + costs_of(board, device);
        !lines.empty())
      text += fmt::format("{}:\n{}", device.name, lines);
  return text;
}

std::string sources_text(const Board& board) {
  std::string text;
  for (const board::Source& source : board.sources)
    text += fmt::format("{}{}: {}{}\n", source.estimated ? "~" : "", source.name, source.text,
                        source.url.empty() ? "" : fmt::format(" <{}>", source.url));
  return text;
}

std::string caches_of(const board::Board& board, const board::Processor& processor) {
  std::string text;
  for (const board::Cache& cache : board.caches) {
    if (std::find(cache.cores.begin(), cache.cores.end(), processor.cores.front()) ==
        cache.cores.end())
      continue;
    text += fmt::format("{}L{} {}{}", text.empty() ? "" : ", ", cache.level,
                        millrace::to_text(cache.size), cache.cores.size() > 1 ? " (shared)" : "");
  }
  return text;
}

}  // namespace

std::string processors_text(const Board& board) {
  using board::ProcessorKind;
  constexpr std::array<std::pair<ProcessorKind, const char*>, 3> kinds{
      {{ProcessorKind::cpu, "CPU core"}, {ProcessorKind::gpu, "GPU"}, {ProcessorKind::npu, "NPU"}}};
  std::string text;
  for (const auto& [kind, name] : kinds) {
    const auto number =
        std::count_if(board.processors.begin(), board.processors.end(),
                      [&, kind = kind](const auto& processor) { return processor.kind == kind; });
    if (number > 0)
      text +=
          fmt::format("{}{} {}{}", text.empty() ? "" : ", ", number, name, number == 1 ? "" : "s");
  }
  return text;
}

std::string board_text(const Board& board) {
  const auto any = [&](auto list) {
    return std::any_of(board.devices.begin(), board.devices.end(),
                       [&](const Device& device) { return !(device.*list).empty(); });
  };
  std::vector<std::string> parts{fmt::format("{}: {}, {} of memory\n", board.name,
                                             processors_text(board), to_text(main_memory(board))),
                                 devices_text(board)};
  if (any(&Device::units)) parts.push_back(units_text(board));
  parts.push_back(memories_text(board));
  if (board.idle_power || any(&Device::power)) parts.push_back(power_text(board));
  if (std::string limits = limits_text(board); !limits.empty()) parts.push_back(std::move(limits));
  if (!board.sources.empty())
    parts.push_back(fmt::format("sources, ~ for estimates\n{}", sources_text(board)));
  return fmt::format("{}", fmt::join(parts, "\n"));
}

nlohmann::json processor_json(const board::Processor& processor) {
  return {{"name", processor.name},
          {"kind", board::to_text(processor.kind)},
          {"cores", processor.cores}};
}

nlohmann::json board_fields(const board::Board& board) {
  nlohmann::json json = board::to_json(board);
  for (nlohmann::json& cache : json["caches"])
    for (const char* key : {"size_kib", "size_mib", "size_gib"}) cache.erase(key);
  for (std::size_t i = 0; i < board.caches.size(); ++i)
    json["caches"][i]["size_bytes"] = board.caches[i].size.count;
  for (const board::Processor& p : board.processors)
    json["processors"].push_back(processor_json(p));
  json["memory_bytes"] = board::main_memory(board).count;
  json["hash"] = board::hash_of(board);
  return json;
}

std::string machine_text(const board::Board& board) {
  Table processors({{"processor", Align::left},
                    {"kind", Align::left},
                    {"core numbers", Align::left},
                    {"caches", Align::left}});
  for (const board::Processor& p : board.processors)
    processors.add(
        {p.name, "cpu", fmt::format("{}", fmt::join(p.cores, ",")), caches_of(board, p)});
  Table devices({{"device", Align::left},
                 {"model", Align::left},
                 {"processors", Align::left},
                 {"clock", Align::left}});
  for (const Device& device : board.devices)
    devices.add({device.name, device.model, fmt::format("{}", fmt::join(device.processors, " ")),
                 clocks_text(device)});
  const bool are_unlike = board.devices.size() > 1;
  return fmt::format("{}: {}, {} of memory\ninstruction sets: {}\n\n{}{}", board.name,
                     board.cpu_model, millrace::to_text(board::main_memory(board)),
                     fmt::join(board.instruction_sets, " "), processors.text(),
                     are_unlike ? "\n" + devices.text() : "");
}

}  // namespace millrace::present
