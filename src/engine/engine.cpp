#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace millrace::engine {

std::vector<board::Variant> Engine::variants(const network::Network& network, LayerId layer,
                                             const board::Processor& processor) const {
  if (!supports(network, layer, processor)) return {};
  return {board::Variant{}};
}

std::shared_ptr<std::byte> Subnet::allocate(const Layout& layout) {
  throw NoSuchSpace(fmt::format("there is no memory '{}'", layout.space));
}

bool is_in_a_space(const SubnetRequest& request) {
  return std::ranges::any_of(request.spaces, [](const auto& each) { return !each.empty(); }) ||
         std::ranges::any_of(request.inputs,
                             [](const Port& port) { return !port.layout.space.empty(); });
}

SubnetRequest transfer_request(const network::Network& network, const board::Processor& processor,
                               TensorId tensor,
                               const std::pair<std::string, std::string>& spaces) {
  SubnetRequest request;
  request.network = &network;
  request.processor = processor;
  request.inputs = {{tensor, plain_layout(network[tensor])}};
  request.inputs[0].layout.space = spaces.first;
  request.outputs = {tensor};
  request.plain = {true};
  request.spaces = {spaces.second};
  request.is_transfer = true;
  return request;
}

Layout plain_layout(const network::Tensor& tensor) { return {"plain", tensor.size()}; }

SubnetRequest whole_network(const network::Network& network, const board::Processor& processor) {
  SubnetRequest request;
  request.network = &network;
  request.processor = processor;
  for (std::size_t i = 0; i < network.layers.size(); ++i) request.layers.emplace_back(i);
  const Border border = border_of(network, request.layers);
  for (const TensorId input : border.inputs)
    request.inputs.push_back({input, plain_layout(network[input])});
  request.outputs = border.outputs;
  request.plain.assign(border.outputs.size(), true);
  return request;
}

Bytes moved_layer_by_layer(const network::Network& network, std::span<const LayerId> layers) {
  Bytes sum;
  for (const LayerId layer : layers) {
    for (const TensorId input : network::data_inputs(network, layer)) sum += network[input].size();
    for (const TensorId output : network[layer].outputs)
      if (output.valid()) sum += network[output].size();
  }
  return sum;
}

Border border_of(const network::Network& network, std::span<const LayerId> layers) {
  const network::Topology topology = network::topology(network);
  const auto inside = [&](LayerId layer) {
    return std::binary_search(layers.begin(), layers.end(), layer);
  };
  Border border;
  for (const LayerId layer : layers) {
    for (const TensorId input : network::data_inputs(network, layer)) {
      const auto producer = topology.producer[input.index];
      const bool known =
          std::find(border.inputs.begin(), border.inputs.end(), input) != border.inputs.end();
      if (!known && !(producer && inside(*producer))) border.inputs.push_back(input);
    }
    for (const TensorId output : network[layer].outputs) {
      if (!output.valid()) continue;
      const auto& readers = topology.consumers[output.index];
      if (topology.is_output[output.index] || !std::all_of(readers.begin(), readers.end(), inside))
        border.outputs.push_back(output);
    }
  }
  return border;
}

}  // namespace millrace::engine
