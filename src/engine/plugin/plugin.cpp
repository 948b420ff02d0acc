#include "engine/plugin/plugin.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "engine/plugin/compiler.h"
#include "engine/plugin/devices.h"
#include "engine/plugin/opened.h"
#include "engine/plugin/places.h"
#include "engine/plugin/questions.h"
#include "engine/plugin/transfer.h"
#include "engine/request.h"

namespace millrace::engine::plugin {
namespace {

/// Raised when what plug-ins are shown changes: what was measured before is then measured again.
constexpr int models_of_ours = 3;

class Plugin final : public Engine {
 public:
  Plugin(std::shared_ptr<const Instance> instance, const EngineOptions& options)
      : instance_(std::move(instance)), compiler_(instance_, options), questions_(instance_) {}

  std::string name() const override { return instance_->library().name; }

  std::string version() const override {
    const std::string set = instance_->options_text();
    return fmt::format("{}, models {}{}{}", instance_->sdk(), models_of_ours,
                       set.empty() ? "" : ", ", set);
  }

  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor& processor) const override {
    return supports_in(network, layers, processor, {});
  }

  std::vector<board::Variant> variants(const network::Network& network, LayerId layer,
                                       const board::Processor& processor) const override {
    std::vector<board::Variant> result;
    const PluginDevice* const device = device_of(processor);
    if (device == nullptr) return result;
    const bool multiplies = network::cost_of(network, layer).macs > 0;
    for (const board::Precision precision : precisions_of(*device))
      if ((multiplies || result.empty()) &&
          supports_in(network, std::span(&layer, 1), processor, {precision}))
        result.push_back({precision, {}});
    return result;
  }

  std::optional<Traits> traits(const board::Processor& processor) const override {
    const PluginDevice* const device = device_of(processor);
    if (device == nullptr) return std::nullopt;
    return Traits{.granularity = granularity_of(*device),
                  .uses_cores = device->kind == millrace_cores,
                  .lets_caller_sleep = !device->needs_thread,
                  .serialised = device->serialised,
                  .memory = device->own_space()};
  }

  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    check_plain(*this, request);
    if (request.is_transfer) return std::make_unique<PluginTransfer>(instance_, request);
    std::vector<board::Precision> precisions;
    for (const LayerId layer : request.layers)
      precisions.push_back(request.variants.empty() ? board::Precision::f32
                                                    : request.variants[layer.index].precision);
    if (const Verdict verdict =
            supports_in(*request.network, request.layers, request.processor, precisions);
        !verdict)
      throw InputError(request.layers.empty() ? request.network->name
                                              : (*request.network)[request.layers.front()].name,
                       "the engine " + name() + " cannot run it: " + verdict.reason());
    std::vector<TensorId> inputs;
    for (const Port& port : request.inputs) inputs.push_back(port.tensor);
    const PluginDevice* const device = device_of(request.processor);
    ProgramSource source{instance_, device, {},
                         std::make_shared<const SubnetView>(Shown{
                             request.network,
                             {request.layers, inputs, request.outputs},
                             precisions,
                             request.calibration,
                             instance_->table().onnx})};
    if (compiles(instance_->table())) source.blob = compiler_.blob_of(source);
    return std::make_unique<PluginSubnet>(std::move(source), request);
  }

 private:
  /// By its name; the host's cores are one device, whatever their names.
  const PluginDevice* device_of(const board::Processor& processor) const {
    const auto found = std::ranges::find_if(instance_->devices(), [&](const PluginDevice& device) {
      if (kind_of(device) != processor.kind) return false;
      return device.kind == millrace_cores || device.name == processor.name;
    });
    return found == instance_->devices().end() ? nullptr : &*found;
  }

  /// `precisions`: by layer; empty: the device's first.
  Verdict supports_in(const network::Network& network, std::span<const LayerId> layers,
                      const board::Processor& processor,
                      std::vector<board::Precision> precisions) const {
    const PluginDevice* const device = device_of(processor);
    if (device == nullptr) return Verdict::no(not_reached(processor));
    if (precisions.empty()) precisions.assign(layers.size(), precisions_of(*device).front());
    if (device->joins && layers.size() > 1) {
      for (std::size_t i = 0; i < layers.size(); ++i)
        if (const Verdict alone =
                supports_in(network, layers.subspan(i, 1), processor, {precisions[i]});
            !alone)
          return alone;
      return Verdict::yes();
    }
    const Border border = border_of(network, layers);
    return questions_.can_run(*device, {&network,
                                        {layers, border.inputs, border.outputs},
                                        std::move(precisions),
                                        nullptr,
                                        instance_->table().onnx});
  }

  std::string not_reached(const board::Processor& processor) const {
    std::string known;
    for (const PluginDevice& device : instance_->devices())
      known += (known.empty() ? "" : ", ") + device.name;
    return fmt::format("the plug-in {} does not reach {}; it reaches {}", name(), processor.name,
                       known.empty() ? "nothing" : known);
  }

  const std::shared_ptr<const Instance> instance_;  // sharers: its subnets
  Compiler compiler_;
  mutable Questions questions_;
};

}  // namespace

bool is_there(const std::string& name, const EngineOptions& options) {
  return file_of(name, options).has_value();
}

Verdict can_start(const std::string& name, const EngineOptions& options) {
  if (is_shipped(name) && !file_of(name, options))
    return Verdict::no(fmt::format("its plug-in {} is in none of the folders of plug-ins; install "
                                   "the package again",
                                   file_name_of(name)));
  try {
    open(name, options);
    return Verdict::yes();
  } catch (const BadOption&) {
    throw;
  } catch (const std::runtime_error& error) {
    return Verdict::no(error.what());
  }
}

std::vector<ReachedDevice> devices(const std::string& name, const EngineOptions& options) {
  return reached_by(*open(name, options));
}

std::unique_ptr<Engine> make(const std::string& name, const EngineOptions& options) {
  return std::make_unique<Plugin>(open(name, options), options);
}

std::unique_ptr<Engine> make_from(const std::filesystem::path& file, EngineOptions options) {
  const std::string name = load_library(file).name;
  options.libraries[name] = file;
  return make(name, options);
}

}  // namespace millrace::engine::plugin
