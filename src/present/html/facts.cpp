#include "present/html/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "network/operators.h"
#include "plan/steps.h"
#include "present/results/model.h"
#include "runtime/bench/summary.h"
#include "runtime/load.h"

namespace millrace::present {
namespace {

using nlohmann::json;

constexpr std::size_t most_firings = 30'000;
constexpr std::size_t bins = 48;

json histogram_of(const std::vector<Time>& sorted) {
  const double least = milliseconds(sorted.front()), most = milliseconds(sorted.back());
  const double width = most > least ? (most - least) / static_cast<double>(bins) : 1;
  std::vector<std::int64_t> counts(bins, 0);
  for (const Time latency : sorted) {
    const double bin = (milliseconds(latency) - least) / width;
    ++counts[std::min(static_cast<std::size_t>(bin), bins - 1)];
  }
  return {{"from_ms", least}, {"width_ms", width}, {"counts", counts}};
}

/// The layers that make what this one reads, each once.
json sources_of(const network::Topology& topology, std::size_t layer) {
  json result = json::array();
  for (const LayerId before : topology.predecessors[layer]) result.push_back(before.index);
  return result;
}

std::vector<std::size_t> indices_of(const std::vector<TensorId>& tensors) {
  std::vector<std::size_t> result;
  for (const TensorId tensor : tensors)
    if (tensor.valid()) result.push_back(tensor.index);
  return result;
}

/// Constants that its layers read, each once.
Bytes weights_of(const network::Network& network, const plan::Stage& stage) {
  const network::Topology topology = network::topology(network);
  std::set<std::size_t> constants;
  for (const plan::Phase& phase : stage.phases)
    for (const LayerId layer : phase.layers)
      std::ranges::copy_if(indices_of(network[layer].inputs),
                           std::inserter(constants, constants.end()), [&](std::size_t tensor) {
                             return !topology.producer[tensor] &&
                                    std::ranges::find(network.inputs, TensorId(tensor)) ==
                                        network.inputs.end();
                           });
  Bytes sum;
  for (const std::size_t tensor : constants) sum += network[TensorId(tensor)].size();
  return sum;
}

Bytes slots_of(const product::Analysis& analysis, std::size_t stage) {
  std::set<std::size_t> counted;
  Bytes sum;
  for (const plan::Channel& channel : analysis.plan().channels)
    if (channel.from.stage == stage && counted.insert(channel.tensor.index).second)
      sum += analysis.network()[channel.tensor].size() * channel.capacity;
  return sum;
}

/// Nothing if it was not measured there.
const profile::LayerTimes* times_of(const std::vector<profile::Profile>& profiles,
                                    const std::string& processor, board::Precision precision,
                                    LayerId layer) {
  for (const profile::Profile& profile : profiles)
    for (const profile::ProcessorProfile& each : profile.processors)
      if (each.processor.name == processor && each.precision == precision &&
          layer.index < each.layers.size() && each.layers[layer.index].refusal.empty())
        return &each.layers[layer.index];
  return nullptr;
}

json milliseconds_of(const profile::Statistics& statistics) {
  return statistics.count > 0 ? json(milliseconds(statistics.median)) : json();
}

json shapes_of(const network::Network& network, const std::vector<TensorId>& tensors) {
  json result = json::array();
  for (const TensorId tensor : tensors)
    result.push_back(network::to_text(network[tensor].shape));
  return result;
}

}  // namespace

json trace_facts(const Trace& trace) {
  json stages = json::array(), firings = json::array();
  for (const TraceStage& stage : trace.stages)
    stages.push_back({{"plan", stage.plan}, {"name", stage.name}, {"processor", stage.processor}});
  const std::size_t shown = std::min(trace.firings.size(), most_firings);
  for (std::size_t i = 0; i < shown; ++i) {
    const TraceFiring& each = trace.firings[i];
    firings.push_back({each.stage, each.phase, each.frame, each.count, microseconds(each.begin),
                       microseconds(each.end - each.begin)});
  }
  return {{"plans", trace.plans},
          {"processors", processors_of(trace)},
          {"stages", stages},
          {"firings", firings},
          {"firings_left_out", trace.firings.size() - shown}};
}

json latency_facts(std::vector<Time> latencies) {
  if (latencies.empty()) return nullptr;
  std::ranges::sort(latencies);
  json result = {{"frames", latencies.size()},
                 {"mean_ms", milliseconds(runtime::mean_of(latencies))},
                 {"maximum_ms", milliseconds(latencies.back())},
                 {"histogram", histogram_of(latencies)}};
  for (const auto& [name, share] : runtime::latency_percentiles)
    result[fmt::format("{}_ms", name)] = milliseconds(runtime::percentile(latencies, share));
  return result;
}

json layer_facts(const product::Analysis& analysis) {
  const network::Network& network = analysis.network();
  const network::Topology topology = network::topology(network);
  const std::vector<plan::Endpoint> places = plan::places_of_layers(analysis.plan());
  const std::vector<board::Variant>& variants = analysis.plan().variants;
  json result = layers_json(network);
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    result[i].update(
        {{"stage", places[i].stage},
         {"phase", places[i].phase},
         {"variant", board::to_text(variants.empty() ? board::Variant{} : variants[i])},
         {"after", sources_of(topology, i)}});
  return result;
}

json layer_times(const product::Analysis& analysis,
                 const std::vector<profile::Profile>& profiles) {
  const plan::Plan& plan = analysis.plan();
  const std::vector<plan::Endpoint> places = plan::places_of_layers(plan);
  json result = json::array();
  for (std::size_t i = 0; i < analysis.network().layers.size(); ++i) {
    const std::string& processor = plan.stages[places[i].stage].processors.front().name;
    const board::Precision precision =
        plan.variants.empty() ? board::Precision::f32 : plan.variants[i].precision;
    const auto* const times = times_of(profiles, processor, precision, LayerId(i));
    result.push_back(nullptr);
    if (times == nullptr) continue;
    result.back() = {{"together_ms", milliseconds_of(times->together)},
                     {"alone_ms", milliseconds_of(times->alone)},
                     {"contended_ms", milliseconds_of(times->contended)},
                     {"kernel", times->kernel},
                     {"kernel_of", nullptr}};
    if (times->fused_into)
      result.back()["kernel_of"] = analysis.network()[*times->fused_into].name;
  }
  return result;
}

json network_facts(const network::Network& network) {
  const network::Cost cost = network::cost_of(network);
  return {{"name", network.name},
          {"layers", network.layers.size()},
          {"macs", cost.macs},
          {"parameters", cost.parameters},
          {"inputs", shapes_of(network, network.inputs)},
          {"outputs", shapes_of(network, network.outputs)}};
}

json stage_facts(const product::Analysis& analysis) {
  const plan::Plan& plan = analysis.plan();
  json result = json::array();
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    std::size_t layers = 0;
    std::int64_t macs = 0;
    for (const plan::Phase& phase : plan.stages[s].phases) {
      layers += phase.layers.size();
      for (const LayerId layer : phase.layers)
        macs += network::cost_of(analysis.network(), layer).macs;
    }
    result.push_back({{"layers", layers},
                      {"macs", macs},
                      {"weights_bytes", weights_of(analysis.network(), plan.stages[s]).count},
                      {"slots_bytes", slots_of(analysis, s).count}});
  }
  return result;
}

}  // namespace millrace::present
