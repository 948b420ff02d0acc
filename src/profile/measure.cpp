#include "profile/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "profile/trial.h"

namespace millrace::profile {
namespace {

using engine::Engine;
using engine::SubnetRequest;
using network::Network;

std::vector<LayerId> all_layers(const Network& network) {
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.emplace_back(i);
  return layers;
}

void check_supported(const Network& network, const board::Processor& processor,
                     const Engine& engine) {
  for (const LayerId layer : all_layers(network))
    if (const Verdict verdict = engine.supports(network, layer, processor); !verdict)
      throw InputError(network.name,
                       fmt::format("layer '{}' cannot run on {} with {}: {}", network[layer].name,
                                   processor.name, engine.name(), verdict.reason()));
}

/// Whole-network runs: the time of each group goes to its first layer.
void measure_together(Trial& trial, ProcessorProfile& result, const MeasureOptions& options) {
  std::vector<std::vector<Time>> samples(result.layers.size());
  std::vector<Time> totals;
  repeat(options, [&](bool counted) {
    Time total{};
    for (const engine::GroupTime& group : trial.run_timed()) {
      total += group.time;
      if (!counted) continue;
      samples[group.layers[0].index].push_back(group.time);
      result.layers[group.layers[0].index].kernel = group.kernel;
      for (std::size_t i = 1; i < group.layers.size(); ++i)
        result.layers[group.layers[i].index].fused_into = group.layers[0];
    }
    if (counted) totals.push_back(total);
    return total;
  });
  for (std::size_t i = 0; i < samples.size(); ++i)
    result.layers[i].together = statistics_of(std::move(samples[i]));
  result.whole = statistics_of(std::move(totals));
}

/// Layers that fuse, each as a subnet of its own between borders in the engine's layouts.
class AloneMeasurement {
 public:
  AloneMeasurement(const Network& network, Engine& engine, ProcessorProfile& result)
      : network_(network), engine_(engine), result_(result), in_group_(result.layers.size()) {
    for (std::size_t i = 0; i < result.layers.size(); ++i)
      if (const auto first = result.layers[i].fused_into)
        in_group_[i] = in_group_[first->index] = true;
  }

  void run(const MeasureOptions& options) {
    for (const LayerId layer : all_layers(network_)) {
      LayerTimes& times = result_.layers[layer.index];
      Trial trial(engine_.prepare(request_for(layer)), network_, options.seed);
      for (const engine::Port& port : trial.outputs()) layouts_[port.tensor] = port.layout;
      times.alone = in_group_[layer.index] ? time_of(trial, options) : times.together;
    }
  }

 private:
  SubnetRequest request_for(LayerId layer) const {
    SubnetRequest request;
    request.network = &network_;
    request.processor = result_.processor;
    request.layers = {layer};
    const engine::Border border = engine::border_of(network_, request.layers);
    request.outputs = border.outputs;
    request.plain.assign(border.outputs.size(), false);
    for (const TensorId input : border.inputs) {
      const auto known = layouts_.find(input);
      request.inputs.push_back(
          {input, known != layouts_.end() ? known->second : engine::plain_layout(network_[input])});
    }
    return request;
  }

  const Network& network_;
  Engine& engine_;
  ProcessorProfile& result_;
  std::vector<bool> in_group_;
  std::map<TensorId, engine::Layout> layouts_;
};

ProcessorProfile measure_processor(const Network& network, const board::Processor& processor,
                                   Engine& engine, const MeasureOptions& options) {
  check_supported(network, processor, engine);
  ProcessorProfile result;
  result.processor = processor;
  result.engine = engine.name();
  result.engine_version = engine.version();
  result.layers.resize(network.layers.size());
  const board::PinGuard pinned(processor);
  {
    Trial trial(engine.prepare(engine::whole_network(network, processor)), network, options.seed);
    measure_together(trial, result, options);
  }
  if (options.alone) {
    MeasureOptions brief = options;
    brief.warmup = 1;
    brief.duration = options.duration / 50;
    brief.least = std::min(options.least, 5);
    AloneMeasurement(network, engine, result).run(brief);
  }
  return result;
}

}  // namespace

Profile measure(const Network& network, const board::Board& board, Engine& engine,
                const MeasureOptions& options) {
  Profile profile;
  profile.network = network::hash_of(network);
  profile.board = board::hash_of(board);
  profile.network_name = network.name;
  for (const network::Layer& layer : network.layers) profile.layer_names.push_back(layer.name);
  for (const board::Processor& processor : board.processors) {
    if (options.progress)
      options.progress(processor.name, static_cast<double>(profile.processors.size()) /
                                           static_cast<double>(board.processors.size()));
    profile.processors.push_back(measure_processor(network, processor, engine, options));
  }
  profile.tokens = measure_tokens(board);
  return profile;
}

Statistics measure_subnet(const SubnetRequest& request, Engine& engine,
                          const MeasureOptions& options) {
  const board::PinGuard pinned(request.processor);
  Trial trial(engine.prepare(request), *request.network, options.seed);
  return time_of(trial, options);
}

}  // namespace millrace::profile
