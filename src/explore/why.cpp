#include "explore/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/quantity.h"
#include "explore/limits.h"
#include "plan/build.h"

namespace millrace::explore {
namespace {

bool has_stage_on(const plan::Plan& plan, const board::Processor& processor) {
  return std::any_of(plan.stages.begin(), plan.stages.end(), [&](const plan::Stage& stage) {
    return std::any_of(stage.processors.begin(), stage.processors.end(),
                       [&](const auto& each) { return each.name == processor.name; });
  });
}

std::string why_idle(const network::Network& network, const Problem& problem,
                     ProcessorId processor) {
  std::vector<std::size_t> refused;
  for (std::size_t layer = 0; layer < problem.layers; ++layer)
    if (std::isinf(problem.time[layer][processor.index])) refused.push_back(layer);
  if (refused.empty()) return why_unused(problem, processor);
  const std::string first = fmt::format("{} ({}): {}", network.layers[refused.front()].name,
                                        network::name_of(network.layers[refused.front()].op),
                                        problem.refusal(refused.front(), processor));
  if (refused.size() == problem.layers)
    return fmt::format("it can run none of the {} layers, such as {}", problem.layers, first);
  return fmt::format("it cannot run {} of the {} layers, such as {}", refused.size(),
                     problem.layers, first);
}

std::string text(double nanoseconds) { return to_text(Time(std::llround(nanoseconds))); }

double slowest(const Problem& problem, const plan::Mapping& mapping) {
  const std::vector<double> times = processor_times(problem, mapping);
  return *std::max_element(times.begin(), times.end());
}

/// "12 us there and 10 us here, slower by 2 us"
std::string difference(double there, double here) {
  if (there == here) return fmt::format("{} there and here", text(here));
  return fmt::format("{} there and {} here, {} by {}", text(there), text(here),
                     there < here ? "faster" : "slower", text(std::abs(there - here)));
}

Bytes bytes_of(const network::Tensor& tensor, const board::Variant& variant) {
  if (tensor.type != network::DataType::float32) return tensor.size();
  return Bytes{board::bytes_per_element(variant.precision)} *
         network::element_count(tensor.shape, tensor.name);
}

/// Inside its fused group; what joins a group has no time of its own there, and its own elsewhere.
double time_on(const Problem& problem, const plan::Mapping& mapping, LayerId layer,
               ProcessorId processor) {
  const auto group = problem.fused_into[layer.index];
  const bool joins = !group || mapping.processors[*group] == processor;
  return (joins ? problem.time : problem.alone)[layer.index][processor.index];
}

std::string if_it_were(const SearchContext& context, const plan::Mapping& mapping, LayerId layer,
                       ProcessorId there) {
  const ProcessorId here = mapping.processors[layer.index];
  plan::Mapping moved = mapping;
  moved.processors[layer.index] = there;
  const Verdict verdict = within_limits(
      plan::build(context.network, context.board, moved, context.build), context.board);
  return fmt::format(
      "the layer itself takes {}; {} instead of {} would cross between processors, so the "
      "slowest stage would take {} instead of {} per frame{}",
      difference(time_on(context.problem, mapping, layer, there),
                 time_on(context.problem, mapping, layer, here)),
      to_text(crossing_bytes(context, moved)), to_text(crossing_bytes(context, mapping)),
      text(slowest(context.problem, moved)), text(slowest(context.problem, mapping)),
      verdict ? "" : "; the board does not allow it either: " + verdict.reason());
}

}  // namespace

Bytes crossing_bytes(const SearchContext& context, const plan::Mapping& mapping) {
  const network::Topology topology = network::topology(context.network);
  Bytes total;
  for (std::size_t t = 0; t < context.network.tensors.size(); ++t) {
    const auto producer = topology.producer[t];
    if (!producer) continue;
    const ProcessorId from = mapping.processors[producer->index];
    std::set<ProcessorId> readers;
    for (const LayerId reader : topology.consumers[t])
      if (const ProcessorId to = mapping.processors[reader.index]; to != from) readers.insert(to);
    const Bytes each =
        bytes_of(context.network.tensors[t], context.problem.variants[producer->index][from.index]);
    total += each * static_cast<std::int64_t>(readers.size());
  }
  return total;
}

std::vector<std::string> reasons(const SearchContext& context, const plan::Mapping& mapping,
                                 LayerId layer) {
  std::vector<std::string> result;
  for (std::size_t p = 0; p < context.problem.processors; ++p) {
    const ProcessorId there(p);
    if (there == mapping.processors[layer.index]) continue;
    const bool can = std::isfinite(context.problem.time[layer.index][p]);
    result.push_back(fmt::format("not on {}: {}", context.board[there].name,
                                 can ? if_it_were(context, mapping, layer, there)
                                     : context.problem.refusal(layer.index, there)));
  }
  return result;
}

std::string why_unused(const Problem& problem, ProcessorId processor) {
  const Problem::Borders costs = problem.borders_of(processor.index);
  if (costs.copy_engines == 0 || problem.edges.empty()) return "every plan that uses it is slower";
  const auto elements = [](const auto& each) { return each.elements; };
  std::int64_t least = std::ranges::min(problem.edges, {}, elements).elements;
  std::int64_t ends = 0;  // the larger of what comes in and of what goes out
  for (const bool is_input : {true, false}) {
    std::int64_t sum = 0;
    for (const Problem::End& end : problem.ends)
      if (end.is_input == is_input) sum += end.elements;
    ends = std::max(ends, sum);
  }
  const auto crossing = [&](std::int64_t count) {
    const double element = std::max(costs.read_ns, costs.write_ns);
    return to_text(
        Time(static_cast<std::int64_t>(costs.border_ns + element * static_cast<double>(count))));
  };
  return fmt::format(
      "every plan that uses it is slower: over its link a whole frame takes {}, and the "
      "smallest tensor between two layers {}",
      crossing(ends), crossing(least));
}

LayerReasons reasons_in(const SearchContext& context, const Candidate& chosen, LayerId layer) {
  const plan::Mapping& mapping = chosen.search.mapping;
  const ProcessorId processor = mapping.processors[layer.index];
  LayerReasons why{layer, context.board[processor], {}, {}, {}};
  if (const auto group = context.problem.fused_into[layer.index]) why.fused_with = LayerId(*group);
  why.variant = context.problem.variants[layer.index][processor.index];
  if (const auto replicas = chosen.plan.stages.front().replicas(); replicas > 1)
    why.reasons = {fmt::format("its stage has {} replicas, which share whole frames", replicas)};
  else
    why.reasons = reasons(context, mapping, layer);
  return why;
}

std::vector<std::string> idle_accelerators(const network::Network& network,
                                           const board::Board& board, const Problem& problem,
                                           const plan::Plan& plan) {
  std::map<std::string, std::vector<std::string>> idle;  // by reason
  for (std::size_t i = 0; i < board.processors.size(); ++i) {
    const board::Processor& processor = board.processors[i];
    if (processor.kind == board::ProcessorKind::cpu || has_stage_on(plan, processor)) continue;
    idle[why_idle(network, problem, ProcessorId(i))].push_back(processor.name);
  }
  std::vector<std::string> texts;
  for (const auto& [reason, names] : idle)
    texts.push_back(fmt::format("{} take{} no part: {}", fmt::join(names, ", "),
                                names.size() == 1 ? "s" : "", reason));
  return texts;
}

}  // namespace millrace::explore
