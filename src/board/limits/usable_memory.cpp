#include "board/limits/usable_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <utility>

namespace millrace::board {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// A file with one number; "max" and what is not there are no limit.
std::int64_t limit_in(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  std::int64_t bytes = no_limit;
  if (in >> word) std::from_chars(word.data(), word.data() + word.size(), bytes);
  return bytes;
}

/// Of the group and of those that it is in, up to the mount.
std::int64_t limit_of_groups(const fs::path& mount, const std::string& group, const char* file) {
  std::int64_t least = limit_in(mount / file);
  fs::path folder = mount;
  for (const fs::path& part : fs::path(group).relative_path())
    least = std::min(least, limit_in((folder /= part) / file));
  return least;
}

/// "4:cpu,memory:/system.slice/one", of version 2 "0::/system.slice/one".
std::int64_t limit_of_control_groups(const fs::path& root) {
  std::int64_t least = no_limit;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    const fs::path mount = root / "sys/fs/cgroup";
    if (controllers == ",,")
      least = std::min(least, limit_of_groups(mount, group, "memory.max"));
    else if (controllers.find(",memory,") != std::string::npos)
      least = std::min(least, limit_of_groups(mount / "memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

std::int64_t limit_of_process() {
  std::int64_t least = no_limit;
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      least = std::min(least, static_cast<std::int64_t>(
                                  std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(no_limit))));
  }
  return least;
}

}  // namespace

Bytes usable_memory(const fs::path& root) {
  return {std::min(
      {memory_of_this_machine().count, limit_of_control_groups(root), limit_of_process()})};
}

void add_reached(Board& board, Device device, Bytes memory) {
  for (Processor& processor : processors_of(device))
    board.processors.push_back(std::move(processor));
  if (memory.count > 0) {
    auto at = std::ranges::find(board.memories, device.space, &Memory::name);
    if (at == board.memories.end())
      at = board.memories.insert(at, Memory{device.space, memory, 0, {}, {}, {"system", {}}});
    at->shared_by.push_back(device.name);
  }
  board.devices.push_back(std::move(device));
}

const Memory* main_memory_of(const Board& board, const Processor& processor) {
  const Device* const device = device_of(board, processor);
  if (device == nullptr) return nullptr;
  for (const Memory& memory : board.memories)
    if (memory.behind.empty() && memory.size.count > 0 &&
        std::ranges::count(memory.shared_by, device->name) > 0)
      return &memory;
  return nullptr;
}

}  // namespace millrace::board
