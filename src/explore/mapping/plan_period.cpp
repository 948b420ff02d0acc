#include "explore/mapping/plan_period.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "dataflow/cycle_ratio.h"
#include "plan/phase_rule.h"

namespace millrace::explore {

/// The phases of a processor follow each other.
struct PlanPeriod::Phases {
  std::vector<std::size_t> of_layer;    // by layer
  std::vector<std::size_t> begin;       // by processor, and the end
  std::vector<std::size_t> processor;   // by phase
  std::vector<double> times;            // by phase, whole nanoseconds
  std::vector<std::int64_t> offsets;    // by phase, without a limit
  std::int64_t largest_offset = 0;
};

PlanPeriod::PlanPeriod(const Problem& problem, const plan::BuildOptions& options)
    : evaluator_(problem),
      capacity_(options.capacity),
      most_offset_(options.most_offset),
      most_memory_(options.most_memory.count),
      inputs_(problem.layers) {
  std::map<std::size_t, Slots> slots;
  for (const Problem::Edge& edge : problem.edges) {
    inputs_[edge.to].push_back(edge.from);
    if (edge.slot.bytes == 0) continue;
    Slots& tensor = slots[edge.slot.tensor];
    tensor.bytes = edge.slot.bytes;
    tensor.maker = edge.from;
    tensor.readers.push_back(edge.to);
  }
  for (const Problem::End& end : problem.ends) {
    if (end.slot.bytes == 0) continue;
    Slots& tensor = slots[end.slot.tensor];
    tensor.bytes = end.slot.bytes;
    (end.is_input ? tensor.is_input : tensor.is_output) = true;
    if (end.is_input)
      tensor.readers.push_back(end.layer);
    else
      tensor.maker = end.layer;
  }
  for (auto& [tensor, each] : slots) slots_.push_back(std::move(each));
  for (std::size_t p = 0; p < problem.processors; ++p) borders_.push_back(problem.borders_of(p));
}

double PlanPeriod::of(std::span<const Gene> genes) const {
  Phases phases = phases_of(genes);
  add_times(genes, phases);
  double slowest = 0;
  for (std::size_t p = 0; p + 1 < phases.begin.size(); ++p) {
    double stage = 0;
    for (std::size_t i = phases.begin[p]; i < phases.begin[p + 1]; ++i) stage += phases.times[i];
    slowest = std::max(slowest, stage);
  }
  if (!std::isfinite(slowest)) return slowest;
  slowest = std::max(slowest, slowest_copy_engine(genes));
  add_offsets(phases);
  const std::int64_t limit = limit_of(phases);
  // With a frame between any two phases that wait for each other no stage waits: see size_channels.
  if (limit >= phases.largest_offset && capacity_ > 1) return slowest;
  return std::max(slowest, period_with(phases, limit));
}

double PlanPeriod::slowest_copy_engine(std::span<const Gene> genes) const {
  if (evaluator_.resources() == evaluator_.processors()) return 0;
  std::vector<double> times(evaluator_.resources());
  evaluator_.processor_times(genes, times);
  return *std::max_element(times.begin() + static_cast<std::ptrdiff_t>(evaluator_.processors()),
                           times.end());
}

PlanPeriod::Phases PlanPeriod::phases_of(std::span<const Gene> genes) const {
  const std::size_t processors = evaluator_.processors();
  plan::PhaseRule rule(processors);
  Phases phases;
  for (std::size_t layer = 0; layer < genes.size(); ++layer)
    phases.of_layer.push_back(rule.add({genes[layer]}, inputs_[layer]));
  for (std::size_t p = 0; p < processors; ++p) {
    phases.begin.push_back(phases.processor.size());
    phases.processor.resize(phases.processor.size() + rule.phases(p), p);
  }
  phases.begin.push_back(phases.processor.size());
  for (std::size_t layer = 0; layer < genes.size(); ++layer)
    phases.of_layer[layer] += phases.begin[genes[layer]];
  return phases;
}

/// As phase_times() has them.
void PlanPeriod::add_times(std::span<const Gene> genes, Phases& phases) const {
  for (const std::size_t p : phases.processor) phases.times.push_back(borders_[p].launch_ns);
  const auto& leaders = evaluator_.leaders();
  for (std::size_t layer = 0; layer < genes.size(); ++layer) {
    const std::size_t phase = phases.of_layer[layer];
    const bool together = phases.of_layer[leaders[layer]] == phase;
    phases.times[phase] += evaluator_.time_of(layer, genes[layer], together);
  }
  for (const Problem::Edge& edge : evaluator_.edges()) {
    const std::size_t from = genes[edge.from], to = genes[edge.to];
    if (from == to || evaluator_.is_one_space(from, to)) continue;
    if (!evaluator_.has_copy_engine(from))
      phases.times[phases.of_layer[edge.from]] += evaluator_.write_ns(edge, from);
    if (!evaluator_.has_copy_engine(to))
      phases.times[phases.of_layer[edge.to]] += evaluator_.read_ns(edge, to);
  }
  if (evaluator_.has_feeding()) {
    std::vector<double> busy(evaluator_.processors(), 0.0);
    for (std::size_t i = 0; i < phases.times.size(); ++i)
      busy[phases.processor[i]] += phases.times[i];
    const std::vector<double> before = busy;
    evaluator_.feed(busy);
    for (std::size_t p = 0; p < busy.size(); ++p)
      if (phases.begin[p] < phases.begin[p + 1] && std::isfinite(busy[p]))
        phases.times[phases.begin[p + 1] - 1] += busy[p] - before[p];
  }
  for (double& time : phases.times) time = std::round(time);
}

/// As set_offsets() has them.
void PlanPeriod::add_offsets(Phases& phases) const {
  phases.offsets.assign(phases.times.size(), 0);
  const std::int64_t next = capacity_ > 1 ? 1 : 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Problem::Edge& edge : evaluator_.edges()) {
      const std::size_t from = phases.of_layer[edge.from], to = phases.of_layer[edge.to];
      const bool crosses = phases.processor[from] != phases.processor[to];
      const std::int64_t least = phases.offsets[from] + (crosses ? next : 0);
      if (phases.offsets[to] >= least) continue;
      phases.offsets[to] = least;
      changed = true;
    }
  }
  for (const std::int64_t offset : phases.offsets)
    phases.largest_offset = std::max(phases.largest_offset, offset);
}

