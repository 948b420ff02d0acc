#include "api/application/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "api/cache.h"
#include "api/open_model.h"
#include "api/planning/make_plan.h"
#include "api/shared_cores.h"
#include "application/accuracy/accuracy.h"
#include "application/accuracy/improbable.h"
#include "application/application_file.h"
#include "application/batching.h"
#include "application/heads/metadata.h"
#include "application/postprocess.h"
#include "application/preprocess.h"
#include "base/error.h"
#include "base/file.h"
#include "board/board.h"
#include "engine/registry.h"
#include "network/fixed_inputs.h"
#include "network/read.h"
#include "network/zoo_heads.h"
#include "plan/plan_file.h"
#include "schedule/read_plan.h"

namespace millrace::api {
namespace {

using application::Application;

/// With the application's network.
Setup setup_of(const Application& application, Setup setup) {
  const network::ModelSource& given = setup.source;
  if (!network::is_read_as_it_is(given))
    throw InputError(application.file,
                     "is an application, which names the weights, size, shapes and fixed inputs "
                     "itself; leave out --weights, --size, --shape and --fix");
  const std::uint64_t seed = given.seed;
  setup.source = application.model;
  setup.source.seed = seed;
  return setup;
}

/// Of a Darknet configuration or a network of the zoo; other files do not know them.
network::darknet::Heads known_heads(const network::ModelSource& model) {
  if (network::format_of(model.file) != network::Format::darknet)
    return std::filesystem::exists(model.file) ? network::darknet::Heads{}
                                               : network::zoo_heads(model.file);
  return network::darknet::read_heads(model);
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
  const Setup model = setup_of(application, runnable.model);
  auto loaded = std::make_unique<Loaded>();
  loaded->context = model.context;
  loaded->network = open_model(model.source, model.context);
  if (!plan.empty()) {
    if (!model.processors.empty() || !model.engine.empty())
      throw InputError(plan,
                       "the plan says which processors and engine; leave out --processors and "
                       "--engine, or make another plan");
    take(*loaded, schedule::read_plan(plan, loaded->network));
    make_ready(*loaded, plan, {model.context, runnable.time_scale});
    return loaded;
  }
  loaded->board = load_board(model);
  if (model.processors.empty()) put_free_first(loaded->board);
  const std::string engine = engine_of(model);
  loaded->engines[engine] = engine::make_engine(engine, engine_options(model.context));
  loaded->plan = one_processor_plan(loaded->network, loaded->board.processors.front(), engine);
  loaded->evidence = plan::no_evidence(loaded->plan);
  note_shared_cores(loaded->plan, model.context);
  return loaded;
}

/// With the stages that the file says; times are those of the profile, or modelled for a board.
std::unique_ptr<Loaded> load_by_hand(const Application& application,
                                     const RunnableOptions& runnable) {
  PlanRequest request;
  request.setup = runnable.model;
  request.setup.source.file = application.file;
  request.measure_s = 0;
  PlanResult planned = make_plan(request);
  if (!planned.refusal.empty()) throw InputError(application.mapping.place, planned.refusal);
  auto loaded = std::make_unique<Loaded>();
  loaded->context = runnable.model.context;
  loaded->network = std::move(planned.network);
  take(*loaded, std::move(planned.file));
  make_ready(*loaded, application.file, {runnable.model.context, runnable.time_scale});
  return loaded;
}

/// What the file and the options say, before the network is known.
std::unique_ptr<LoadedApplication> read_application(const std::string& file,
                                                    const ApplicationOptions& options) {
  auto result = std::make_unique<LoadedApplication>();
  Application& application = result->application;
  application = application::read_application(file);
  if (options.frames > 0) application.input.frames = options.frames;
  for (application::Input& input : application.beside)
    if (options.frames > 0) input.frames = options.frames;
  for (const std::string& path : application.plugins) result->plugins.load(path);
  for (const std::string& path : options.plugins) result->plugins.load(path);
  find_heads(application);
  return result;
}

/// InputError if threads should run on cores that this machine has not, or that this process may
/// not use.
void check_cores(const application::Workers& workers) {
  const std::vector<int> usable = board::cores_of_this_thread();
  for (const int core : workers.cores)
    if (std::find(usable.begin(), usable.end(), core) == usable.end())
      throw InputError(
          workers.place,
          fmt::format("there is no core {} that this process may use; there {} {}", core,
                      usable.size() == 1 ? "is" : "are", fmt::join(usable, ", ")));
}

void add_processing(LoadedApplication& result, const ApplicationOptions& options) {
  Application& application = result.application;
  result.batch = application::batch_of(application, result.loaded->network);
  if (result.batch > 1)
    result.of_one = std::make_unique<const network::Network>(
        application::for_one_picture(result.loaded->network, result.batch));
  const network::Network& network = result.network();
  application::take_labels(application, network);
  const application::Registry& registry = result.plugins.registry();
  result.before = application::make_preprocessing(application, network, registry);
  result.after = application::make_postprocessing(application, network, registry);
  if (options.labels_from.empty()) return;
  result.truth = application::read_truth(options.labels_from, application);
  result.after_for_truth = application::make_with_improbable(application, network, registry);
}

}  // namespace

void refuse_application_options(const ApplicationOptions& options, const std::string& model) {
  const char* given = !options.plan.empty()          ? "--plan"
                      : !options.plugins.empty()     ? "--plugin"
                      : options.frames > 0           ? "--frames"
                      : !options.labels_from.empty() ? "--labels-from"
                                                     : nullptr;
  if (given != nullptr)
    throw InputError(given, fmt::format("is only for applications (.yaml), but '{}' is not one; "
                                        "leave it out", model));
}

void use_network_of_application(Setup& setup, VariantOptions& variants) {
  if (!application::is_application_file(setup.source.file)) return;
  const Application application = application::read_application(setup.source.file);
  setup = setup_of(application, setup);
  if (variants.precisions.empty()) variants.precisions = application.precisions;
}

std::unique_ptr<LoadedApplication> load_application(const RunnableOptions& runnable,
                                                    const ApplicationOptions& options) {
  auto result = read_application(runnable.model.source.file, options);
  check_cores(result->application.preprocess.workers);
  check_cores(result->application.postprocess.workers);
  const std::string plan = options.plan.empty() ? result->application.mapping.plan : options.plan;
  result->loaded = plan.empty() && result->application.mapping.is_given()
                       ? load_by_hand(result->application, runnable)
                       : load_network_and_plan(result->application, runnable, plan);
  add_processing(*result, options);
  return result;
}

std::unique_ptr<LoadedApplication> load_processing(const std::string& file,
                                                   const ApplicationOptions& options,
                                                   const network::Network& network) {
  auto result = read_application(file, options);
  result->loaded = std::make_unique<Loaded>();
  result->loaded->network = network;
  add_processing(*result, options);
  return result;
}

}  // namespace millrace::api
