#include "engine/onnxruntime/onnxruntime.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "engine/onnxruntime/devices.h"
#include "engine/onnxruntime/questions.h"
#include "engine/onnxruntime/subnet.h"
#include "engine/request.h"

namespace millrace::engine::onnxruntime {
namespace {

/// Raised when what is run changes: what was measured before is then measured again.
constexpr int lowering_of_ours = 2;

void check_variants(const SubnetRequest& request) {
  if (request.variants.empty()) return;
  for (const LayerId layer : request.layers)
    if (const board::Variant& variant = request.variants[layer.index]; variant != board::Variant{})
      throw InputError((*request.network)[layer].name, "the engine onnxruntime has no variant " +
                                                           to_text(variant) + "; it has only f32");
}

/// OpenVINO makes one node of all layers.
board::Granularity granularity_on_cores(const ProviderSettings& settings) {
  return settings.provider == "openvino" ? board::Granularity::subnet : board::Granularity::layer;
}

class OnnxRuntime final : public Engine {
 public:
  OnnxRuntime(const OrtLibrary& library, const EngineOptions& options)
      : library_(library), settings_(read_settings(options)) {
    if (!options.compiled.empty()) compiled_ = options.compiled / "onnxruntime";
  }

  std::string name() const override { return "onnxruntime"; }

  std::string version() const override {
    const std::string set = to_text(settings_);
    return fmt::format("{}, models {}{}{}", library_.version, lowering_of_ours,
                       set.empty() ? "" : ", ", set);
  }

  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor& processor) const override {
    const std::optional<Provider> provider = provider_for(processor);
    if (!provider) return Verdict::no(not_reached(processor));
    Verdict alone = all_of(layers, [&](LayerId layer) {
      return questions_.can_run(*provider, network, layer, processor);
    });
    if (!alone || layers.size() == 1 || provider->settings.provider == "cpu") return alone;
    const Border border = border_of(network, layers);
    return questions_.can_run_together(
        *provider, {&network, {layers, border.inputs, border.outputs}}, processor);
  }

  std::optional<Traits> traits(const board::Processor& processor) const override {
    const std::optional<Provider> provider = provider_for(processor);
    if (!provider) return std::nullopt;
    if (processor.kind == board::ProcessorKind::cpu)
      return Traits{.granularity = granularity_on_cores(provider->settings)};
    return Traits{.granularity = board::Granularity::subnet,
                  .uses_cores = false,
                  .lets_caller_sleep = true,
                  .serialised = provider->turns != nullptr};
  }

  std::unique_ptr<Subnet> prepare(const SubnetRequest& request) override {
    check_support(*this, request);
    check_plain(*this, request);
    check_variants(request);
    return std::make_unique<OnnxSubnet>(*provider_for(request.processor), request);
  }

 private:
  /// Looked for when the first processor that is no core is asked about: drivers take their time.
  const std::vector<FoundDevice>& devices() const {
    std::call_once(looked_, [&] { devices_ = find_devices(library_, settings_); });
    return devices_;
  }

  const FoundDevice* device_named(const std::string& processor) const {
    const auto found = std::ranges::find_if(devices(), [&](const FoundDevice& device) {
      return device.reached.device.processors.front() == processor;
    });
    return found == devices().end() ? nullptr : &*found;
  }

  /// On cores the library's own provider stands in for one of another processor.
  std::optional<Provider> provider_for(const board::Processor& processor) const {
    Provider provider{&library_, settings_, nullptr, nullptr, compiled_};
    if (processor.kind == board::ProcessorKind::cpu) {
      if (processor_kind(settings_) == board::ProcessorKind::cpu) return provider;
      provider.settings.provider = "cpu";
      return provider;
    }
    const FoundDevice* const device = device_named(processor.name);
    if (device == nullptr || device->reached.device.kind != processor.kind) return std::nullopt;
    provider.settings.provider = device->provider;
    if (device->plugin != nullptr) provider.settings.options.clear();
    provider.device = device->plugin;
    provider.turns = device->turns;
    return provider;
  }

  std::string not_reached(const board::Processor& processor) const {
    std::string known;
    for (const FoundDevice& device : devices())
      known += (known.empty() ? "" : ", ") + device.reached.device.name;
    return fmt::format("ONNX Runtime does not reach {} here; it reaches the cores{}{}",
                       processor.name, known.empty() ? "" : " and ", known);
  }

  const OrtLibrary& library_;
  const ProviderSettings settings_;
  mutable std::once_flag looked_;
  mutable std::vector<FoundDevice> devices_;  // written once, under looked_
  std::filesystem::path compiled_;
  mutable Questions questions_;
};

}  // namespace

Verdict can_start(const EngineOptions& options) {
  const ProviderSettings settings = read_settings(options);
  const LoadedLibrary loaded = load_library(options);
  if (loaded.library == nullptr) return Verdict::no(loaded.reason);
  return can_append({loaded.library, settings});
}

std::vector<ReachedDevice> devices(const EngineOptions& options) {
  std::vector<ReachedDevice> result;
  const LoadedLibrary loaded = load_library(options);
  if (loaded.library == nullptr) return result;
  for (const FoundDevice& device : find_devices(*loaded.library, read_settings(options)))
    result.push_back(device.reached);
  return result;
}

std::unique_ptr<Engine> make(const EngineOptions& options) {
  const LoadedLibrary loaded = load_library(options);
  if (loaded.library == nullptr) throw EngineError(loaded.reason);
  return std::make_unique<OnnxRuntime>(*loaded.library, options);
}

}  // namespace millrace::engine::onnxruntime
