#include "engine/plugin/foreign.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "base/error.h"
#include "base/process/foreign_call.h"
#include "engine/plugin/opened.h"
#include "engine/plugin/owner.h"
#include "engine/plugin/places.h"
#include "engine/plugin/plugin.h"
#include "engine/plugin/questions.h"
#include "formats/onnx/tensor_data.h"
#include "formats/onnx/types.h"

namespace millrace::engine::plugin {
namespace {

using formats::ForeignAnswer;
using formats::ForeignOutput;
using formats::SizeFrom;
using network::Network;

/// What load() is given and answers; a call that hangs keeps it.
struct AskedLayer {
  std::shared_ptr<const Instance> instance;
  std::shared_ptr<const SubnetView> view;
  MillraceLoading loading{};

  AskedLayer(std::shared_ptr<const Instance> of, std::shared_ptr<const SubnetView> shown)
      : instance(std::move(of)), view(std::move(shown)) {}
  AskedLayer(const AskedLayer&) = delete;
  AskedLayer& operator=(const AskedLayer&) = delete;
  ~AskedLayer() {
    const ForeignCall call(instance->place("unload", "the question"));
    if (loading.program != nullptr) instance->table().unload(loading.program);
  }
};

SizeFrom size_from(const MillraceLoading& loading, std::size_t output) {
  if (loading.sizes == nullptr || loading.sizes[output] == millrace_size_stated)
    return SizeFrom::the_model;
  return loading.sizes[output] == millrace_size_varies ? SizeFrom::varying_runs : SizeFrom::a_run;
}

/// EngineError if it is no tensor that networks have.
ForeignOutput output_of(const AskedLayer& asked, std::size_t i) {
  const MillraceTensor& found = asked.loading.outputs[i];
  const MillraceSubnet& subnet = asked.view->subnet();
  const std::string name = subnet.tensors[subnet.outputs[i]].name;
  const auto type = formats::onnx::known_type(found.type);
  if (!type || formats::onnx::number_of(*type) != found.type)
    throw EngineError(fmt::format("its output '{}' has the type {}, which networks do not have",
                                  name, formats::onnx::type_name(found.type)));
  if (found.rank < 0 || found.rank > static_cast<int>(formats::onnx::most_dimensions) ||
      (found.rank > 0 && found.shape == nullptr))
    throw EngineError(fmt::format("it does not say the shape of its output '{}'", name));
  ForeignOutput output{*type, {}, size_from(asked.loading, i)};
  if (found.rank > 0) output.shape.assign(found.shape, found.shape + found.rank);
  return output;
}

const PluginDevice* device_to_ask(const Instance& instance) {
  const PluginDevice* first = nullptr;
  for (const PluginDevice& device : instance.devices()) {
    if (device.kind == millrace_cores) return &device;
    if (first == nullptr && !device.is_absent) first = &device;
  }
  return first;
}

/// Loads the layer and reads what it would write. EngineError with the reason.
std::vector<ForeignOutput> outputs_of(const std::shared_ptr<const Instance>& instance,
                                      const PluginDevice& device, const Shown& shown) {
  auto view = std::make_shared<const SubnetView>(shown);
  const auto asked = std::make_shared<AskedLayer>(instance, std::move(view));
  asked->loading.size = sizeof(MillraceLoading);
  asked->loading.device = device.index;
  asked->loading.subnet = &asked->view->subnet();
  const std::string place = instance->place("load", device.name);
  const std::int32_t failed = Worker().call(place, instance->limit(), [asked] {
    return asked->instance->table().load(asked->instance->handle(), &asked->loading);
  });
  if (failed != 0) throw EngineError(text_of(asked->loading.text));
  if (asked->loading.output_count != shown.part.outputs.size() || asked->loading.outputs == nullptr)
    throw EngineError("it does not say what the layer's outputs are");
  std::vector<ForeignOutput> outputs;
  for (std::size_t i = 0; i < shown.part.outputs.size(); ++i)
    outputs.push_back(output_of(*asked, i));
  return outputs;
}

class ForeignPlugins final : public formats::ForeignOperators {
 public:
  explicit ForeignPlugins(const EngineOptions& options) : options_(options) {
    constexpr const char* first = "onnxruntime";
    if (is_shipped(first)) names_.emplace_back(first);
    for (const auto& [name, file] : options.libraries)
      if (name != first && is_there(name, options)) names_.push_back(name);
  }

  ForeignAnswer ask(const Network& question) const override {
    std::string reasons;
    for (const std::string& name : names_) {
      ForeignAnswer answer = ask(name, question);
      if (answer.owner != nullptr) return answer;
      reasons += (reasons.empty() ? "" : "; ") + answer.reason;
    }
    return {.reason = std::move(reasons)};
  }

 private:
  ForeignAnswer ask(const std::string& name, const Network& question) const {
    if (const Verdict start = can_start(name, options_); !start)
      return {.reason = fmt::format("the engine {} may have it, but cannot start: {}", name,
                                    start.reason())};
    const auto refused = [&](const std::string& reason) {
      return ForeignAnswer{.reason =
                               fmt::format("the engine {} does not run it: {}", name, reason)};
    };
    const auto instance = open(name, options_);
    const PluginDevice* const device = device_to_ask(*instance);
    if (device == nullptr || compiles(instance->table()))
      return refused("it cannot be asked for shapes");
    const std::vector<LayerId> layers{LayerId(0)};
    const Shown shown{.network = &question,
                      .part = {layers, question.inputs, question.outputs},
                      .precisions = {board::Precision::f32},
                      .onnx = instance->table().onnx,
                      .outputs_unknown = true};
    try {
      if (const Verdict runs = Questions(instance).can_run(*device, shown); !runs)
        return refused(runs.reason());
      ForeignAnswer answer{.outputs = outputs_of(instance, *device, shown)};
      answer.owner = owner_of(name);
      return answer;
    } catch (const EngineError& error) {
      return refused(error.what());
    }
  }

  std::shared_ptr<const network::OperatorOwner> owner_of(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    auto& owner = owners_[name];
    if (owner == nullptr) owner = make_owner(name, options_);
    return owner;
  }

  const EngineOptions options_;
  std::vector<std::string> names_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const network::OperatorOwner>> owners_;
};

}  // namespace

std::shared_ptr<const formats::ForeignOperators> foreign_operators(const EngineOptions& options) {
  return std::make_shared<const ForeignPlugins>(options);
}

}  // namespace millrace::engine::plugin
