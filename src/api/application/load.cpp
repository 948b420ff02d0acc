#include "api/application/load.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "api/cache.h"
#include "api/progress.h"
#include "api/shared_cores.h"
#include "application/application_file.h"
#include "application/postprocess.h"
#include "application/preprocess.h"
#include "base/error.h"
#include "base/file.h"
#include "engine/registry.h"
#include "network/read.h"
#include "network/zoo_heads.h"
#include "plan/plan_file.h"
#include "schedule/read_plan.h"

namespace millrace::api {
namespace {

using application::Application;

ModelOptions model_options(const Application& application, ModelOptions options) {
  if (!options.weights.empty() || options.size > 0 || !options.shapes.empty())
    throw InputError(application.file,
                     "is an application, which says its network's weights, size and shapes; leave "
                     "out --weights, --size and --shape");
  options.model = application.model.file;
  options.weights = application.model.weights;
  options.size = application.model.size;
  options.shapes = application.model.shapes;
  return options;
}

/// Of a Darknet configuration or a network of the zoo; other files do not know them.
network::darknet::Heads known_heads(const application::Model& model) {
  if (network::format_of(model.file) != network::Format::darknet)
    return std::filesystem::exists(model.file) ? network::darknet::Heads{}
                                               : network::zoo_heads(model.file);
  network::ReadOptions options;
  if (model.size > 0) options.size = model.size;
  return network::darknet::read_heads(model.file, options);
}

void find_heads(Application& application) {
  const std::string& kind = application.postprocess.kind;
  auto& heads = application.postprocess.detection.heads;
  if ((kind != "yolo" && kind != "region") || !heads.empty()) return;
  const network::darknet::Heads known = known_heads(application.model);
  const bool is_darknet = network::format_of(application.model.file) == network::Format::darknet;
  if (known.heads.empty() && !is_darknet) return;
  heads = application::heads_of(known, kind, application.postprocess.place);
}

std::unique_ptr<Loaded> load_network_and_plan(const Application& application,
                                              const RunnableOptions& runnable,
                                              const std::string& plan) {
  const ModelOptions model = model_options(application, runnable.model);
  auto loaded = std::make_unique<Loaded>();
  loaded->network = load_network(model);
  if (!plan.empty()) {
    if (!model.processors.empty() || model.engine != ModelOptions{}.engine)
      throw InputError(plan,
                       "the plan says which processors and engine; leave out --processors and "
                       "--engine, or make another plan");
    loaded->plan = schedule::read_plan(plan, loaded->network);
    make_ready(*loaded, plan, {model.cache, runnable.time_scale});
    return loaded;
  }
  loaded->board = load_board(model);
  if (model.processors.empty()) put_free_first(loaded->board);
  loaded->engines[model.engine] = engine::make_engine(model.engine, engine_options(model.cache));
  loaded->plan =
      one_processor_plan(loaded->network, loaded->board.processors.front(), model.engine);
  note_shared_cores(loaded->plan);
  return loaded;
}

}  // namespace

void refuse_application_options(const ApplicationOptions& options, const std::string& model) {
  const char* given = !options.plan.empty()      ? "--plan"
                      : !options.plugins.empty() ? "--plugin"
                      : options.frames > 0       ? "--frames"
                                                 : nullptr;
  if (given != nullptr)
    throw InputError(given, fmt::format("is for applications (.yaml), and '{}' is none", model));
}

void use_network_of_application(ModelOptions& options, VariantOptions& variants) {
  if (!application::is_application_file(options.model)) return;
  const Application application = application::read_application(options.model);
  options = model_options(application, options);
  if (variants.precisions.empty()) variants.precisions = application.precisions;
}

std::unique_ptr<LoadedApplication> load_application(const RunnableOptions& runnable,
                                                    const ApplicationOptions& options) {
  auto result = std::make_unique<LoadedApplication>();
  Application& application = result->application;
  application = application::read_application(runnable.model.model);
  if (options.frames > 0) application.input.frames = options.frames;
  for (const std::string& path : application.plugins) result->plugins.load(path);
  for (const std::string& path : options.plugins) result->plugins.load(path);
  find_heads(application);
  result->loaded = load_network_and_plan(application, runnable, options.plan);
  const network::Network& network = result->loaded->network;
  const application::Registry& registry = result->plugins.registry();
  result->before = application::make_preprocessing(application, network, registry);
  result->after = application::make_postprocessing(application, network, registry);
  return result;
}

}  // namespace millrace::api
