#include "application/loaded/crops_at_work.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "network/batch.h"
#include "runtime/load.h"

namespace millrace::application {
namespace {

std::unique_ptr<CropsAtWork> parts_for_crops(const LoadedApplication& loaded) {
  if (!loaded.of_crops) return nullptr;
  auto result = std::make_unique<CropsAtWork>();
  result->parts.crops = &*loaded.application.crops;
  result->parts.before = loaded.of_crops->before.get();
  result->parts.after = loaded.of_crops->after.get();
  result->parts.classes = wanted_classes(loaded.application);
  return result;
}

}  // namespace

network::Network with_batch_of(network::Network network, std::int64_t batch,
                               const std::string& place) {
  if (batch == 1) return network;
  const auto fail = [&](const std::string& text) { throw InputError(place, text); };
  for (const TensorId input : network.inputs)
    if (const network::Shape& shape = network[input].shape; shape.empty() || shape[0] != 1)
      fail(fmt::format("the input '{}' of {} has a batch of its own as its first dimension; leave "
                       "'batch' out",
                       network[input].name, network::to_text(shape)));
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    layers.emplace_back(i);
    if (const Verdict verdict = network::can_batch(network, LayerId(i)); !verdict)
      fail(fmt::format("the layer '{}' cannot take a batch: {}; leave 'batch' out",
                       network.layers[i].name, verdict.reason()));
  }
  return network::with_batch(network, layers, batch);
}

runtime::SessionOptions options_with_crops(const LoadedApplication& loaded, const plan::Plan& plan,
                                           runtime::SessionOptions options) {
  if (!loaded.of_crops) return options;
  return runtime::options_beside(plan, loaded.of_crops->loaded->plan, std::move(options));
}

std::unique_ptr<CropsAtWork> deploy_crops(const LoadedApplication& loaded) {
  auto result = parts_for_crops(loaded);
  if (!result) return result;
  const runtime::Loaded& second = *loaded.of_crops->loaded;
  result->session.emplace(deploy(second, second.plan, loaded.application.file,
                                 runtime::options_beside(second.plan, loaded.loaded->plan)));
  result->parts.session = &*result->session;
  return result;
}

std::unique_ptr<CropsAtWork> crops_in_turn(const LoadedApplication& loaded,
                                           const board::Processor& processor, bool pin) {
  auto result = parts_for_crops(loaded);
  if (!result) return result;
  const runtime::Loaded& second = *loaded.of_crops->loaded;
  engine::Engine& engine = *second.engines.begin()->second;
  runtime::SequentialOptions options;
  options.pin = pin;
  options.variants = variants_on(processor, second, engine);
  if (second.plan.calibration) options.calibration = &*second.plan.calibration;
  result->sequential =
      std::make_unique<runtime::Sequential>(second.network, engine, processor, options);
  result->parts.sequential = result->sequential.get();
  return result;
}

}  // namespace millrace::application