/// As size_channels() has them; 0 for what stays in its phase.
std::int64_t PlanPeriod::slots_needed(const Slots& slots, const Phases& phases,
                                      std::int64_t limit) const {
  const auto offset = [&](std::size_t phase) { return std::min(limit, phases.offsets[phase]); };
  std::int64_t most = 0;
  for (const std::size_t reader : slots.readers) {
    const std::size_t to = phases.of_layer[reader];
    if (slots.is_input) {
      most = std::max(most, offset(to) + capacity_);
      continue;
    }
    const std::size_t from = phases.of_layer[slots.maker];
    if (from == to) continue;
    const bool crosses = phases.processor[from] != phases.processor[to];
    most = std::max(most, offset(to) - offset(from) + 1 +
                              (crosses ? std::max<std::int64_t>(0, capacity_ - 2) : 0));
  }
  if (slots.is_output)
    most = std::max(most, std::min(limit, phases.largest_offset) -
                              offset(phases.of_layer[slots.maker]) + capacity_);
  return most;
}

bool PlanPeriod::fits(const Phases& phases, std::int64_t limit) const {
  double bytes = 0;
  for (const Slots& slots : slots_)
    bytes += static_cast<double>(slots.bytes) *
             static_cast<double>(slots_needed(slots, phases, limit));
  return bytes <= static_cast<double>(most_memory_);
}

/// The largest offset that memory allows.
std::int64_t PlanPeriod::limit_of(const Phases& phases) const {
  std::int64_t least = 0, above = std::min(most_offset_, phases.largest_offset);
  if (fits(phases, above)) return above;
  while (above - least > 1) {
    const std::int64_t middle = least + (above - least) / 2;
    (fits(phases, middle) ? least : above) = middle;
  }
  return least;
}

double PlanPeriod::period_with(const Phases& phases, std::int64_t limit) const {
  std::vector<dataflow::Wait> waits;
  const auto add = [&](std::size_t waiting, std::size_t before, std::int64_t tokens) {
    waits.push_back({static_cast<std::uint32_t>(waiting), static_cast<std::uint32_t>(before),
                     dataflow::own_order, std::llround(phases.times[before]), tokens});
  };
  for (std::size_t p = 0; p + 1 < phases.begin.size(); ++p)
    for (std::size_t i = phases.begin[p]; i < phases.begin[p + 1]; ++i)
      if (i == phases.begin[p])
        add(i, phases.begin[p + 1] - 1, 1);
      else
        add(i, i - 1, 0);
  for (const Problem::Edge& edge : evaluator_.edges()) {
    const std::size_t from = phases.of_layer[edge.from], to = phases.of_layer[edge.to];
    if (phases.processor[from] != phases.processor[to])
      add(to, from, std::min(limit, phases.offsets[to]) - std::min(limit, phases.offsets[from]));
  }
  for (const Slots& slots : slots_) {
    if (slots.is_input) continue;
    const std::size_t from = phases.of_layer[slots.maker];
    const std::int64_t capacity = slots_needed(slots, phases, limit);
    for (const std::size_t reader : slots.readers)
      if (const std::size_t to = phases.of_layer[reader];
          phases.processor[from] != phases.processor[to])
        add(from, to,
            capacity - std::min(limit, phases.offsets[to]) + std::min(limit, phases.offsets[from]));
  }
  const auto nodes = static_cast<std::uint32_t>(phases.times.size());
  return dataflow::largest_cycle_ratio(nodes, waits).ratio.value();
}

}  // namespace millrace::explore
