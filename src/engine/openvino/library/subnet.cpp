#include "engine/openvino/library/subnet.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "engine/openvino/library/guarded.h"
#include "engine/openvino/library/model.h"
#include "engine/openvino/library/times.h"
#include "engine/request.h"

namespace millrace::engine::openvino {
namespace {

using Clock = std::chrono::steady_clock;

/// An infer request that reads and writes where it is told to.
class BoundRequest {
 public:
  BoundRequest(ov::CompiledModel& compiled, const network::Network& part, std::size_t inputs)
      : request_(compiled.create_infer_request()), in_(inputs), out_(part.outputs.size()) {
    for (std::size_t i = 0; i < inputs; ++i) in_[i] = border_of_part(part[part.inputs[i]]);
    for (std::size_t i = 0; i < out_.size(); ++i) out_[i] = border_of_part(part[part.outputs[i]]);
  }

  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) {
    for (std::size_t i = 0; i < in_.size(); ++i)
      if (in_[i].data != in[i])
        request_.set_input_tensor(i, tensor_at(in_[i], const_cast<std::byte*>(in[i])));
    for (std::size_t i = 0; i < out_.size(); ++i)
      if (out_[i].data != out[i]) request_.set_output_tensor(i, tensor_at(out_[i], out[i]));
    request_.infer();
  }

  ov::InferRequest& request() { return request_; }

 private:
  struct BorderTensor {
    ov::element::Type type;
    ov::Shape shape;
    const std::byte* data = nullptr;  // where it is now
  };

  static BorderTensor border_of_part(const network::Tensor& tensor) {
    return {element_type(tensor.type), shape_of(tensor), nullptr};
  }
  static ov::Tensor tensor_at(BorderTensor& border, std::byte* data) {
    border.data = data;
    return {border.type, border.shape, static_cast<void*>(data)};
  }

  ov::InferRequest request_;
  std::vector<BorderTensor> in_, out_;
};

class OpenVinoSubnet final : public Subnet {
 public:
  OpenVinoSubnet(const SubnetRequest& request, Compilation compilation)
      : compilation_(std::move(compilation)),
        layers_(request.layers),
        inputs_(request.inputs),
        outputs_(plain_outputs(request)),
        compiled_(compile(compilation_.properties)),
        request_(bound_to(compiled_)) {
    const Traffic traffic = traffic_of(compiled_);
    memory_.arena = memory_.naive = traffic.written;
    memory_.moved = traffic.moved;
    memory_.moved_layer_by_layer = moved_layer_by_layer(*request.network, request.layers);
    for (const network::Array& weight : compilation_.part->weights)
      memory_.weights += weight.memory->size();
  }

  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }
  Memory memory() const override { return memory_; }

  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override {
    guarded(compilation_.place, [&] { request_.run(in, out); });
  }

  /// The time of the run is measured, its shares are those of runs with OpenVINO's counters.
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override {
    if (groups_.empty()) guarded(compilation_.place, [&] { groups_ = groups_in_runs(in, out); });
    const auto began = Clock::now();
    run(in, out);
    return times_of_groups(std::chrono::duration_cast<Time>(Clock::now() - began));
  }

 private:
  ov::CompiledModel compile(const ov::AnyMap& properties) {
    return compilation_.core.compile_model(compilation_.model, compilation_.device, properties);
  }
  BoundRequest bound_to(ov::CompiledModel& compiled) const {
    return {compiled, compilation_.part->network, inputs_.size()};
  }

  std::vector<KernelGroup> groups_in_runs(std::span<const std::byte* const> in,
                                          std::span<std::byte* const> out) {
    constexpr Time long_enough = std::chrono::milliseconds(20);
    constexpr int least_runs = 8, most_runs = 100;
    if (layers_.size() == 1) return groups_of(compiled_, 1, {});
    ov::AnyMap properties = compilation_.properties;
    properties.insert(ov::enable_profiling(true));
    ov::CompiledModel compiled = compile(properties);
    BoundRequest counting = bound_to(compiled);
    counting.run(in, out);  // the first is slower than others
    NodeTimes times;
    const auto began = Clock::now();
    for (int i = 0; i < most_runs && (i < least_runs || Clock::now() - began < long_enough); ++i) {
      counting.run(in, out);
      add_times(counting.request(), times);
    }
    return groups_of(compiled, layers_.size(), times);
  }

  std::vector<GroupTime> times_of_groups(Time total) const {
    double sum = 0;
    for (const KernelGroup& group : groups_) sum += group.time;
    std::vector<GroupTime> result;
    for (const KernelGroup& group : groups_) {
      const double share = sum > 0 ? group.time / sum : 1. / static_cast<double>(groups_.size());
      GroupTime time{{}, group.kernel, time_from_seconds(seconds(total) * share)};
      for (const std::size_t layer : group.layers) time.layers.push_back(layers_[layer]);
      result.push_back(std::move(time));
    }
    return result;
  }

  Compilation compilation_;
  std::vector<LayerId> layers_;
  std::vector<Port> inputs_, outputs_;
  ov::CompiledModel compiled_;
  BoundRequest request_;
  Memory memory_;
  std::vector<KernelGroup> groups_;  // known after the first timed run
};

}  // namespace

std::unique_ptr<Subnet> make_subnet(const SubnetRequest& request, Compilation compilation) {
  return std::make_unique<OpenVinoSubnet>(request, std::move(compilation));
}

}  // namespace millrace::engine::openvino
