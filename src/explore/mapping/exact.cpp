#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "explore/mapping/chain.h"
#include "explore/mapping/evaluator.h"
#include "explore/mapping/search.h"

namespace millrace::explore {
namespace {

/// Beyond this many steps (about a second) the order of different processors is not searched.
constexpr double most_orders_tried = 1e9;

/// The cores that feed devices.
std::set<std::size_t> feeders_of(const Problem& problem) {
  std::set<std::size_t> feeders;
  for (const Problem::Borders& each : problem.borders)
    if (each.fed_by && each.feeding > 0) feeders.insert(*each.fed_by);
  return feeders;
}

/// Processors that take the same time for every layer are of one kind. Without those left out.
std::vector<std::vector<std::size_t>> kinds_of(const Problem& problem,
                                               const std::set<std::size_t>& left_out) {
  const auto same = [&](std::size_t a, std::size_t b) {
    for (std::size_t layer = 0; layer < problem.layers; ++layer)
      if (problem.time[layer][a] != problem.time[layer][b] ||
          problem.alone[layer][a] != problem.alone[layer][b])
        return false;
    return problem.borders_of(a) == problem.borders_of(b);
  };
  std::vector<std::vector<std::size_t>> kinds;
  for (std::size_t processor = 0; processor < problem.processors; ++processor) {
    if (left_out.contains(processor)) continue;
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& members) {
      return same(members.front(), processor);
    });
    if (kind != kinds.end())
      kind->push_back(processor);
    else
      kinds.push_back({processor});
  }
  return kinds;
}

/// The costs of longer and longer parts. Elements are counted in integers, so that what an edge
/// adds while it crosses is taken back exactly once both its ends are inside.
class GrowingPart {
 public:
  GrowingPart(const Problem& problem, const Evaluator& evaluator)
      : problem_(problem),
        evaluator_(evaluator),
        incoming_(problem.layers),
        made_(problem.layers),
        outgoing_(problem.layers, 0),
        written_(problem.layers, 0) {
    for (const Problem::Edge& edge : problem.edges) {
      incoming_[edge.to].push_back(edge);
      if (++readers_[edge.slot.tensor] == 1)
        made_[edge.from].emplace_back(edge.slot.tensor, edge.elements);
      ++outgoing_[edge.from];
      written_[edge.from] += edge.elements;
    }
  }

  std::vector<double> costs(std::size_t processor, std::size_t begin) const {
    std::vector<double> result;
    double time = 0;
    std::int64_t read = 0, written = 0, crossing = 0;
    const Problem::Borders borders = problem_.borders_of(processor);
    for (std::size_t layer = begin; layer < problem_.layers; ++layer) {
      const bool with_leader = evaluator_.leaders()[layer] >= begin;
      time += (with_leader ? problem_.time : problem_.alone)[layer][processor];
      written += written_[layer];
      crossing += outgoing_[layer];
      for (const Problem::Edge& edge : incoming_[layer]) {
        (edge.from < begin ? read : written) += edge.from < begin ? edge.elements : -edge.elements;
        crossing += edge.from < begin ? 1 : -1;
      }
      result.push_back(time + static_cast<double>(read) * borders.read_ns +
                       static_cast<double>(written) * borders.write_ns +
                       static_cast<double>(crossing) * borders.border_ns);
    }
    return borders.copy_engines > 0 ? costs_beside_copies(processor, begin) : result;
  }

 private:
  /// What copy engines move, each tensor once, whoever reads it there.
  struct Copied {
    std::set<std::size_t> brought;                // tensors
    std::map<std::size_t, std::int64_t> outside;  // by tensor: its readers there
    double in = 0, ends_out = 0;
    std::int64_t written = 0, crossing = 0;  // elements and tensors that others read
  };

  void add_incoming(const Problem::Edge& edge, bool is_inside, const Problem::Borders& borders,
                    Copied& copied) const {
    const std::size_t tensor = edge.slot.tensor;
    if (!is_inside && copied.brought.insert(tensor).second)
      copied.in += static_cast<double>(edge.elements) * borders.read_ns + borders.border_ns;
    if (!is_inside || --copied.outside[tensor] > 0) return;
    copied.written -= edge.elements;
    --copied.crossing;
  }

