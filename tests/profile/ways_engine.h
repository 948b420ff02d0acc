#pragma once
// An engine whose variants have the times and errors that a test gives them.
#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "base/error.h"
#include "engine/registry.h"
#include "network/operator_kinds.h"

namespace millrace::profile::test {

struct Way {
  board::Variant variant;
  Time time{};
  float error = 0;  // share by which all outputs are too large
};

/// Convolutions and MatMul run in these ways, everything else in the plain one, in a microsecond.
class WaysEngine : public engine::Engine {
 public:
  explicit WaysEngine(std::vector<Way> ways) : ways_(std::move(ways)) {}

  std::string name() const override { return "ways"; }
  std::string version() const override { return "1"; }
  using Engine::supports;
  Verdict supports(const network::Network&, std::span<const LayerId>,
                   const board::Processor&) const override {
    return Verdict::yes();
  }
  std::vector<board::Variant> variants(const network::Network& network, LayerId layer,
                                       const board::Processor&) const override {
    if (!has_ways(network[layer].op)) return {board::Variant{}};
    std::vector<board::Variant> result;
    for (const Way& way : ways_) result.push_back(way.variant);
    return result;
  }
  std::unique_ptr<engine::Subnet> prepare(const engine::SubnetRequest& request) override {
    std::vector<Way> ways;
    for (const LayerId layer : request.layers) ways.push_back(way_of(request, layer));
    ++prepared;
    return std::make_unique<WaysSubnet>(*this, inner_->prepare(request), request.layers, ways);
  }

  int prepared = 0;
  /// By how much a run of all layers in this way is slower than it should be, when so many runs
  /// were timed before.
  std::function<int(const board::Variant&, int timed)> disturbance = [](const auto&, int) {
    return 1;
  };

 private:
  class WaysSubnet : public engine::Subnet {
   public:
    WaysSubnet(WaysEngine& engine, std::unique_ptr<engine::Subnet> inner,
               std::vector<LayerId> layers, std::vector<Way> ways)
        : engine_(engine),
          inner_(std::move(inner)),
          layers_(std::move(layers)),
          ways_(std::move(ways)) {}
    std::span<const engine::Port> inputs() const override { return inner_->inputs(); }
    std::span<const engine::Port> outputs() const override { return inner_->outputs(); }
    engine::Memory memory() const override { return inner_->memory(); }
    void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override {
      inner_->run(in, out);
      float factor = 1;
      for (const Way& way : ways_) factor *= 1 + way.error;
      for (std::size_t i = 0; i < out.size(); ++i) {
        auto* values = reinterpret_cast<float*>(out[i]);
        const auto bytes = static_cast<std::size_t>(outputs()[i].layout.size.count);
        std::for_each_n(values, bytes / sizeof(float), [&](float& value) { value *= factor; });
      }
    }
    std::vector<engine::GroupTime> run_timed(std::span<const std::byte* const> in,
                                             std::span<std::byte* const> out) override {
      run(in, out);
      std::vector<engine::GroupTime> times;
      const int slower = engine_.disturbance(ways_[0].variant, engine_.timed_++);
      for (std::size_t i = 0; i < layers_.size(); ++i)
        times.push_back({{layers_[i]}, to_text(ways_[i].variant), ways_[i].time * slower});
      return times;
    }

   private:
    WaysEngine& engine_;
    std::unique_ptr<engine::Subnet> inner_;
    std::vector<LayerId> layers_;
    std::vector<Way> ways_;
  };

  static bool has_ways(const network::Operator& op) {
    return network::is_one_of<network::Conv, network::MatMul>(op);
  }

  Way way_of(const engine::SubnetRequest& request, LayerId layer) const {
    const board::Variant asked =
        request.variants.empty() ? board::Variant{} : request.variants[layer.index];
    for (const Way& way : ways_)
      if (way.variant == asked && has_ways((*request.network)[layer].op)) return way;
    return {asked, std::chrono::microseconds(1), 0};
  }

  std::vector<Way> ways_;
  int timed_ = 0;
  std::unique_ptr<engine::Engine> inner_ = engine::make_engine("reference");
};

}  // namespace millrace::profile::test
