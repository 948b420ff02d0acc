#include <nlohmann/json.hpp>

#include "base/yaml.h"
#include "board/board_file.h"

namespace millrace::board {
namespace {

using Json = nlohmann::ordered_json;

constexpr double giga = 1e9;

template <class List>
void add_unless_empty(Json& json, const char* key, const List& list) {
  if (!list.empty()) json[key] = list;
}

void add(Json& json, const Origins& origins) {
  if (origins.by_key.empty()) return add_unless_empty(json, "source", origins.all);
  json["source"] = origins.by_key;
  add_unless_empty(json["source"], "other", origins.all);
}

/// In the largest unit of which it is a whole number, else in the smallest.
void add(Json& json, Bytes size) {
  if (size.count % (1 << 30) == 0)
    json["size_gib"] = size.count >> 30;
  else if (size.count % (1 << 20) == 0)
    json["size_mib"] = size.count >> 20;
  else if (size.count % (1 << 10) == 0)
    json["size_kib"] = size.count >> 10;
  else
    json["size_kib"] = static_cast<double>(size.count) / 1024;
}

Json to_json(const Source& source);
Json to_json(const Unit& unit);
Json to_json(const PowerPoint& point);
Json to_json(const Efficiency& efficiency);
Json to_json(const Device& device);
Json to_json(const Memory& memory);
Json to_json(const Cache& cache);

template <class List>
Json list_of(const List& list) {
  Json result = Json::array();
  for (const auto& item : list) result.push_back(to_json(item));
  return result;
}

Json to_json(const Source& source) {
  Json json = {{"name", source.name}, {"text", source.text}};
  add_unless_empty(json, "url", source.url);
  if (source.estimated) json["estimated"] = true;
  return json;
}

Json to_json(const Unit& unit) {
  Json json = {{"name", unit.name}, {"peak_gops", Json::object()}};
  for (const auto& [precision, operations] : unit.operations)
    json["peak_gops"][to_text(precision)] = operations / giga;
  add(json, unit.origins);
  return json;
}

Json to_json(const PowerPoint& point) {
  Json json = {{"clock_mhz", point.clock.value},
               {"static_mw", point.still.value},
               {"dynamic_mw", point.busy.value}};
  add(json, point.origins);
  return json;
}

Json to_json(const Efficiency& efficiency) {
  Json json = {{"operator", efficiency.op}};
  if (efficiency.precision) json["precision"] = to_text(*efficiency.precision);
  json["arithmetic"] = efficiency.arithmetic;
  json["memory"] = efficiency.memory;
  add(json, efficiency.origins);
  return json;
}

Json to_json(const Limits& limits) {
  Json json;
  add_unless_empty(json, "operators", limits.operators);
  add_unless_empty(json, "not_operators", limits.not_operators);
  for (const Precision precision : limits.precisions)
    json["precisions"].push_back(to_text(precision));
  json["granularity"] = to_text(limits.granularity);
  if (limits.subnets) json["subnets"] = *limits.subnets;
  if (limits.subnets_together) json["subnets_together"] = *limits.subnets_together;
  if (limits.streams) json["streams"] = *limits.streams;
  add_unless_empty(json, "fallback", limits.fallback);
  add(json, limits.origins);
  return json;
}

Json to_json(const Costs& costs) {
  Json json = {{"launch_us", microseconds(costs.launch)},
               {"border_us", microseconds(costs.border)}};
  if (costs.transfer) json["transfer_gb_per_s"] = *costs.transfer / giga;
  if (costs.copy_engines > 0) json["copy_engines"] = costs.copy_engines;
  if (costs.feeding > 0 || costs.fed_by_core) json["feeding"] = costs.feeding;
  if (costs.fed_by_core) json["fed_by_core"] = *costs.fed_by_core;
  add(json, costs.origins);
  return json;
}

void add_processors(Json& json, const Device& device) {
  if (device.kind == ProcessorKind::cpu) {
    json["cores"] = device.cores;
    if (device.together) json["together"] = true;
  } else if (device.processors != std::vector{device.name}) {
    json["processors"] = device.processors;
  }
}

Json to_json(const Device& device) {
  Json json = {{"name", device.name}};
  add_unless_empty(json, "model", device.model);
  json["kind"] = to_text(device.kind);
  add_processors(json, device);
  if (device.multiprocessors > 0) json["multiprocessors"] = device.multiprocessors;
  if (device.multiprocessor_groups > 0)
    json["multiprocessor_groups"] = device.multiprocessor_groups;
  for (const Megahertz clock : device.clocks) json["clocks_mhz"].push_back(clock.value);
  if (device.bytes > 0) json["bandwidth_gb_per_s"] = device.bytes / giga;
  add_unless_empty(json, "units", list_of(device.units));
  add_unless_empty(json, "power", list_of(device.power));
  json["scheduling"] = to_text(device.scheduling);
  if (device.limits != Limits{}) json["limits"] = to_json(device.limits);
  if (device.costs != Costs{}) json["costs"] = to_json(device.costs);
  add_unless_empty(json, "efficiency", list_of(device.efficiency));
  add(json, device.origins);
  return json;
}

Json to_json(const Memory& memory) {
  Json json = {{"name", memory.name}};
  add(json, memory.size);
  if (memory.bytes > 0) json["bandwidth_gb_per_s"] = memory.bytes / giga;
  json["shared_by"] = memory.shared_by;
  add_unless_empty(json, "behind", memory.behind);
  add(json, memory.origins);
  return json;
}

Json to_json(const Cache& cache) {
  Json json = {{"level", cache.level}};
  add(json, cache.size);
  json["cores"] = cache.cores;
  add(json, cache.origins);
  return json;
}

}  // namespace

Json to_json(const Board& board) {
  Json json = {{"format", 1}, {"name", board.name}};
  add_unless_empty(json, "cpu_model", board.cpu_model);
  add_unless_empty(json, "instruction_sets", board.instruction_sets);
  if (board.idle_power) json["idle_power_mw"] = board.idle_power->value;
  add(json, board.origins);
  add_unless_empty(json, "sources", list_of(board.sources));
  json["devices"] = list_of(board.devices);
  add_unless_empty(json, "memories", list_of(board.memories));
  add_unless_empty(json, "caches", list_of(board.caches));
  return json;
}

void write_board(const std::filesystem::path& path, const Board& board) {
  write_yaml(path, to_json(board));
}

}  // namespace millrace::board
