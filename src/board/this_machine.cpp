#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "board/arm_cores.h"
#include "board/board.h"
#include "board/clusters.h"
#include "board/instruction_sets.h"
#include "board/limits/usable_memory.h"

namespace millrace::board {
namespace {

namespace fs = std::filesystem;

/// Hardware threads of one core, ascending; only this one where the system tells nothing.
std::vector<int> threads_of(int core, const fs::path& cpus) {
  const fs::path list = cpus / fmt::format("cpu{}/topology/thread_siblings_list", core);
  std::vector<int> threads = cores_in_file(list);
  if (threads.empty()) threads = {core};
  return threads;
}

/// The first usable hardware thread of each core.
std::vector<Processor> processors_of(const std::vector<int>& usable, const fs::path& cpus) {
  std::set<int> done;
  std::vector<Processor> processors;
  for (const int core : usable) {
    if (done.contains(core)) continue;
    const std::vector<int> threads = threads_of(core, cpus);
    done.insert(threads.begin(), threads.end());
    processors.push_back({"core" + std::to_string(core), ProcessorKind::cpu, {core}});
  }
  return processors;
}

/// What `index` describes, for the usable ones of its cores; nothing for a cache of instructions.
std::optional<Cache> cache_in(const fs::path& index, const std::vector<int>& usable) {
  if (first_line(index / "type") == "Instruction") return std::nullopt;
  int level = 0;
  std::int64_t kibibytes = 0;
  std::istringstream(first_line(index / "level")) >> level;
  std::istringstream(first_line(index / "size")) >> kibibytes;  // "48K"
  std::vector<int> cores = cores_in_file(index / "shared_cpu_list");
  std::erase_if(cores, [&](int core) { return !std::ranges::binary_search(usable, core); });
  if (level < 1 || kibibytes < 1 || cores.empty()) return std::nullopt;
  return Cache{level, Bytes{kibibytes * 1024}, std::move(cores), {"system", {}}};
}

/// By level, then by cores; each once, though all cores that share it tell it.
std::vector<Cache> caches_of(const std::vector<int>& usable, const fs::path& cpus) {
  std::map<std::pair<int, std::vector<int>>, Cache> caches;
  for (const int core : usable)
    for (int index = 0;; ++index) {
      const fs::path folder = cpus / fmt::format("cpu{}/cache/index{}", core, index);
      std::error_code ignored;
      if (!fs::exists(folder, ignored)) break;
      if (auto cache = cache_in(folder, usable))
        caches.try_emplace({cache->level, cache->cores}, std::move(*cache));
    }
  std::vector<Cache> result;
  for (auto& [key, cache] : caches) result.push_back(std::move(cache));
  return result;
}

std::string model_of(const fs::path& root) {
  std::ifstream cpuinfo(root / "proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  std::ifstream again(root / "proc/cpuinfo");
  const std::string model = arm_cores(again);
  return model.empty() ? "unknown" : model;
}

std::vector<Device> devices_of(const Board& board, const fs::path& root) {
  std::vector<int> cores;
  for (const Processor& processor : board.processors) cores.push_back(processor.cores.front());
  return devices_of_cores(board.processors, facts_of_cores(cores, root), board.cpu_model);
}

Memory memory_of_all(const Board& board, const fs::path& root) {
  Memory memory;
  memory.name = "memory";
  memory.size = usable_memory(root);
  for (const Device& device : board.devices) memory.shared_by.push_back(device.name);
  memory.origins.all = "system";
  return memory;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace

Bytes memory_of_this_machine() {
  return {std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE)};
}

Board this_machine() { return machine_at("/"); }

Board machine_at(const std::filesystem::path& root) {
  const std::vector<int> usable = cores_of_this_thread();
  const fs::path cpus = root / "sys/devices/system/cpu";
  Board board;
  board.name = host_name();
  board.cpu_model = model_of(root);
  board.instruction_sets = instruction_sets();
  board.processors = processors_of(usable, cpus);
  if (board.processors.empty()) throw EngineError("this process may use no core");
  board.devices = devices_of(board, root);
  board.memories = {memory_of_all(board, root)};
  board.caches = caches_of(usable, cpus);
  board.sources = {{"system", "this machine's operating system", {}}};
  return board;
}

}  // namespace millrace::board
