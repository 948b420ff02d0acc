#include "profile/frame_run.h"

#include <algorithm>

#include "network/frame.h"

namespace millrace::profile {
namespace {

/// All layers up to the last one that makes an output: what it needs comes before it.
std::vector<LayerId> layers_for(const network::Network& network,
                                std::span<const TensorId> outputs) {
  const network::Topology topology = network::topology(network);
  std::size_t count = 0;
  for (const TensorId output : outputs)
    count = std::max(count, topology.producer[output.index].value().index + 1);
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < count; ++i) layers.emplace_back(i);
  return layers;
}

}  // namespace

FrameRun::FrameRun(const Execution& execution, std::vector<TensorId> outputs,
                   std::vector<board::Variant> variants, const network::Calibration* calibration)
    : execution_(execution), buffers_(execution.network->tensors.size()) {
  const network::Network& network = *execution.network;
  for (const TensorId input : network.inputs)
    buffers_[input.index] = network::Buffer(network[input].size());
  engine::SubnetRequest request;
  request.layers = layers_for(network, outputs);
  if (request.layers.empty()) return;
  request.network = &network;
  request.processor = execution.processor;
  for (const TensorId input : engine::border_of(network, request.layers).inputs)
    request.inputs.push_back({input, engine::plain_layout(network[input])});
  request.plain.assign(outputs.size(), true);
  request.outputs = std::move(outputs);
  request.variants = std::move(variants);
  request.calibration = calibration;
  const board::PinGuard here(execution.processor);
  subnet_ = execution.engine->prepare(request);
  for (const engine::Port& port : subnet_->inputs())
    in_.push_back(buffers_[port.tensor.index].data());
  for (const engine::Port& port : subnet_->outputs()) {
    buffers_[port.tensor.index] = network::Buffer(port.layout.size);
    out_.push_back(buffers_[port.tensor.index].data());
  }
}

void FrameRun::run(std::span<const network::Array> frame) {
  network::check_frame(*execution_.network, frame);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    const auto bytes = frame[i].bytes();
    std::copy(bytes.begin(), bytes.end(),
              buffers_[execution_.network->inputs[i].index].bytes().begin());
  }
  if (!subnet_) return;
  const board::PinGuard here(execution_.processor);
  subnet_->run(in_, out_);
}

std::span<const std::byte> FrameRun::bytes(TensorId tensor) const {
  return buffers_[tensor.index].bytes();
}

}  // namespace millrace::profile
