#include "application/bench/techniques.h"

#include <fmt/format.h>

#include "plan/build.h"
#include "plan/steps.h"
#include "plan/variants.h"

namespace millrace::application {
namespace {

/// Where the plan has its layers, each stage once, and in what batches.
struct Pieces {
  board::Board board;
  plan::Mapping mapping;
  std::vector<std::int64_t> batches;  // by LayerId
};

void add_stage(const plan::Stage& stage, Pieces& pieces) {
  for (const plan::Phase& phase : stage.phases)
    for (const LayerId layer : phase.layers) {
      pieces.mapping.processors[layer.index] = ProcessorId(pieces.board.processors.size());
      pieces.batches[layer.index] = phase.batch;
    }
  pieces.board.processors.push_back(stage.processors.front());
}

/// The plan without its replicas; with its batches or without.
plan::Plan pipeline_of(const runtime::Loaded& loaded, bool with_batches) {
  const plan::Plan& plan = loaded.plan;
  const std::size_t layers = loaded.network.layers.size();
  Pieces pieces{{}, {}, std::vector<std::int64_t>(layers, 1)};
  pieces.mapping.processors.resize(layers);
  for (const plan::Stage& stage : plan.stages) add_stage(stage, pieces);
  plan::BuildOptions options;
  options.engine = plan.stages.front().engine;
  if (with_batches) options.batches = pieces.batches;
  for (const plan::Channel& channel : plan.channels)
    options.capacity = std::max(options.capacity, channel.capacity);
  return plan::with_variants(
      plan::build(loaded.network, pieces.board, pieces.mapping, options),
      {with_batches ? plan.variants : plan::one_frame_variants(plan), {}, plan.calibration});
}

plan::Plan on_first_processor(const runtime::Loaded& loaded) {
  const plan::Stage& first = loaded.plan.stages.front();
  return one_processor_plan(loaded, first.processors.front(), first.engine);
}

class Steps {
 public:
  explicit Steps(const LoadedApplication& loaded)
      : loaded_(*loaded.loaded),
        before_(loaded.application.preprocess.workers.threads),
        after_(loaded.application.postprocess.workers.threads) {}

  std::vector<ApplicationStep> make() {
    const plan::Plan& plan = loaded_.plan;
    steps_.push_back({"one after the other, one core", {}});
    // Parts of a simulated board have no times but those of the plan.
    const bool whole = plan::actors_in(plan) <= 1 || loaded_.simulated.engine != nullptr;
    const plan::Plan first = whole ? plan : on_first_processor(loaded_);
    steps_.push_back({"+ processing beside the network", first});
    if (before_ > 1 || after_ > 1)
      add(fmt::format("+ {} and {} threads for it", before_, after_), first);
    if (!whole) add_pipeline();
    return std::move(steps_);
  }

 private:
  void add(std::string name, plan::Plan plan) {
    steps_.push_back({std::move(name), std::move(plan), before_, after_});
  }

  void add_pipeline() {
    const plan::Plan& plan = loaded_.plan;
    const std::int64_t batch = plan::batch_of(plan), replicas = plan::replicas_of(plan);
    const std::size_t stages = plan.stages.size();
    if (stages > 1)
      add(fmt::format("+ a pipeline of {} stages", stages),
          batch > 1 || replicas > 1 ? pipeline_of(loaded_, false) : plan);
    if (batch > 1)
      add(fmt::format("+ batches of up to {}", batch),
          replicas > 1 ? pipeline_of(loaded_, true) : plan);
    if (replicas > 1) add(fmt::format("+ {} replicas", replicas), plan);
  }

  const runtime::Loaded& loaded_;
  const int before_, after_;
  std::vector<ApplicationStep> steps_;
};

}  // namespace

std::vector<ApplicationStep> application_steps(const LoadedApplication& loaded) {
  return Steps(loaded).make();
}

}  // namespace millrace::application
