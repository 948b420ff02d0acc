#include "engine/tiled/subnet.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "engine/request.h"
#include "workload/check/check.h"

namespace millrace::engine::tiled {
namespace {

void check_program(const workload::Program& program) {
  const std::vector<std::string> found = workload::violations(program);
  if (!found.empty()) throw EngineError("tiled: " + found.front());
}

board::Processor second_core(const board::Processor& processor) {
  if (processor.cores.size() < 2)
    throw InputError("tiled.copy",
                     fmt::format("the processor {} has one core; a second one is needed to copy, "
                                 "such as in core0+core1",
                                 processor.name));
  return {.name = processor.name, .cores = {processor.cores[1]}};
}

bool is_port(std::span<const Port> ports, TensorId id) {
  return std::ranges::any_of(ports, [&](const Port& port) { return port.tensor == id; });
}

}  // namespace

TiledSubnet::TiledSubnet(const SubnetRequest& request, const TiledSettings& settings)
    : network_(request.network),
      inputs_(request.inputs),
      outputs_(plain_outputs(request)),
      compiled_(workload::compile(
          *request.network, {request.layers, request.outputs, settings.fuse}, settings.target)),
      memories_(compiled_.program),
      buffers_(request.network->tensors.size()),
      tensors_(request.network->tensors.size(), nullptr),
      moved_layer_by_layer_(moved_layer_by_layer(*request.network, request.layers)) {
  if (settings.check) check_program(compiled_.program);
  if (settings.copy) copy_thread_ = std::make_unique<CopyThread>(second_core(request.processor));
  make_tensors(request);
  for (const workload::Workload& workload : compiled_.program.workloads)
    executables_.emplace_back(workload, *network_, memories_);
  for (const workload::LayerTiling& tiling : compiled_.tilings)
    moved_ += tiling.tiled ? Bytes{tiling.cost.traffic}
                           : moved_layer_by_layer(*network_, std::span(&tiling.layer, 1));
}

void TiledSubnet::make_tensors(const SubnetRequest& request) {
  for (const LayerId layer : request.layers) {
    for (const TensorId id : (*network_)[layer].inputs) {
      if (!id.valid() || !(*network_)[id].constant) continue;
      // Only ever read: no link has a constant as its sink.
      tensors_[id.index] = const_cast<std::byte*>((*network_)[id].constant->memory->data());
    }
    for (const TensorId id : (*network_)[layer].outputs) {
      if (!id.valid() || is_port(outputs_, id) || is_between(layer)) continue;
      buffers_[id.index] = network::Buffer((*network_)[id].size());
      buffers_size_ += (*network_)[id].size();
      tensors_[id.index] = buffers_[id.index].data();
    }
  }
}

/// Its output stays in the scratchpad.
bool TiledSubnet::is_between(LayerId layer) const {
  return std::ranges::any_of(compiled_.tilings, [&](const workload::LayerTiling& tiling) {
    return (tiling.layer == layer && tiling.activation) ||
           std::ranges::find(tiling.before, layer) != tiling.before.end();
  });
}

void TiledSubnet::set_borders(std::span<const std::byte* const> in,
                              std::span<std::byte* const> out) {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    tensors_[inputs_[i].tensor.index] = const_cast<std::byte*>(in[i]);  // only ever read
  for (std::size_t i = 0; i < outputs_.size(); ++i) tensors_[outputs_[i].tensor.index] = out[i];
}

void TiledSubnet::run(std::span<const std::byte* const> in, std::span<std::byte* const> out) {
  set_borders(in, out);
  for (workload::Executable& executable : executables_) run(executable);
}

void TiledSubnet::run(workload::Executable& executable) {
  if (copy_thread_ && executable.is_overlapped())
    copy_thread_->run(executable.prepare(tensors_));
  else
    executable.run(tensors_);
}

std::vector<GroupTime> TiledSubnet::run_timed(std::span<const std::byte* const> in,
                                              std::span<std::byte* const> out) {
  set_borders(in, out);
  std::vector<GroupTime> times;
  for (std::size_t i = 0; i < executables_.size(); ++i) {
    const auto start = std::chrono::steady_clock::now();
    run(executables_[i]);
    const auto end = std::chrono::steady_clock::now();
    const workload::LayerTiling& tiling = compiled_.tilings[i];
    std::vector<LayerId> layers = tiling.before;
    layers.push_back(tiling.layer);
    if (tiling.activation) layers.push_back(*tiling.activation);
    times.push_back(
        {layers, tiling.tiled ? "tiles" : "loops", std::chrono::duration_cast<Time>(end - start)});
  }
  return times;
}

Memory TiledSubnet::memory() const {
  return {buffers_size_ + memories_.size(),
          buffers_size_ + memories_.size(),
          {},
          moved_,
          moved_layer_by_layer_};
}

}  // namespace millrace::engine::tiled
