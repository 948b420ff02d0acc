#include "explore/mapping/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/hash.h"
#include "explore/mapping/evaluator.h"
#include "explore/mapping/plan_period.h"
#include "explore/mapping/search.h"

namespace millrace::explore {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

double nanoseconds(const profile::Statistics& statistics) {
  return static_cast<double>(statistics.median.count());
}

/// How much longer a group takes while the other processors work.
double slow_down(const profile::LayerTimes& group) {
  if (group.contended.count == 0 || group.together.median <= Time{}) return 1;
  return nanoseconds(group.contended) / nanoseconds(group.together);
}

Problem::Borders borders_of(const profile::ProcessorProfile& measured,
                            const profile::TokenCosts& tokens) {
  Problem::Borders borders{tokens.read_ns, tokens.write_ns};
  if (measured.borders) {
    const profile::BorderCosts& costs = *measured.borders;
    borders = {costs.read_ns, costs.write_ns, static_cast<double>(costs.border.count()),
               static_cast<double>(costs.launch.count()), costs.feeding};
    borders.kernel_ns = static_cast<double>(costs.kernel.count());
    borders.of_ends = costs.of_ends;
  }
  borders.is_core = measured.processor.kind == board::ProcessorKind::cpu;
  return borders;
}

/// Where the plan has the device's feeding core; if it does not, none of its stages is fed.
void set_feeder(const board::Board& board, const board::Processor& processor,
                Problem::Borders& borders) {
  const board::Device* device = board::device_of(board, processor);
  if (device == nullptr || !device->costs.fed_by_core) return;
  const auto has_core = [&](const board::Processor& each) {
    return std::ranges::count(each.cores, *device->costs.fed_by_core) > 0;
  };
  const auto found = std::ranges::find_if(board.processors, has_core);
  if (found == board.processors.end())
    borders.feeding = 0;
  else
    borders.fed_by = static_cast<std::size_t>(found - board.processors.begin());
}

void set_memory(const board::Board& board, const board::Processor& processor,
                Problem::Borders& borders) {
  const board::Device* device = board::device_of(board, processor);
  if (device == nullptr) return;
  borders.space = board::space_of(*device);
  borders.copy_engines = borders.space.empty() ? 0 : device->costs.copy_engines;
}

const profile::ProcessorProfile& profile_of(const board::Processor& processor,
                                            const profile::Profile& profile) {
  std::string known;
  for (const profile::ProcessorProfile& each : profile.processors) {
    if (each.processor.name == processor.name) return each;
    known += (known.empty() ? "" : ", ") + each.processor.name;
  }
  throw InputError(profile.network_name,
                   fmt::format("the profile has no processor '{}', only {}; measure again with "
                               "'millrace profile'",
                               processor.name, known.empty() ? "none" : known));
}

/// Why it cannot run, and who says so; empty if it can.
std::string refusal_of(const profile::ProcessorProfile& measured, std::size_t layer) {
  const profile::LayerTimes& times = measured.layers[layer];
  return times.refused_by_board ? times.refusal + ", says the board's file" : times.refusal;
}

/// Follows groups that joined groups to the first layer of all.
std::optional<std::size_t> group_of(const std::vector<profile::LayerTimes>& layers,
                                    std::size_t layer) {
  std::optional<std::size_t> group;
  for (auto next = layers[layer].fused_into; next; next = layers[next->index].fused_into) {
    if (next->index >= group.value_or(layer))
      throw InputError(fmt::format("layer {}", layer),
                       "the profile fuses it into a later layer; measure again with 'millrace "
                       "profile MODEL ⟨fresh⟩'");
    group = next->index;
  }
  return group;
}

/// The core that has the least to do.
std::optional<std::size_t> idlest(std::span<const double> processor_times,
                                  std::span<const Problem::Borders> borders) {
  std::optional<std::size_t> core;
  for (std::size_t p = 0; p < borders.size(); ++p)
    if (borders[p].is_core && (!core || processor_times[p] < processor_times[*core])) core = p;
  return core;
}

Problem::Slot slot_of_tensor(const network::Network& network, TensorId tensor) {
  return {tensor.index, network[tensor].size().count};
}

void add_edges(const network::Network& network, Problem& problem) {
  const network::Topology topology = network::topology(network);
  for (std::size_t to = 0; to < network.layers.size(); ++to)
    for (TensorId tensor : network::data_inputs(network, LayerId(to)))
      if (const auto producer = topology.producer[tensor.index])
        problem.edges.push_back(
            {producer->index, to,
             network::element_count(network[tensor].shape, network[tensor].name),
             slot_of_tensor(network, tensor)});
}

/// Layers have the time of the network's ends in theirs, wherever the others lie.
void add_ends(const network::Network& network, Problem& problem) {
  const network::Topology topology = network::topology(network);
  const auto add = [&](std::size_t layer, TensorId tensor, bool is_input) {
    const network::Tensor& moved = network[tensor];
    problem.ends.push_back({layer, network::element_count(moved.shape, moved.name), is_input,
                            slot_of_tensor(network, tensor)});
  };
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    for (const TensorId tensor : network::data_inputs(network, LayerId(i)))
      if (!topology.producer[tensor.index]) add(i, tensor, true);
    for (const TensorId tensor : network.layers[i].outputs)
      if (std::ranges::count(network.outputs, tensor) > 0) add(i, tensor, false);
  }
  for (const Problem::End& end : problem.ends)
    for (std::size_t p = 0; p < problem.processors; ++p)
      for (auto* times : {&problem.time, &problem.alone})
        (*times)[end.layer][p] += problem.time_of(end, p);
}

