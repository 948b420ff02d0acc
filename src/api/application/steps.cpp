#include "api/application/steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/build.h"

namespace millrace::api {
namespace {

std::int64_t largest_batch(const plan::Plan& plan) {
  std::int64_t largest = 1;
  for (const plan::Stage& stage : plan.stages)
    for (const plan::Phase& phase : stage.phases) largest = std::max(largest, phase.batch);
  return largest;
}

std::int64_t most_turns(const plan::Plan& plan) {
  std::int64_t turns = 1;
  for (const plan::Stage& stage : plan.stages) turns = std::max(turns, stage.turn.of);
  return turns;
}

std::size_t stages_without_replicas(const plan::Plan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.stages.begin(), plan.stages.end(),
                    [](const plan::Stage& stage) { return stage.turn.index == 0; }));
}

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
  pieces.board.processors.push_back(stage.processor);
}

/// The plan without its replicas; with its batches or without.
plan::Plan pipeline_of(const Loaded& loaded, bool with_batches) {
  const plan::Plan& plan = loaded.plan;
  const std::size_t layers = loaded.network.layers.size();
  Pieces pieces{{}, {}, std::vector<std::int64_t>(layers, 1)};
  pieces.mapping.processors.resize(layers);
  for (const plan::Stage& stage : plan.stages)
    if (stage.turn.index == 0) add_stage(stage, pieces);
  plan::BuildOptions options;
  options.engine = plan.stages.front().engine;
  if (with_batches) options.batches = pieces.batches;
  for (const plan::Channel& channel : plan.channels)
    options.capacity = std::max(options.capacity, channel.capacity);
  plan::Plan result = plan::build(loaded.network, pieces.board, pieces.mapping, options);
  result.variants = with_batches ? plan.variants : plan::one_frame_variants(plan);
  result.calibration = plan.calibration;
  return result;
}

plan::Plan on_first_processor(const Loaded& loaded) {
  const plan::Stage& first = loaded.plan.stages.front();
  plan::Plan plan = one_processor_plan(loaded.network, first.processor, first.engine);
  plan.variants = variants_on(first.processor, loaded, *loaded.engines.at(first.engine));
  plan.calibration = loaded.plan.calibration;
  return plan;
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
    const bool whole = plan.stages.size() <= 1 || loaded_.simulated.engine != nullptr;
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
    const std::int64_t batch = largest_batch(plan), turns = most_turns(plan);
    const std::size_t stages = stages_without_replicas(plan);
    if (stages > 1)
      add(fmt::format("+ a pipeline of {} stages", stages),
          batch > 1 || turns > 1 ? pipeline_of(loaded_, false) : plan);
    if (batch > 1)
      add(fmt::format("+ batches of up to {}", batch),
          turns > 1 ? pipeline_of(loaded_, true) : plan);
    if (turns > 1) add(fmt::format("+ {} replicas", turns), plan);
  }

  const Loaded& loaded_;
  const int before_, after_;
  std::vector<ApplicationStep> steps_;
};

}  // namespace

std::vector<ApplicationStep> application_steps(const LoadedApplication& loaded) {
  return Steps(loaded).make();
}

}  // namespace millrace::api
