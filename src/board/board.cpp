#include "board/board.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace millrace::board {
namespace {

/// {0, 1, 2, 5} is "0-2,5".
std::string ranges_of(const std::vector<int>& cores) {
  std::string text;
  for (std::size_t first = 0; first < cores.size();) {
    std::size_t last = first;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cores[first]);
    if (last > first) text += fmt::format("-{}", cores[last]);
    first = last + 1;
  }
  return text;
}

Processor of_cores(std::vector<int> cores) {
  const char* word = cores.size() == 1 ? "core" : "cores";
  return {word + ranges_of(cores), ProcessorKind::cpu, std::move(cores)};
}

Processor joined(const std::vector<Processor>& processors) {
  std::vector<int> cores;
  for (const Processor& processor : processors)
    cores.insert(cores.end(), processor.cores.begin(), processor.cores.end());
  std::sort(cores.begin(), cores.end());
  return of_cores(std::move(cores));
}

const Processor& find(const Board& board, const std::string& name) {
  const auto found =
      std::find_if(board.processors.begin(), board.processors.end(),
                   [&](const Processor& processor) { return processor.name == name; });
  if (found != board.processors.end()) return *found;
  std::vector<std::string_view> known;
  for (const Processor& processor : board.processors) known.push_back(processor.name);
  const std::string remedy = name.starts_with("cores")
                                 ? "; a name such as cores0-1 joins cores that it has"
                                 : did_you_mean(name, known);
  throw InputError("processors",
                   fmt::format("'{}' is not a processor of this board, which has {}{}", name,
                               fmt::join(known, ", "), remedy));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts{{}};
  for (const char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// Processors whose cores one with this name has, "cores0-1": all from a first to a last.
std::vector<Processor> in_range(const Board& board, const std::string& name) {
  for (std::size_t first = 0; first < board.processors.size(); ++first) {
    std::vector<Processor> group;
    for (std::size_t last = first; last < board.processors.size(); ++last) {
      if (board.processors[last].kind != ProcessorKind::cpu) break;
      group.push_back(board.processors[last]);
      if (group.size() > 1 && joined(group).name == name) return group;
    }
  }
  return {};
}

bool overlap(const Processor& a, const Processor& b) {
  return a == b || std::find_first_of(a.cores.begin(), a.cores.end(), b.cores.begin(),
                                      b.cores.end()) != a.cores.end();
}

/// Adds what has no core of the others'. `name`: as it was asked for.
void add_disjoint(std::vector<Processor>& chosen, Processor processor, const std::string& name) {
  for (const Processor& other : chosen) {
    if (other == processor)
      throw InputError("processors", fmt::format("'{}' is named twice, expected once", name));
    if (overlap(other, processor))
      throw InputError("processors", fmt::format("'{}' and {} have a core in common, expected "
                                                 "each core in one of them",
                                                 name, other.name));
  }
  chosen.push_back(std::move(processor));
}

/// InputError if some of these cores are slower than others, which would wait for them.
void check_alike(const Board& board, const std::vector<Processor>& cores, const std::string& name) {
  const Device* const first = device_of(board, cores.front());
  for (const Processor& core : cores) {
    const Device* const device = device_of(board, core);
    if (first == nullptr || device == nullptr || device->model == first->model) continue;
    throw InputError(
        "processors",
        fmt::format("'{}' joins unlike cores: {} is of {} ({}), {} of {} ({}); join cores of one "
                    "device, since the fast ones would wait for the slow ones",
                    name, cores.front().name, first->name, first->model, core.name, device->name,
                    device->model));
  }
}

/// One with this name, or of several cores: "core0+core1", "cores0-1".
Processor one_named(const Board& board, const std::string& name) {
  std::vector<Processor> group = in_range(board, name);
  if (!group.empty()) {
    check_alike(board, group, name);
    return joined(group);
  }
  for (const std::string& part : split(name, '+')) add_disjoint(group, find(board, part), part);
  if (group.size() == 1) return group.front();
  for (const Processor& processor : group)
    if (processor.kind != ProcessorKind::cpu)
      throw InputError("processors", fmt::format("'{}': {} is not a core, and only cores can work "
                                                 "on a layer together",
                                                 name, processor.name));
  check_alike(board, group, name);
  return joined(group);
}

/// The device is at least as fast as that.
/// Measurements have no more digits that say something.
double whole_millions(double per_second) { return 1e6 * std::round(per_second / 1e6); }

void raise_to(const Peaks& peaks, Device& device) {
  device.bytes = std::max(device.bytes, whole_millions(peaks.bytes));
  for (const auto& [precision, operations] : peaks.operations) {
    double& peak = device.units.front().operations[precision];
    peak = std::max(peak, whole_millions(operations));
  }
}

}  // namespace

Processor all_cores(const Board& board) {
  if (board.processors.size() == 1) return board.processors.front();
  return joined(board.processors);
}

std::vector<Processor> processors_of(const Device& device) {
  std::vector<Processor> processors;
  if (device.kind != ProcessorKind::cpu)
    for (const std::string& name : device.processors) processors.push_back({name, device.kind, {}});
  else if (device.together)
    processors.push_back(of_cores(device.cores));
  else
    for (int core : device.cores) processors.push_back(of_cores({core}));
  return processors;
}

const Device* device_of(const Board& board, const Processor& processor) {
  for (const Device& device : board.devices) {
    const auto& names = device.processors;
    if (std::find(names.begin(), names.end(), processor.name) != names.end()) return &device;
  }
  for (const Device& device : board.devices)
    if (!processor.cores.empty() && std::find(device.cores.begin(), device.cores.end(),
                                              processor.cores.front()) != device.cores.end())
      return &device;
  return nullptr;
}

Bytes main_memory(const Board& board) {
  Bytes sum;
  for (const Memory& memory : board.memories)
    if (memory.behind.empty()) sum += memory.size;
  return sum;
}

Peaks peaks_of(const Board& board, const Processor& processor) {
  Peaks peaks;
  const Device* device = device_of(board, processor);
  if (device == nullptr) return peaks;
  for (const Unit& unit : device->units)
    for (const auto& [precision, operations] : unit.operations) {
      double& peak = peaks.operations[precision];
      peak = std::max(peak, operations);
    }
  peaks.bytes = device->bytes;
  for (const Memory& memory : board.memories) {
    const auto& sharers = memory.shared_by;
    if (peaks.bytes == 0 &&
        std::find(sharers.begin(), sharers.end(), device->name) != sharers.end())
      peaks.bytes = memory.bytes;
  }
  return peaks;
}

Board only(const Board& board, const std::vector<std::string>& processor_names) {
  if (processor_names.empty())
    throw InputError("processors", "the list is empty, expected at least one processor");
  Board result = board;
  result.processors.clear();
  for (const std::string& name : processor_names)
    add_disjoint(result.processors, one_named(board, name), name);
  return result;
}

Board with_peaks(Board board, const std::vector<Peaks>& alone, const std::vector<Peaks>& together) {
  const Origins measured{"measured", {}};
  board.sources.push_back({measured.all, "measured on this machine by Millrace", {}});
  for (Device& device : board.devices) {
    device.units = {{"vector_units", {}, measured}};
    for (std::size_t p = 0; p < alone.size(); ++p)
      if (device_of(board, board.processors[p]) == &device) raise_to(alone[p], device);
    device.origins.by_key["bandwidth_gb_per_s"] = measured.all;
  }
  Memory& memory = board.memories.front();
  for (const Peaks& peaks : together) memory.bytes += peaks.bytes;
  memory.bytes = whole_millions(memory.bytes);
  memory.origins.by_key["bandwidth_gb_per_s"] = measured.all;
  return board;
}

}  // namespace millrace::board
