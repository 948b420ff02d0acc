#include "runtime/sequential.h"

#include <algorithm>
#include <utility>

#include "network/frame.h"
#include "runtime/maybe_pinned.h"

namespace millrace::runtime {

Sequential::Sequential(const network::Network& network, engine::Engine& engine,
                       const board::Processor& processor, const SequentialOptions& options)
    : network_(network),
      processor_(processor),
      pin_(options.pin && binds_threads(engine, processor)),
      buffers_(network.tensors.size()) {
  const MaybePinned here(processor_, pin_);
  for (TensorId input : network.inputs)
    make_room_for({input, engine::plain_layout(network[input])});
  if (network.layers.empty()) return;
  engine::SubnetRequest request = engine::whole_network(network, processor);
  request.variants = options.variants;
  request.calibration = options.calibration;
  subnet_ = engine.prepare(request);
  for (const engine::Port& port : subnet_->outputs()) make_room_for(port);
}

void Sequential::make_room_for(const engine::Port& port) {
  network::Buffer& buffer = buffers_[port.tensor.index];
  if (buffer.data() == nullptr) buffer = network::Buffer(port.layout.size);
}

Sequential::Pointers Sequential::pointers() {
  Pointers result;
  for (const engine::Port& port : subnet_->inputs())
    result.in.push_back(buffers_[port.tensor.index].data());
  for (const engine::Port& port : subnet_->outputs())
    result.out.push_back(buffers_[port.tensor.index].data());
  return result;
}

void Sequential::run_again() {
  if (!subnet_) return;
  const MaybePinned here(processor_, pin_);
  const Pointers at = pointers();
  subnet_->run(at.in, at.out);
}

network::Array Sequential::result(TensorId output) const {
  const network::Tensor& tensor = network_[output];
  if (tensor.constant) return *tensor.constant;
  network::Buffer copy(tensor.size());
  std::copy_n(buffers_[output.index].data(), tensor.size().count, copy.data());
  return network::make_array(tensor.type, tensor.shape, std::move(copy));
}

std::vector<network::Array> Sequential::run(std::span<const network::Array> inputs) {
  network::check_frame(network_, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto bytes = inputs[i].bytes();
    std::copy(bytes.begin(), bytes.end(), buffers_[network_.inputs[i].index].data());
  }
  run_again();
  std::vector<network::Array> results;
  for (TensorId output : network_.outputs) results.push_back(result(output));
  return results;
}

engine::Memory Sequential::memory() const { return subnet_ ? subnet_->memory() : engine::Memory{}; }

}  // namespace millrace::runtime
