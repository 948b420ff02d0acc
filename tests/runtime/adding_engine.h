#pragma once
// The smallest engine that can run a Sketch: it adds.
#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/engine.h"

namespace millrace::test {

/// Adds float32 tensors of one shape; plain at both ends.
class AddingSubnet : public engine::Subnet {
 public:
  explicit AddingSubnet(engine::SubnetRequest request) : request_(std::move(request)) {
    for (const TensorId output : request_.outputs)
      outputs_.push_back({output, engine::plain_layout((*request_.network)[output])});
  }
  std::span<const engine::Port> inputs() const override { return request_.inputs; }
  std::span<const engine::Port> outputs() const override { return outputs_; }
  engine::Memory memory() const override { return {Bytes{1}, Bytes{2}, Bytes{3}}; }

  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override {
    std::map<TensorId, std::vector<float>> values;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto* data = reinterpret_cast<const float*>(in[i]);
      const TensorId tensor = request_.inputs[i].tensor;
      values[tensor].assign(data, data + elements_of(tensor));
    }
    for (const LayerId layer : request_.layers) add((*request_.network)[layer], values);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto& result = values.at(outputs_[i].tensor);
      std::copy(result.begin(), result.end(), reinterpret_cast<float*>(out[i]));
    }
  }
  std::vector<engine::GroupTime> run_timed(std::span<const std::byte* const> in,
                                           std::span<std::byte* const> out) override {
    run(in, out);
    std::vector<engine::GroupTime> times;
    for (const LayerId layer : request_.layers) times.push_back({{layer}, "add", Time(1)});
    return times;
  }

 private:
  std::ptrdiff_t elements_of(TensorId tensor) const {
    return (*request_.network)[tensor].size().count / static_cast<std::ptrdiff_t>(sizeof(float));
  }
  std::vector<float> value_of(TensorId tensor,
                              const std::map<TensorId, std::vector<float>>& values) const {
    const auto& constant = (*request_.network)[tensor].constant;
    if (!constant) return values.at(tensor);
    const auto data = constant->values<float>();
    return {data.begin(), data.end()};
  }
  void add(const network::Layer& layer, std::map<TensorId, std::vector<float>>& values) const {
    std::vector<float> sum = value_of(layer.inputs[0], values);
    const std::vector<float> other = value_of(layer.inputs[1], values);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
    values[layer.outputs[0]] = std::move(sum);
  }

  engine::SubnetRequest request_;
  std::vector<engine::Port> outputs_;
};

class AddingEngine : public engine::Engine {
 public:
  std::string name() const override { return "adding"; }
  std::string version() const override { return "1"; }
  Verdict supports(const network::Network& network, LayerId layer,
                   const board::Processor&) const override {
    const auto* binary = std::get_if<network::Binary>(&network[layer].op);
    return binary != nullptr && binary->kind == network::BinaryKind::add
               ? Verdict::yes()
               : Verdict::no("only additions");
  }
  std::unique_ptr<engine::Subnet> prepare(const engine::SubnetRequest& request) override {
    return std::make_unique<AddingSubnet>(request);
  }
};

}  // namespace millrace::test
