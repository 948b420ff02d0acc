#include "engine/onnxruntime/subnet.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "engine/request.h"

namespace millrace::engine::onnxruntime {
namespace {

/// What the library said, and of which subnet.
[[noreturn]] void fail(const SessionPart& part, const board::Processor& processor,
                       const EngineError& error) {
  const auto layers = part.part.layers;
  std::string place =
      layers.empty() ? "a subnet without layers" : (*part.network)[layers.front()].name;
  if (layers.size() > 1) place += " and the layers after it";
  throw EngineError(place + " on " + processor.name + ": " + error.what());
}

/// The buffers between layers share memory in a way that the library does not tell.
Memory memory_of(const SubnetRequest& request) {
  const network::Network& network = *request.network;
  Memory memory;
  std::vector<TensorId> weights;
  for (const LayerId layer : request.layers) {
    for (const TensorId output : network[layer].outputs) {
      const bool goes_out = std::ranges::find(request.outputs, output) != request.outputs.end();
      if (output.valid() && !goes_out) memory.naive += network[output].size();
    }
    for (const TensorId input : network[layer].inputs)
      if (input.valid() && network[input].constant) weights.push_back(input);
  }
  std::sort(weights.begin(), weights.end());
  weights.erase(std::unique(weights.begin(), weights.end()), weights.end());
  for (const TensorId weight : weights) memory.weights += network[weight].size();
  memory.arena = memory.naive;
  memory.moved = memory.moved_layer_by_layer = moved_layer_by_layer(network, request.layers);
  return memory;
}

}  // namespace

OnnxSubnet::OnnxSubnet(const Provider& provider, const SubnetRequest& request)
    : provider_(provider),
      network_(request.network),
      processor_(request.processor),
      layers_(request.layers),
      inputs_(request.inputs),
      outputs_(plain_outputs(request)),
      output_ids_(request.outputs),
      memory_(memory_of(request)) {
  for (const Port& input : inputs_) input_ids_.push_back(input.tensor);
  const SessionPart part{network_, {layers_, input_ids_, output_ids_}};
  try {
    session_.emplace(provider_, part, SessionOptions{processor_});
  } catch (const EngineError& error) {
    fail(part, processor_, error);
  }
}

void OnnxSubnet::run(std::span<const std::byte* const> in, std::span<std::byte* const> out) {
  if (outputs_.empty()) return;  // nobody reads what it computes, and sessions refuse to run so
  try {
    session_->run(in, out);
  } catch (const EngineError& error) {
    fail({network_, {layers_, input_ids_, output_ids_}}, processor_, error);
  }
}

std::vector<GroupTime> OnnxSubnet::run_timed(std::span<const std::byte* const> in,
                                             std::span<std::byte* const> out) {
  if (shares_.empty())
    shares_ = measure_shares(provider_, {network_, {layers_, input_ids_, output_ids_}}, processor_,
                             {in, out});
  const auto start = std::chrono::steady_clock::now();
  run(in, out);
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
  std::vector<GroupTime> times;
  for (const GroupShare& group : shares_)
    times.push_back({group.layers, group.kernel, time_from_seconds(whole.count() * group.share)});
  return times;
}

}  // namespace millrace::engine::onnxruntime
