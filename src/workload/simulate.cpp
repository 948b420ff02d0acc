#include "workload/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "workload/link_run.h"

namespace millrace::workload {
namespace {

class WorkloadSimulation {
 public:
  WorkloadSimulation(const Workload& workload, const CycleCosts& costs, bool with_runs)
      : workload_(workload),
        costs_(costs),
        with_runs_(with_runs),
        links_(links_at_start(workload)) {}

  SimulatedWorkload run() {
    const std::int64_t steps = steps_of(workload_);
    for (std::int64_t step = 0; step < steps; ++step) play(step);
    std::ranges::stable_sort(result_.runs, {}, &LinkRun::begin);
    return std::move(result_);
  }

 private:
  void play(std::int64_t step) {
    const std::int64_t begin = result_.cycles;
    std::map<std::string, std::int64_t> free;  // by unit, if they work at the same time
    for (std::size_t i = 0; i < links_.size(); ++i) {
      LinkProgress& at = links_[i];
      if (!is_active(*at.link, step)) continue;
      std::int64_t& from =
          free.try_emplace(workload_.overlapped ? at.link->unit : "", begin).first->second;
      const std::int64_t cycles = cycles_of(at, costs_);
      if (with_runs_) result_.runs.push_back({i, step, from, from + cycles});
      from += cycles;
      (at.link->kind == LinkKind::transfer ? result_.transfers : result_.computing) += cycles;
      move_on(at);
    }
    for (const auto& [unit, end] : free) result_.cycles = std::max(result_.cycles, end);
  }

  const Workload& workload_;
  const CycleCosts& costs_;
  bool with_runs_;
  std::vector<LinkProgress> links_;
  SimulatedWorkload result_;
};

bool is_of(const board::Memory& memory, const std::string& device) {
  return std::ranges::find(memory.shared_by, device) != memory.shared_by.end();
}

/// The memory that only this device has and that lies behind another; null: none.
const board::Memory* own_memory(const board::Board& board, const std::string& device) {
  for (const board::Memory& memory : board.memories)
    if (!memory.behind.empty() && memory.shared_by.size() == 1 && is_of(memory, device))
      return &memory;
  return nullptr;
}

/// From the one that the main memory fills to the device's own.
std::vector<const board::Memory*> memories_of(const board::Board& board,
                                              const board::Device& device) {
  std::vector<const board::Memory*> chain{own_memory(board, device.name)};
  while (chain.size() <= max_between) {
    const auto behind =
        std::ranges::find(board.memories, chain.back()->behind, &board::Memory::name);
    if (behind == board.memories.end() || behind->behind.empty()) break;
    chain.push_back(&*behind);
  }
  std::ranges::reverse(chain);
  return chain;
}

/// One processor's parts of the memories, and how fast they are filled.
void add_memories(const board::Device& device, const std::vector<const board::Memory*>& chain,
                  TileTarget& target) {
  const auto processors = static_cast<std::int64_t>(device.processors.size());
  for (const board::Memory* memory : chain)
    target.between.push_back({memory->name, Bytes{memory->size.count / processors},
                              memory->bytes > 0 ? memory->bytes : device.bytes});
  target.scratchpad = target.between.back().size;
  target.bytes_per_second = target.between.back().bytes_per_second;
  target.between.pop_back();
}

/// Operations per second in 8 bits, else in 32.
std::pair<double, std::int64_t> arithmetic_of(const board::Device& device) {
  double bytes = 0, floats = 0;
  for (const board::Unit& unit : device.units)
    for (const auto& [precision, operations] : unit.operations) {
      if (precision == board::Precision::int8) bytes = std::max(bytes, operations);
      if (precision == board::Precision::f32) floats = std::max(floats, operations);
    }
  return bytes > 0 ? std::pair{bytes, std::int64_t{1}} : std::pair{floats, std::int64_t{4}};
}

/// Rate of general vector instructions, whatever the precision: for what does not multiply.
double vector_rate(const board::Device& device, double operations) {
  for (const board::Unit& unit : device.units)
    if (const auto found = unit.operations.find(board::Precision::f32);
        found != unit.operations.end())
      return found->second / 2;
  constexpr double share_of_matrix_unit = 1.0 / 64;
  return operations * share_of_matrix_unit;
}

const board::Device& device_with_memory(const board::Board& board, const std::string& name) {
  for (const board::Device& device : board.devices)
    if ((name.empty() || device.name == name) && own_memory(board, device.name)) return device;
  throw InputError(board.name, name.empty()
                                   ? "no device has a memory of its own that lies behind another"
                                   : fmt::format("there is no device '{}' with a memory of its own "
                                                 "that lies behind another",
                                                 name));
}

}  // namespace

SimulatedWorkload simulate(const Workload& workload, const CycleCosts& costs, bool with_runs) {
  return WorkloadSimulation(workload, costs, with_runs).run();
}

Trace trace_of(const Workload& workload, const SimulatedWorkload& simulated) {
  Trace trace;
  trace.plans = {workload.name};
  for (const Link& link : workload.links) trace.stages.push_back({0, link.name, link.name});
  std::vector<std::int64_t> count(workload.links.size(), 0);
  for (const LinkRun& run : simulated.runs)
    trace.firings.push_back({run.link, 0, count[run.link]++, 1, Time(run.begin), Time(run.end)});
  std::ranges::stable_sort(trace.firings, {}, &TraceFiring::end);
  return trace;
}

DeviceTarget device_target(const board::Board& board, const std::string& name) {
  const board::Device& device = device_with_memory(board, name);
  const std::vector<const board::Memory*> chain = memories_of(board, device);
  const auto [operations, element] = arithmetic_of(device);
  if (operations <= 0 || device.clocks.empty() || device.bytes <= 0)
    throw InputError(board.name, fmt::format("the board file says not how fast '{}' computes, its "
                                             "clock, or its bandwidth",
                                             device.name));
  DeviceTarget result;
  result.device = device.name;
  result.memory = chain.back()->name;
  for (const board::Megahertz& clock : device.clocks)
    result.megahertz = std::max(result.megahertz, clock.value);
  const double cycle = 1e-6 / result.megahertz;
  constexpr std::int64_t setup_cycles = 200;  // to start a transfer or a kernel: assumed
  result.target.element = element;
  result.target.macs_per_second = operations / 2;
  result.target.values_per_second = vector_rate(device, operations);
  result.target.run_seconds = setup_cycles * cycle;
  result.target.may_overlap = true;
  result.costs = {setup_cycles, device.bytes * cycle, result.target.macs_per_second * cycle,
                  result.target.values_per_second * cycle, {}};
  add_memories(device, chain, result.target);
  for (std::size_t i = 0; i <= result.target.between.size(); ++i)
    result.costs.ways.push_back(rate_between(result.target, i, i + 1) * cycle);
  return result;
}

CycleCosts costs_for(const Program& program, const CycleCosts& costs) {
  CycleCosts result = costs;
  const std::size_t memories = program.memories.size();
  if (costs.ways.empty() || memories < 2 || memories == costs.ways.size() + 1) return result;
  if (memories > costs.ways.size() + 1)
    throw InputError(program.network,
                     fmt::format("the program has {} memories, the device has {}; make the program "
                                 "for this board",
                                 memories, costs.ways.size() + 1));
  const auto end = result.ways.begin() + static_cast<std::ptrdiff_t>(memories - 1);
  *(end - 1) = *std::min_element(end - 1, result.ways.end());
  result.ways.erase(end, result.ways.end());
  return result;
}

}  // namespace millrace::workload
