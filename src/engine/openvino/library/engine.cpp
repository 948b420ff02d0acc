#include "engine/openvino/library/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/combined_subnet.h"
#include "engine/openvino/library/compiling.h"
#include "engine/openvino/library/devices.h"
#include "engine/openvino/library/guarded.h"
#include "engine/openvino/library/model.h"
#include "engine/openvino/library/subnet.h"
#include "engine/openvino/library/support.h"
#include "engine/request.h"
#include "network/operator_kinds.h"

namespace millrace::engine::openvino {
namespace {

using board::Precision;
using board::Variant;

std::string place_of(const SubnetRequest& request) {
  const std::string layer =
      request.layers.empty() ? "an empty subnet" : (*request.network)[request.layers.front()].name;
  return fmt::format("{} on {}", layer, request.processor.name);
}

/// By LayerId, of the layers that multiply as asked for; the others follow what they read.
std::vector<Precision> precisions_of(const SubnetRequest& request, Precision usual) {
  const network::Network& network = *request.network;
  std::vector<Precision> precisions(network.layers.size(), usual);
  const auto multiplies = [&](LayerId id) { return network::multiplies(network[id].op); };
  const auto first = std::ranges::find_if(request.layers, multiplies);
  if (request.variants.empty() || first == request.layers.end()) return precisions;
  const network::Topology topology = network::topology(network);
  for (const LayerId id : request.layers) {
    precisions[id.index] = request.variants[multiplies(id) ? id.index : first->index].precision;
    if (multiplies(id)) continue;
    for (const LayerId before : topology.predecessors[id.index])
      if (std::ranges::binary_search(request.layers, before))
        precisions[id.index] = precisions[before.index];
  }
  return precisions;
}

class OpenVino final : public Engine {
 public:
  explicit OpenVino(EngineOptions options) : options_(std::move(options)) {}

  std::string name() const override { return "openvino"; }
  std::string version() const override { return ov::get_openvino_version().buildNumber; }

  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor& processor) const override {
    const std::optional<std::string> device = device_of(core_, processor);
    if (!device)
      return Verdict::no(fmt::format("OpenVINO finds no device '{}' on this machine; it has {}",
                                     processor.name,
                                     fmt::join(core_.get_available_devices(), ", ")));
    return all_of(layers,
                  [&](LayerId layer) { return support_.supports(network, layer, *device); });
  }

  std::vector<Variant> variants(const network::Network& network, LayerId layer,
                                const board::Processor& processor) const override {
    if (!supports(network, layer, processor)) return {};
    if (!network::multiplies(network[layer].op)) return {Variant{}};
    std::vector<Variant> result;
    for (const Precision precision : precisions_on(processor)) result.push_back({precision, {}});
    return result;
  }

  std::optional<Traits> traits(const board::Processor& processor) const override {
    if (!device_of(core_, processor)) return std::nullopt;
    Traits traits;
    if (processor.kind == board::ProcessorKind::cpu) return traits;
    traits.uses_cores = false;
    traits.lets_caller_sleep = true;
    if (processor.kind == board::ProcessorKind::npu)
      traits.granularity = board::Granularity::subnet;
    return traits;
  }

  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    check_support(*this, request);
    check_plain(*this, request);
    check_variants(request);
    return guarded(place_of(request), [&] { return prepare_checked(request); });
  }

 private:
  std::vector<Precision> precisions_on(const board::Processor& processor) const {
    if (processor.kind == board::ProcessorKind::npu) return {Precision::f16};
    if (processor.kind == board::ProcessorKind::gpu) return {Precision::f32, Precision::f16};
    if (bfloat16_) return {Precision::f32, Precision::bf16};
    return {Precision::f32};
  }

  void check_variants(const SubnetRequest& request) const {
    if (request.variants.empty()) return;
    const std::vector<Precision> known = precisions_on(request.processor);
    for (const LayerId layer : request.layers) {
      const Variant& variant = request.variants[layer.index];
      if (!network::multiplies((*request.network)[layer].op)) continue;
      if (variant.algorithm.empty() && std::ranges::find(known, variant.precision) != known.end())
        continue;
      throw InputError((*request.network)[layer].name,
                       fmt::format("is to run as {}, which OpenVINO does not offer on {}; make a "
                                   "new plan here with 'millrace plan'",
                                   board::to_text(variant), request.processor.name));
    }
  }

  /// OpenVINO compiles a model in one precision.
  std::unique_ptr<Subnet> prepare_checked(const SubnetRequest& request) {
    const std::vector<Precision> precisions =
        precisions_of(request, precisions_on(request.processor).front());
    const Precision first = precisions[request.layers.front().index];
    std::vector<Engine*> engines(precisions.size(), nullptr);
    OneWay other_way{*this, first}, one_way{*this, first};
    bool mixed = false;
    for (const LayerId layer : request.layers) {
      const Precision precision = precisions[layer.index];
      engines[layer.index] = precision == first ? &one_way : &other_way;
      if (precision == first) continue;
      other_way.precision = precision;
      mixed = true;
    }
    return mixed ? prepare_combined(request, engines, {}) : prepare_in(first, request);
  }

  std::unique_ptr<Subnet> prepare_in(Precision precision, const SubnetRequest& request) const {
    std::optional<board::PinGuard> bound;  // so are then the threads that help
    if (request.processor.cores.size() > 1) bound.emplace(request.processor);
    Compilation compilation{core_, place_of(request), {}, {}, {}, {}};
    const Target target{device_of(core_, request.processor).value(), request.processor, precision};
    compilation.device = target.device;
    compilation.properties = properties_for(target, options_);
    std::vector<TensorId> inputs;
    for (const Port& port : request.inputs) inputs.push_back(port.tensor);
    auto part = std::make_shared<const Part>(
        cut_out(*request.network, {request.layers, inputs, request.outputs}));
    compilation.model = read(compilation.core, *part, written(*part));
    compilation.part = std::move(part);
    return make_subnet(request, std::move(compilation));
  }

  /// The engine with one precision for all layers.
  struct OneWay final : Engine {
    OneWay(const OpenVino& whole_engine, Precision way) : whole(whole_engine), precision(way) {}

    std::string name() const override { return whole.name(); }
    std::string version() const override { return whole.version(); }
    Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                     const board::Processor& processor) const override {
      return whole.supports(network, layers, processor);
    }
    std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
      return whole.prepare_in(precision, request);
    }

    const OpenVino& whole;
    Precision precision;
  };

  EngineOptions options_;
  ov::Core core_ = shared_core();
  SupportCache& support_ = shared_support();
  bool bfloat16_ = has_bfloat16(core_);
};

}  // namespace

std::string reason_of(const std::exception& error) {
  std::string text = error.what();
  text.erase(text.find_last_not_of(" \n\t") + 1);
  return text.substr(text.rfind('\n') + 1);
}

std::unique_ptr<Engine> make_openvino(const EngineOptions& options) {
  return guarded("openvino", [&] { return std::make_unique<OpenVino>(options); });
}

}  // namespace millrace::engine::openvino
