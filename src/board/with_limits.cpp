#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "board/board.h"

namespace millrace::board {
namespace {

template <class T>
void move_to(std::vector<T>& to, std::vector<T>& from, const T& item) {
  const auto found = std::find(from.begin(), from.end(), item);
  if (found == from.end()) return;
  to.push_back(item);
  from.erase(found);
}

/// What both boards have, by the other's device.
std::vector<Processor> common_processors(const Board& board, const Device& other) {
  std::vector<Processor> result;
  for (const Processor& processor : processors_of(other))
    if (std::find(board.processors.begin(), board.processors.end(), processor) !=
        board.processors.end())
      result.push_back(processor);
  return result;
}

/// A device like the first one's, with these processors, which the board's devices lose.
Device taken_out(Board& board, const std::vector<Processor>& processors) {
  const Device* before = device_of(board, processors.front());
  Device result = before == nullptr ? Device{} : *before;
  result.kind = processors.front().kind;
  result.cores.clear();
  result.processors.clear();
  for (Device& device : board.devices)
    for (const Processor& processor : processors) {
      move_to(result.processors, device.processors, processor.name);
      for (const int core : processor.cores) move_to(result.cores, device.cores, core);
    }
  return result;
}

void add_sharer(Board& board, const std::string& of, const std::string& device) {
  for (Memory& memory : board.memories)
    if (std::find(memory.shared_by.begin(), memory.shared_by.end(), of) != memory.shared_by.end())
      memory.shared_by.push_back(device);
}

}  // namespace

Board with_limits(Board board, const Board& other) {
  std::vector<Device> limited;
  for (const Device& device : other.devices) {
    const auto processors = common_processors(board, device);
    if (processors.empty()) continue;
    Device own = taken_out(board, processors);
    add_sharer(board, own.name, device.name);
    own.name = device.name;
    own.limits = device.limits;
    own.scheduling = device.scheduling;
    limited.push_back(std::move(own));
  }
  if (limited.empty()) {
    std::vector<std::string> names;
    for (const Processor& processor : board.processors) names.push_back(processor.name);
    throw InputError(other.name, fmt::format("has no device with a processor of this machine ({}); "
                                             "use these names in the file",
                                             fmt::join(names, ", ")));
  }
  std::erase_if(board.devices, [](const Device& device) { return processors_of(device).empty(); });
  board.devices.insert(board.devices.end(), limited.begin(), limited.end());
  return board;
}

}  // namespace millrace::board
