#include "explore/configuration/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "explore/limits.h"
#include "plan/build.h"
#include "plan/phase_rule.h"

namespace millrace::explore {
namespace {

bool can_run(const Problem& problem, std::size_t layer, const ProcessorGroup& group) {
  return std::all_of(group.begin(), group.end(), [&](ProcessorId processor) {
    return std::isfinite(problem.time[layer][processor.index]);
  });
}

/// A processor of the device that the board names as this one's fallback; none if it names none.
ProcessorId fallback_of(const board::Board& board, ProcessorId processor) {
  const board::Device* device = board::device_of(board, board[processor]);
  if (device == nullptr || device->limits.fallback.empty()) return {};
  for (std::size_t p = 0; p < board.processors.size(); ++p) {
    const board::Device* other = board::device_of(board, board.processors[p]);
    if (other != nullptr && other->name == device->limits.fallback) return ProcessorId(p);
  }
  return {};
}

/// `named`: the fallback that the board names, if any.
ProcessorId stand_in(const Problem& problem, std::size_t layer, ProcessorId named,
                     ProcessorId last) {
  for (const ProcessorId processor : {named, last})
    if (processor.valid() && std::isfinite(problem.time[layer][processor.index])) return processor;
  const std::vector<double>& times = problem.time[layer];
  return ProcessorId(
      static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin()));
}

/// Subnets that each of the group has room for.
std::size_t room_of(const board::Board& board, const ProcessorGroup& group) {
  std::size_t room = std::numeric_limits<std::size_t>::max();
  std::map<const board::Device*, std::set<ProcessorId>> sharers;
  for (const ProcessorId each : group) sharers[board::device_of(board, board[each])].insert(each);
  for (const auto& [device, processors] : sharers) {
    if (device == nullptr) continue;
    const board::Limits& limits = device->limits;
    if (limits.subnets) room = std::min(room, static_cast<std::size_t>(*limits.subnets));
    if (limits.subnets_together)
      room = std::min(room, static_cast<std::size_t>(*limits.subnets_together) / processors.size());
  }
  return room;
}

/// The layers of each subnet on this processor.
std::vector<std::vector<std::size_t>> pieces_on(const Problem& problem,
                                                const plan::Mapping& mapping,
                                                ProcessorId processor) {
  std::vector<std::vector<std::size_t>> inputs(problem.layers), pieces;
  for (const Problem::Edge& edge : problem.edges) inputs[edge.to].push_back(edge.from);
  plan::PhaseRule rule(problem.processors);
  for (std::size_t layer = 0; layer < problem.layers; ++layer) {
    const ProcessorId here = mapping.processors[layer];
    const std::size_t piece = rule.add({here.index}, inputs[layer]);
    if (here != processor) continue;
    pieces.resize(std::max(pieces.size(), piece + 1));
    pieces[piece].push_back(layer);
  }
  return pieces;
}

/// The smallest subnets go to the fallback until the rest fits.
void keep_largest(const SearchContext& context, const ProcessorGroup& group,
                  plan::Mapping& mapping) {
  const Problem& problem = context.problem;
  const std::size_t room = room_of(context.board, group);
  const ProcessorId first = group.front(), named = fallback_of(context.board, first);
  if (!named.valid() || named == first || room >= problem.layers) return;
  const auto time_of = [&](const std::vector<std::size_t>& piece) {
    double sum = 0;
    for (const std::size_t layer : piece) sum += problem.time[layer][first.index];
    return sum;
  };
  for (auto pieces = pieces_on(problem, mapping, first); pieces.size() > room;
       pieces = pieces_on(problem, mapping, first))
    for (const std::size_t layer : *std::ranges::min_element(pieces, {}, time_of)) {
      if (!std::isfinite(problem.time[layer][named.index])) return;
      mapping.processors[layer] = named;
    }
}

Verdict runs_everywhere(const SearchContext& context, const Configuration& configuration,
                        const plan::Mapping& mapping) {
  std::size_t stage = 0;
  for (std::size_t layer = 0; layer < mapping.processors.size(); ++layer) {
    while (stage < configuration.cuts.size() && layer > configuration.cuts[stage]) ++stage;
    const ProcessorId wanted = configuration.stages[stage].front();
    const ProcessorId here = mapping.processors[layer];
    const std::string& name = context.network.layers[layer].name;
    // What is on the first processor of a group is on all of them.
    for (const ProcessorGroup& group : configuration.stages)
      if (here == group.front() && !can_run(context.problem, layer, group))
        return Verdict::no(name + " cannot run on any processor that the mapping option gives it");
    if (!std::isfinite(context.problem.time[layer][here.index]))
      return Verdict::no(name + " runs on no processor");
    if (here != wanted && !context.fallback)
      return Verdict::no(fmt::format("{} does not run on {}: {}", name, context.board[wanted].name,
                                     context.problem.refusal(layer, wanted)));
  }
  return Verdict::yes();
}

}  // namespace