/// Number of processors that can run a layer at all, in more than no time.
std::size_t useful_processors(const Problem& problem) {
  std::size_t useful = 0;
  for (std::size_t p = 0; p < problem.processors; ++p)
    useful += std::any_of(problem.time.begin(), problem.time.end(), [&](const auto& times) {
      return times[p] > 0 && std::isfinite(times[p]);
    });
  return std::max<std::size_t>(useful, 1);
}

}  // namespace

Problem make_problem(const network::Network& network, const board::Board& board,
                     const profile::Profile& profile) {
  const std::size_t layers = network.layers.size();
  if (board.processors.empty()) throw InputError(board.name, "the board has no processors");
  Problem problem;
  problem.layers = layers;
  problem.processors = board.processors.size();
  problem.time.resize(layers);
  problem.alone.resize(layers);
  problem.variants.resize(layers);
  problem.refusals.resize(layers);
  const bool contended = board.processors.size() > 1;
  for (const board::Processor& processor : board.processors) {
    const profile::ProcessorProfile& measured = profile_of(processor, profile);
    if (measured.layers.size() != layers)
      throw InputError(profile.network_name,
                       fmt::format("the profile of '{}' has {} layers, the network {}; measure "
                                   "again with 'millrace profile'",
                                   processor.name, measured.layers.size(), layers));
    for (std::size_t i = 0; i < layers; ++i) {
      const bool refused = !measured.layers[i].refusal.empty();
      problem.refusals[i].push_back(refusal_of(measured, i));
      const std::size_t group = group_of(measured.layers, i).value_or(i);
      const double slower = contended ? slow_down(measured.layers[group]) : 1;
      problem.time[i].push_back(refused ? never
                                        : slower * nanoseconds(measured.layers[i].together));
      problem.alone[i].push_back(refused ? never : slower * nanoseconds(measured.layers[i].alone));
      problem.variants[i].push_back(measured.layers[i].variant);
    }
    problem.borders.push_back(borders_of(measured, profile.tokens));
    set_feeder(board, processor, problem.borders.back());
    set_memory(board, processor, problem.borders.back());
    problem.names.push_back(processor.name);
  }
  const auto& first = profile_of(board.processors[0], profile);
  for (std::size_t i = 0; i < layers; ++i) problem.fused_into.push_back(group_of(first.layers, i));
  add_edges(network, problem);
  add_ends(network, problem);
  problem.read_ns = profile.tokens.read_ns;
  problem.write_ns = profile.tokens.write_ns;
  return problem;
}

Problem paced(Problem problem, std::span<const std::int64_t> streams) {
  for (std::size_t p = 0; p < problem.processors && !problem.borders.empty(); ++p) {
    if (streams[p] == 1) continue;
    const auto at_once = static_cast<double>(streams[p]);
    Problem::Borders& borders = problem.borders[p];
    const auto pace = [&](double time) {  // 0 has no launch
      return std::max(std::min(time, time - borders.kernel_ns), time / at_once);
    };
    for (auto* times : {&problem.time, &problem.alone})
      for (std::size_t i = 0; i < problem.layers; ++i)
        (*times)[i][p] = pace((*times)[i][p] - problem.time_of_ends(i, p));
    borders.border_ns /= at_once;
    borders.launch_ns /= at_once;
    borders.kernel_ns = 0;
    for (auto* times : {&problem.time, &problem.alone})
      for (std::size_t i = 0; i < problem.layers; ++i) (*times)[i][p] += problem.time_of_ends(i, p);
  }
  return problem;
}

