#include "base/hash.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "board/board.h"
#include "board/board_file.h"

namespace millrace::board {
namespace {

void add_cores(Hasher& hasher, const std::vector<int>& cores) {
  hasher.add(static_cast<std::int64_t>(cores.size()));
  for (int core : cores) hasher.add(std::int64_t{core});
}

/// What is known of any device: who it is.
Device name_only(const Device& device) {
  Device plain;
  plain.name = device.name;
  plain.model = device.model;
  plain.kind = device.kind;
  plain.cores = device.cores;
  plain.together = device.together;
  plain.processors = device.processors;
  plain.clocks = device.clocks;  // the system tells them too
  plain.scheduling = usual_scheduling(device.kind);
  plain.origins = device.origins;
  return plain;
}

/// Whether it says more than is found on a machine.
bool is_described(const Board& board) {
  const auto plain = [](const Device& device) {
    return device.kind == ProcessorKind::cpu && !device.together && device == name_only(device);
  };
  return !std::all_of(board.devices.begin(), board.devices.end(), plain) || board.idle_power ||
         std::any_of(board.memories.begin(), board.memories.end(),
                     [](const Memory& memory) { return memory.bytes > 0; });
}

/// Where numbers come from changes nothing about them, nor do names for people.
Board numbers_of(Board board) {
  board.name.clear();
  // What the system tells is a limit of the process that asked, not a number of the hardware.
  std::erase_if(board.memories, [](const Memory& memory) {
    return memory.origins.all == "system" && memory.bytes == 0;
  });
  board.sources.clear();
  board.origins = {};
  for (Memory& memory : board.memories) memory.origins = {};
  for (Cache& cache : board.caches) cache.origins = {};
  for (Device& device : board.devices) {
    device.model.clear();
    device.origins = device.limits.origins = device.costs.origins = {};
    for (Unit& unit : device.units) unit.origins = {};
    for (PowerPoint& point : device.power) point.origins = {};
    for (Efficiency& efficiency : device.efficiency) efficiency.origins = {};
  }
  return board;
}

}  // namespace

std::string hash_of(const Board& board) {
  Hasher hasher;
  hasher.add(board.cpu_model);
  hasher.add(static_cast<std::int64_t>(board.instruction_sets.size()));
  for (const std::string& set : board.instruction_sets) hasher.add(set);
  hasher.add(static_cast<std::int64_t>(board.caches.size()));
  for (const Cache& cache : board.caches) {
    hasher.add(std::int64_t{cache.level}).add(cache.size.count);
    add_cores(hasher, cache.cores);
  }
  // A machine without a board file keeps the hash that its stored profiles have.
  if (is_described(board)) hasher.add(to_json(numbers_of(board)).dump());
  return hasher.digits();
}

}  // namespace millrace::board
