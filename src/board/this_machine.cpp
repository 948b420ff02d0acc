#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "base/error.h"
#include "board/arm_cores.h"
#include "board/board.h"
#include "board/clusters.h"
#include "board/instruction_sets.h"

namespace millrace::board {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

Topology load_topology() {
  // What hwloc misses it would print; a machine without /sys has its cores nevertheless.
  ::setenv("HWLOC_HIDE_ERRORS", "2", 0);
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw EngineError("hwloc cannot be initialised");
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0) throw EngineError("hwloc cannot read this machine's topology");
  return topology;
}

/// The members of `usable` in the object, ascending as `usable` is.
std::vector<int> cores_in(hwloc_obj_t object, const std::vector<int>& usable) {
  std::vector<int> cores;
  for (int core : usable)
    if (hwloc_bitmap_isset(object->cpuset, static_cast<unsigned>(core)) != 0) cores.push_back(core);
  return cores;
}

template <class Visit>
void for_each(const Topology& topology, hwloc_obj_type_t type, Visit visit) {
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology.get(), type, object)) != nullptr)
    visit(object);
}

std::vector<Processor> processors_of(const Topology& topology, const std::vector<int>& usable) {
  // Some virtual machines report hardware threads but no cores.
  const bool has_cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) > 0;
  std::vector<Processor> processors;
  for_each(topology, has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU, [&](hwloc_obj_t core) {
    const std::vector<int> threads = cores_in(core, usable);
    if (threads.empty()) return;
    const int first = threads.front();
    processors.push_back({"core" + std::to_string(first), ProcessorKind::cpu, {first}});
  });
  std::sort(processors.begin(), processors.end(),
            [](const Processor& a, const Processor& b) { return a.cores < b.cores; });
  return processors;
}

std::vector<Cache> caches_of(const Topology& topology, const std::vector<int>& usable) {
  constexpr std::array types{HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                             HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
  std::vector<Cache> caches;
  for (std::size_t i = 0; i < types.size(); ++i)
    for_each(topology, types[i], [&](hwloc_obj_t object) {
      std::vector<int> cores = cores_in(object, usable);
      if (cores.empty()) return;
      const auto size = static_cast<std::int64_t>(object->attr->cache.size);
      caches.push_back({static_cast<int>(i) + 1, Bytes{size}, std::move(cores), {"system", {}}});
    });
  return caches;
}

std::string model_of(const Topology& topology) {
  std::string model;
  for_each(topology, HWLOC_OBJ_PACKAGE, [&](hwloc_obj_t package) {
    const char* text = hwloc_obj_get_info_by_name(package, "CPUModel");
    if (model.empty() && text != nullptr) model = text;
  });
  if (!model.empty()) return model;
  std::ifstream cpuinfo("/proc/cpuinfo");
  model = arm_cores(cpuinfo);
  return model.empty() ? "unknown" : model;
}

/// hwloc's number for cores like this one; 0 where it knows no kinds.
int kind_of(const Topology& topology, int core) {
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  hwloc_bitmap_set(set, static_cast<unsigned>(core));
  const int kind = hwloc_cpukinds_get_by_cpuset(topology.get(), set, 0);
  hwloc_bitmap_free(set);
  return std::max(kind, 0);
}

std::vector<Device> devices_of(const Topology& topology, const Board& board) {
  std::vector<int> cores;
  for (const Processor& processor : board.processors) cores.push_back(processor.cores.front());
  std::vector<CoreFacts> facts = facts_of_cores(cores);
  for (CoreFacts& each : facts) each.kind = kind_of(topology, each.core);
  return devices_of_cores(board.processors, facts, board.cpu_model);
}

Memory memory_of_all(const Board& board) {
  Memory memory;
  memory.name = "memory";
  memory.size = memory_of_this_machine();
  for (const Device& device : board.devices) memory.shared_by.push_back(device.name);
  memory.origins.all = "system";
  return memory;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace

/// hwloc sums the memory nodes, which do not count memory that a hypervisor has added or may take.
Bytes memory_of_this_machine() {
  return {std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE)};
}

Board this_machine() {
  const Topology topology = load_topology();
  const std::vector<int> usable = cores_of_this_thread();
  Board board;
  board.name = host_name();
  board.cpu_model = model_of(topology);
  board.instruction_sets = instruction_sets();
  board.processors = processors_of(topology, usable);
  if (board.processors.empty()) throw EngineError("hwloc sees no core that this process may use");
  board.devices = devices_of(topology, board);
  board.memories = {memory_of_all(board)};
  board.caches = caches_of(topology, usable);
  board.sources = {{"system", "this machine's operating system and hwloc", {}}};
  return board;
}

}  // namespace millrace::board
