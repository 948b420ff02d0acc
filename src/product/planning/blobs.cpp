#include "product/planning/blobs.h"

#include "engine/batch.h"
#include "engine/registry.h"
#include "product/cache.h"

namespace millrace::product {
namespace {

/// As the runtime prepares it; plug-ins read and write plain tensors only.
engine::SubnetRequest request_of(const Loaded& loaded, const plan::Stage& stage,
                                 const plan::Phase& phase) {
  engine::SubnetRequest request;
  request.network = &loaded.network;
  request.processor = stage.processors.front();
  request.layers = phase.layers;
  const engine::Border border = engine::border_of(loaded.network, request.layers);
  for (const TensorId input : border.inputs)
    request.inputs.push_back({input, engine::plain_layout(loaded.network[input])});
  request.outputs = border.outputs;
  request.plain.assign(border.outputs.size(), true);
  request.variants = loaded.plan.variants;
  if (loaded.plan.calibration) request.calibration = &*loaded.plan.calibration;
  return request;
}

}  // namespace

std::map<std::string, std::string> blobs_of(const Loaded& loaded, const std::string& plan_file) {
  std::map<std::string, std::string> blobs;
  engine::EngineOptions options = measuring_options(loaded.context);
  options.take_blob = [&](const std::string& name, const std::string& file) { blobs[name] = file; };
  for (const plan::Stage& stage : loaded.plan.stages) {
    if (!engine::names_plugin(stage.engine)) continue;
    const auto engine = runtime::make_engine_of(plan_file, stage.engine, options);
    for (const plan::Phase& phase : stage.phases) {
      if (phase.transfer) continue;
      const engine::SubnetRequest request = request_of(loaded, stage, phase);
      engine::prepare_batch(*engine, request, phase.batch);
      if (phase.batch > 1) engine->prepare(request);
    }
  }
  return blobs;
}

}  // namespace millrace::product
