#include "engine/reference/subnet.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "engine/request.h"

namespace millrace::engine::reference {
namespace {

std::optional<std::size_t> port_of(std::span<const Port> ports, TensorId id) {
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.tensor == id; });
  if (found == ports.end()) return std::nullopt;
  return static_cast<std::size_t>(found - ports.begin());
}

}  // namespace

ReferenceSubnet::ReferenceSubnet(const SubnetRequest& request)
    : network_(request.network),
      inputs_(request.inputs),
      outputs_(plain_outputs(request)),
      buffers_(request.network->tensors.size()),
      moved_(moved_layer_by_layer(*request.network, request.layers)) {
  for (const LayerId layer : request.layers) {
    Step step{layer, {}, {}, {}, {}, {}};
    for (const TensorId id : (*network_)[layer].inputs) step.in.push_back(input_view(id, step));
    for (const TensorId id : (*network_)[layer].outputs) step.out.push_back(output_view(id, step));
    steps_.push_back(std::move(step));
  }
}

network::ConstView ReferenceSubnet::input_view(TensorId id, Step& step) {
  if (!id.valid()) return {};
  const network::Tensor& tensor = (*network_)[id];
  network::ConstView view{tensor.type, tensor.shape, buffers_[id.index].data()};
  if (tensor.constant) {
    view.data = tensor.constant->memory->data();
  } else if (const auto input = port_of(inputs_, id)) {
    step.from_inputs.push_back({*input, step.in.size()});
  } else if (const auto output = port_of(outputs_, id)) {
    step.from_outputs.push_back({*output, step.in.size()});
  }
  return view;
}

network::View ReferenceSubnet::output_view(TensorId id, Step& step) {
  if (!id.valid()) return {};
  const network::Tensor& tensor = (*network_)[id];
  network::View view{tensor.type, tensor.shape, nullptr};
  if (const auto output = port_of(outputs_, id)) {
    step.to_outputs.push_back({*output, step.out.size()});
    return view;
  }
  buffers_[id.index] = network::Buffer(tensor.size());
  buffers_size_ += tensor.size();
  view.data = buffers_[id.index].data();
  return view;
}

void ReferenceSubnet::run_step(Step& step, std::span<const std::byte* const> in,
                               std::span<std::byte* const> out) const {
  for (const Border& border : step.from_inputs) step.in[border.view].data = in[border.port];
  for (const Border& border : step.from_outputs) step.in[border.view].data = out[border.port];
  for (const Border& border : step.to_outputs) step.out[border.view].data = out[border.port];
  network::evaluate((*network_)[step.layer], step.in, step.out);
}

void ReferenceSubnet::run(std::span<const std::byte* const> in, std::span<std::byte* const> out) {
  for (Step& step : steps_) run_step(step, in, out);
}

std::vector<GroupTime> ReferenceSubnet::run_timed(std::span<const std::byte* const> in,
                                                  std::span<std::byte* const> out) {
  std::vector<GroupTime> times;
  for (Step& step : steps_) {
    const auto start = std::chrono::steady_clock::now();
    run_step(step, in, out);
    const auto end = std::chrono::steady_clock::now();
    times.push_back({{step.layer}, "loops", std::chrono::duration_cast<Time>(end - start)});
  }
  return times;
}

}  // namespace millrace::engine::reference