std::vector<std::optional<std::size_t>> add_feeding(std::span<double> processor_times,
                                                    std::span<const Problem::Borders> borders) {
  std::vector<std::optional<std::size_t>> feeders(borders.size());
  const auto feed = [&](std::size_t device, std::optional<std::size_t> core) {
    feeders[device] = core;
    if (core) processor_times[*core] += borders[device].feeding * processor_times[device];
  };
  for (std::size_t p = 0; p < borders.size(); ++p)
    if (borders[p].feeding > 0 && borders[p].fed_by) feed(p, borders[p].fed_by);
  for (std::size_t p = 0; p < borders.size(); ++p)
    if (borders[p].feeding > 0 && !borders[p].fed_by) feed(p, idlest(processor_times, borders));
  return feeders;
}

std::vector<double> processor_times(const Problem& problem, const plan::Mapping& mapping) {
  const Evaluator evaluator(problem);
  std::vector<double> times(evaluator.resources());
  evaluator.processor_times(genes_of(mapping), times);
  return times;
}

const char* name_of(Fitness fitness) {
  switch (fitness) {
    case Fitness::period:
      return "period";
    case Fitness::bottleneck:
      return "bottleneck";
    case Fitness::board_energy:
      return "board-energy";
    case Fitness::balance:
      break;
  }
  return "balance";
}

Fitness read_fitness(const std::string& text, const std::string& place) {
  for (const Fitness fitness :
       {Fitness::period, Fitness::bottleneck, Fitness::balance, Fitness::board_energy})
    if (text == name_of(fitness)) return fitness;
  throw InputError(place, fmt::format("found '{}', expected period, bottleneck, balance or "
                                      "board-energy",
                                      text));
}

double fitness_of(Fitness fitness, const std::vector<double>& processor_times) {
  if (fitness != Fitness::balance)
    return *std::max_element(processor_times.begin(), processor_times.end());
  if (std::find(processor_times.begin(), processor_times.end(), never) != processor_times.end())
    return never;
  double sum = 0;
  for (double one : processor_times)
    for (double other : processor_times) sum += std::abs(one - other);
  return sum;
}

void rate(SearchResult& result, const Problem& problem, const Aim& aim) {
  const std::vector<double> times = processor_times(problem, result.mapping);
  result.fitness = aim.fitness == Fitness::period
                       ? PlanPeriod(problem, aim.build).of(genes_of(result.mapping))
                       : fitness_of(aim.fitness, times);
  result.bottleneck = fitness_of(Fitness::bottleneck, times);
}

double lower_bound(const Problem& problem) {
  double total = 0, heaviest = 0;
  for (std::size_t layer = 0; layer < problem.layers; ++layer) {
    double least = *std::min_element(problem.time[layer].begin(), problem.time[layer].end());
    if (problem.fused_into[layer])
      least = std::min(least,
                       *std::min_element(problem.alone[layer].begin(), problem.alone[layer].end()));
    total += least;
    heaviest = std::max(heaviest, least);
  }
  return std::max(heaviest, total / static_cast<double>(useful_processors(problem)));
}

std::string hash_of(const Problem& problem) {
  Hasher hasher;
  const auto add = [&](double value) { hasher.add(fmt::format("{}", value)); };
  for (const auto* times : {&problem.time, &problem.alone})
    for (const std::vector<double>& layer : *times)
      for (const double time : layer) add(time);
  for (const Problem::Borders& borders : problem.borders) {
    add(borders.read_ns);
    add(borders.write_ns);
    add(borders.border_ns);
    add(borders.launch_ns);
    if (borders.copy_engines == 0) continue;
    add(borders.copy_engines);
    hasher.add(borders.space);
  }
  for (const auto* values :
       {&problem.energy.busy_mw, &problem.energy.still_mw, &problem.energy.link_nj})
    for (const double value : *values) add(value);
  return hasher.digits();
}

}  // namespace millrace::explore
