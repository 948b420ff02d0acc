#include "api/load_runnable.h"

#include <algorithm>

#include "api/cache.h"
#include "api/shared_cores.h"
#include "base/error.h"
#include "engine/registry.h"
#include "plan/build.h"

namespace millrace::api {

std::unique_ptr<Loaded> load_runnable(const RunnableOptions& options) {
  const ModelOptions& model = options.model;
  if (is_plan_file(model.model)) {
    const bool same_input = model.shapes.empty() && model.size == 0 && model.weights.empty();
    if (!model.processors.empty() || !same_input || model.engine != ModelOptions{}.engine)
      throw InputError(model.model,
                       "the plan says which processors, engine, shapes and weights; leave out "
                       "--processors, --engine, --shape, --size and --weights, or make another "
                       "plan");
    return load_plan(model.model, options.network, {model.cache, options.time_scale});
  }
  if (options.time_scale != 1 && options.time_scale != 0)
    throw InputError("--time-scale", "is for plans of boards that are not here; leave it out");
  if (!options.network.empty())
    throw InputError("--model " + options.network,
                     model.model + " is no plan (.json), which alone takes another model");
  auto loaded = std::make_unique<Loaded>();
  loaded->network = load_network(options.model);
  loaded->board = load_board(options.model);
  if (model.processors.empty()) put_free_first(loaded->board);
  const std::string& engine = options.model.engine;
  loaded->engines[engine] = engine::make_engine(engine, engine_options(options.model.cache));
  loaded->plan = one_processor_plan(loaded->network, loaded->board.processors.front(), engine);
  note_shared_cores(loaded->plan);
  return loaded;
}

runtime::Session deploy(const Loaded& loaded, const plan::Plan& plan, const std::string& file,
                        const runtime::SessionOptions& options) {
  try {
    return runtime::deploy(plan, loaded.network, loaded.engine_pointers(), options);
  } catch (const InputError& error) {
    const std::string text = error.what(), place = "plan: ";
    if (!text.starts_with(place)) throw;
    throw InputError(file, text.substr(place.size()));
  }
}

plan::Plan one_processor_plan(const network::Network& network, const board::Processor& processor,
                              const std::string& engine) {
  board::Board board;
  board.processors = {processor};
  plan::Mapping mapping;
  mapping.processors.assign(network.layers.size(), ProcessorId(0));
  plan::BuildOptions options;
  options.engine = engine;
  return plan::build(network, board, mapping, options);
}

std::vector<board::Variant> variants_on(const board::Processor& processor, const Loaded& loaded,
                                        const engine::Engine& engine) {
  std::vector<board::Variant> result = plan::one_frame_variants(loaded.plan);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i].algorithm.empty()) continue;
    const auto offered = engine.variants(loaded.network, LayerId(i), processor);
    if (std::find(offered.begin(), offered.end(), result[i]) == offered.end())
      result[i].algorithm.clear();
  }
  return result;
}

}  // namespace millrace::api
