#include "subnet_runner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/batch.h"

namespace millrace::test {

using engine::Border;
using engine::Port;
using network::Array;
using network::Network;

SubnetRunner::SubnetRunner(engine::Engine& engine, const engine::SubnetRequest& request)
    : network_(*request.network), subnet_(engine.prepare(request)) {
  for (const Port& port : subnet_->outputs())
    EXPECT_EQ(port.layout, engine::plain_layout(network_[port.tensor]));
}

std::vector<const std::byte*> SubnetRunner::input_pointers(const std::vector<Array>& inputs) const {
  std::vector<const std::byte*> pointers;
  for (const Port& port : subnet_->inputs()) {
    const auto at = std::find(network_.inputs.begin(), network_.inputs.end(), port.tensor);
    pointers.push_back(
        inputs[static_cast<std::size_t>(at - network_.inputs.begin())].memory->data());
  }
  return pointers;
}

/// Filled with something that is not a result.
std::vector<std::byte*> SubnetRunner::fresh_outputs() {
  std::vector<std::byte*> pointers;
  for (const Port& port : subnet_->outputs()) {
    network::Buffer& buffer = results_[port.tensor] = network::Buffer(port.layout.size);
    std::ranges::fill(buffer.bytes(), std::byte{0x5a});
    pointers.push_back(buffer.data());
  }
  return pointers;
}

std::vector<Array> SubnetRunner::take_outputs() {
  std::vector<Array> outputs;
  for (const TensorId id : network_.outputs)
    outputs.push_back(
        make_array(network_[id].type, network_[id].shape, std::move(results_.at(id))));
  return outputs;
}

std::vector<Array> SubnetRunner::run(const std::vector<Array>& inputs) {
  subnet_->run(input_pointers(inputs), fresh_outputs());
  return take_outputs();
}

std::vector<engine::GroupTime> SubnetRunner::run_timed(const std::vector<Array>& inputs,
                                                       std::vector<Array>& outputs) {
  std::vector<engine::GroupTime> times =
      subnet_->run_timed(input_pointers(inputs), fresh_outputs());
  outputs = take_outputs();
  return times;
}

namespace {

/// A tensor on its way between subnets.
struct Travelling {
  engine::Layout layout;
  network::Buffer memory;
};

class PartRunner {
 public:
  PartRunner(engine::Engine& engine, const Cut& cut) : engine_(engine), cut_(cut) {}

  void put(TensorId id, const Array& array) {
    Travelling tensor{engine::plain_layout(cut_.network[id]),
                      network::Buffer(array.memory->size())};
    std::ranges::copy(array.bytes(), tensor.memory.data());
    tensors_[id] = std::move(tensor);
  }

  void run(const std::vector<LayerId>& layers) {
    const engine::SubnetRequest request = request_for(layers);
    const std::unique_ptr<engine::Subnet> subnet = engine_.prepare(request);
    std::vector<const std::byte*> in;
    for (const Port& port : subnet->inputs()) in.push_back(tensors_.at(port.tensor).memory.data());
    std::vector<std::byte*> out;
    for (std::size_t i = 0; i < subnet->outputs().size(); ++i) {
      const Port& port = subnet->outputs()[i];
      EXPECT_EQ(port.tensor, request.outputs[i]);
      EXPECT_TRUE(!request.plain[i] || port.layout.format == "plain");
      Travelling& tensor = tensors_[port.tensor] = {port.layout, network::Buffer(port.layout.size)};
      out.push_back(tensor.memory.data());
    }
    subnet->run(in, out);
  }

  Array take(TensorId id) const {
    const network::Buffer& memory = tensors_.at(id).memory;
    network::Buffer copy(memory.size());
    std::ranges::copy(memory.bytes(), copy.data());
    return make_array(cut_.network[id].type, cut_.network[id].shape, std::move(copy));
  }

 private:
  engine::SubnetRequest request_for(const std::vector<LayerId>& layers) const {
    const Border border = engine::border_of(cut_.network, layers);
    engine::SubnetRequest request{&cut_.network, cut_.processor, layers, {}, border.outputs, {}};
    for (const TensorId id : border.inputs) request.inputs.push_back({id, tensors_.at(id).layout});
    for (const TensorId id : border.outputs) {
      const auto& results = cut_.network.outputs;
      request.plain.push_back(cut_.plain ||
                              std::find(results.begin(), results.end(), id) != results.end());
    }
    return request;
  }

  engine::Engine& engine_;
  const Cut& cut_;
  std::map<TensorId, Travelling> tensors_;
};

}  // namespace

std::vector<Array> run_in_parts(engine::Engine& engine, const Cut& cut,
                                const std::vector<Array>& inputs) {
  PartRunner runner(engine, cut);
  for (std::size_t i = 0; i < inputs.size(); ++i) runner.put(cut.network.inputs[i], inputs[i]);
  std::vector<LayerId> part;
  for (std::size_t i = 0; i < cut.network.layers.size(); ++i) {
    part.emplace_back(i);
    if (part.size() < cut.run_length && i + 1 < cut.network.layers.size()) continue;
    runner.run(part);
    part.clear();
  }
  std::vector<Array> outputs;
  for (const TensorId id : cut.network.outputs) outputs.push_back(runner.take(id));
  return outputs;
}

std::vector<std::vector<Array>> run_at_once(engine::Engine& engine,
                                            const engine::SubnetRequest& request,
                                            const std::vector<std::vector<Array>>& frames) {
  const Network& network = *request.network;
  const auto subnet =
      engine::prepare_batch(engine, request, static_cast<std::int64_t>(frames.size()));
  std::map<TensorId, network::Buffer> memory;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (const Port& port : subnet->outputs()) {
    memory[port.tensor] = network::Buffer(port.layout.size);
    out.push_back(memory[port.tensor].data());
  }
  std::vector<network::Buffer> joined;
  for (const Port& port : subnet->inputs()) {
    const auto at = std::ranges::find(network.inputs, port.tensor) - network.inputs.begin();
    std::byte* to = joined.emplace_back(port.layout.size).data();
    in.push_back(to);
    for (const auto& frame : frames)
      to = std::ranges::copy(frame[static_cast<std::size_t>(at)].bytes(), to).out;
  }
  subnet->run(in, out);
  std::vector<std::vector<Array>> results(frames.size());
  for (std::size_t f = 0; f < frames.size(); ++f)
    for (const TensorId id : network.outputs) {
      network::Buffer part(network[id].size());
      const auto size = static_cast<std::size_t>(part.size().count);
      std::copy_n(memory.at(id).data() + f * size, size, part.data());
      results[f].push_back(make_array(network[id].type, network[id].shape, std::move(part)));
    }
  return results;
}

}  // namespace millrace::test