std::vector<std::size_t> cut_positions(const Problem& problem) {
  std::vector<bool> separates(problem.layers, false);
  for (std::size_t layer = 0; layer < problem.layers; ++layer)
    if (const auto group = problem.fused_into[layer])
      for (std::size_t between = *group; between < layer; ++between) separates[between] = true;
  std::vector<std::size_t> positions;
  for (std::size_t layer = 0; layer + 1 < problem.layers; ++layer)
    if (!separates[layer]) positions.push_back(layer);
  return positions;
}

plan::Mapping mapping_of(const SearchContext& context, const Configuration& configuration) {
  const ProcessorId last = configuration.stages.back().front();
  plan::Mapping mapping;
  mapping.processors.reserve(context.problem.layers);
  for (std::size_t stage = 0; stage < configuration.stages.size(); ++stage) {
    const ProcessorGroup& group = configuration.stages[stage];
    const ProcessorId named = fallback_of(context.board, group.front());
    const std::size_t end =
        stage < configuration.cuts.size() ? configuration.cuts[stage] + 1 : context.problem.layers;
    for (std::size_t layer = mapping.processors.size(); layer < end; ++layer)
      mapping.processors.push_back(can_run(context.problem, layer, group)
                                       ? group.front()
                                       : stand_in(context.problem, layer, named, last));
  }
  if (configuration.cuts.empty()) keep_largest(context, configuration.stages.front(), mapping);
  return mapping;
}

ProcessorGroup fewest_layers_first(const Problem& problem, ProcessorGroup group) {
  const auto layers_of = [&](ProcessorId processor) {
    return std::ranges::count_if(problem.time, [&](const std::vector<double>& times) {
      return std::isfinite(times[processor.index]);
    });
  };
  std::ranges::stable_sort(group, {}, layers_of);
  return group;
}

std::vector<std::int64_t> layer_streams_of(const SearchContext& context,
                                           const Configuration& configuration) {
  std::vector<std::int64_t> streams;
  for (std::size_t stage = 0; stage < configuration.streams.size(); ++stage)
    streams.resize(
        stage < configuration.cuts.size() ? configuration.cuts[stage] + 1 : context.problem.layers,
        configuration.streams[stage]);
  return streams;
}

SearchCase search_case_of(const SearchContext& context, const Configuration& configuration) {
  SearchCase given{.problem = context.problem};
  given.layer_streams = layer_streams_of(context, configuration);
  for (const ProcessorGroup& group : configuration.stages)
    if (group.size() > 1) given.replicas[group.front()] = {group.begin() + 1, group.end()};
  return given;
}

Realised realise(const SearchContext& context, const Configuration& configuration) {
  const plan::Mapping mapping = mapping_of(context, configuration);
  Verdict verdict = runs_everywhere(context, configuration, mapping);
  if (!verdict) return {std::move(verdict)};
  const SearchCase given = search_case_of(context, configuration);
  plan::BuildOptions build = context.build;
  build.capacity = configuration.slots;
  build.replicas = given.replicas;
  build.streams = given.layer_streams;
  plan::Plan plan;
  try {
    plan = plan::build(context.network, context.board, mapping, build);
    plan::check_cores(plan);  // a layer may stand on a member of a group
  } catch (const InputError& error) {
    return {Verdict::no(error.what())};
  }
  plan::Evidence evidence = predicted(plan, mapping, given);
  return {within_limits(plan, context.board), std::move(plan), std::move(evidence)};
}

}  // namespace millrace::explore