  /// Where there are copy engines: the slowest of them, and of the processor.
  std::vector<double> costs_beside_copies(std::size_t processor, std::size_t begin) const {
    const Problem::Borders borders = problem_.borders_of(processor);
    std::vector<double> result;
    Copied copied;
    copied.outside = readers_;
    double time = 0;
    for (std::size_t layer = begin; layer < problem_.layers; ++layer) {
      const bool with_leader = evaluator_.leaders()[layer] >= begin;
      time += (with_leader ? problem_.time : problem_.alone)[layer][processor];
      for (const auto& [tensor, elements] : made_[layer]) {
        copied.written += elements;
        ++copied.crossing;
      }
      for (const Problem::Edge& edge : incoming_[layer])
        add_incoming(edge, edge.from >= begin, borders, copied);
      for (const Problem::End& end : problem_.ends)
        if (end.layer == layer)
          (end.is_input ? copied.in : copied.ends_out) += problem_.transfer_time_of(end, processor);
      const double out = static_cast<double>(copied.written) * borders.write_ns +
                         static_cast<double>(copied.crossing) * borders.border_ns + copied.ends_out;
      result.push_back(
          std::max(time, borders.copy_engines == 1 ? copied.in + out : std::max(copied.in, out)));
    }
    return result;
  }

  const Problem& problem_;
  const Evaluator& evaluator_;
  std::vector<std::vector<Problem::Edge>> incoming_;  // by layer
  /// By layer: tensors that others read, and their elements.
  std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> made_;
  std::map<std::size_t, std::int64_t> readers_;       // by tensor
  std::vector<std::int64_t> outgoing_, written_;      // edges and elements to all readers, by layer
};

ChainPartition best_partition(const PartCosts& costs,
                              const std::vector<std::vector<std::size_t>>& kinds) {
  std::vector<std::size_t> counts;
  for (const auto& members : kinds) counts.push_back(members.size());
  if (steps_in_any_order(costs.items(), counts) <= most_orders_tried)
    return partition_in_any_order(costs, counts);
  std::vector<std::pair<std::size_t, std::size_t>> given;  // processor, kind
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    for (std::size_t processor : kinds[kind]) given.emplace_back(processor, kind);
  std::sort(given.begin(), given.end());
  std::vector<std::size_t> order;
  for (const auto& [processor, kind] : given) order.push_back(kind);
  return partition_in_order(costs, order);
}

/// The parts of two processors exchanged.
plan::Mapping exchanged(plan::Mapping mapping, ProcessorId one, ProcessorId other) {
  for (ProcessorId& processor : mapping.processors) {
    if (processor == one)
      processor = other;
    else if (processor == other)
      processor = one;
  }
  return mapping;
}

/// A part costs the same on each processor of a kind. A feeder gets one that leaves it time.
void place_feeders(const Problem& problem, const std::vector<std::vector<std::size_t>>& kinds,
                   SearchResult& result) {
  for (const std::size_t feeder : feeders_of(problem)) {
    const auto kind = std::ranges::find_if(
        kinds, [&](const auto& members) { return std::ranges::count(members, feeder) > 0; });
    if (kind == kinds.end()) continue;
    for (const std::size_t other : *kind) {
      SearchResult trial = result;
      trial.mapping = exchanged(result.mapping, ProcessorId(feeder), ProcessorId(other));
      rate(trial, problem, {Fitness::bottleneck});
      if (trial.bottleneck < result.bottleneck) result = trial;
    }
  }
}

SearchResult exact_without(const Problem& problem, const std::set<std::size_t>& left_out) {
  const auto kinds = kinds_of(problem, left_out);
  const Evaluator evaluator(problem);
  const GrowingPart part(problem, evaluator);
  const PartCosts costs(problem.layers, kinds.size(), [&](std::size_t kind, std::size_t begin) {
    return part.costs(kinds[kind].front(), begin);
  });
  const ChainPartition best = best_partition(costs, kinds);
  SearchResult result;
  result.method = "exact contiguous";
  result.fitness = result.bottleneck = best.bottleneck;
  if (!std::isfinite(best.bottleneck)) return result;
  auto left = kinds;
  for (auto& members : left) std::reverse(members.begin(), members.end());
  for (const Part& each : best.parts) {
    auto& members = left[each.kind];
    result.mapping.processors.insert(result.mapping.processors.end(), each.end - each.begin,
                                     ProcessorId(members.back()));
    members.pop_back();
  }
  rate(result, problem, {Fitness::bottleneck});
  place_feeders(problem, kinds, result);
  return result;
}

}  // namespace

SearchResult exact_contiguous(const Problem& problem) {
  SearchResult result = exact_without(problem, {});
  const std::set<std::size_t> feeders = feeders_of(problem);
  if (feeders.empty() || feeders.size() == problem.processors) return result;
  const SearchResult without_them = exact_without(problem, feeders);
  return without_them.bottleneck < result.bottleneck ? without_them : result;
}

}  // namespace millrace::explore
