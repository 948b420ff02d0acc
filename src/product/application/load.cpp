#include "product/application/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "application/accuracy/accuracy.h"
#include "application/accuracy/improbable.h"
#include "application/application_file.h"
#include "application/batching.h"
#include "application/heads/metadata.h"
#include "application/heads/training.h"
#include "application/postprocess.h"
#include "application/preprocess.h"
#include "base/error.h"
#include "base/file.h"
#include "board/board.h"
#include "engine/registry.h"
#include "formats/fixed_inputs.h"
#include "formats/read.h"
#include "formats/zoo_heads.h"
#include "plan/plan_file.h"
#include "application/loaded/crops_at_work.h"
#include "product/cache.h"
#include "product/memory/in_memory.h"
#include "product/open_model.h"
#include "product/planning/crops_plan.h"
#include "product/planning/make_plan.h"
#include "product/planning/plan_here.h"
#include "product/shared_cores.h"
#include "schedule/read_plan.h"

namespace millrace::product {
namespace {

using application::Application;

/// With the application's network.
Setup setup_of(const Application& application, Setup setup) {
  const formats::ModelSource& given = setup.source;
  if (!formats::is_read_as_it_is(given))
    throw InputError(application.file,
                     "is an application, which names the weights, size, shapes and fixed inputs "
                     "itself; leave out ⟨weights⟩, ⟨size⟩, ⟨shape⟩ and ⟨fix⟩");
  const std::uint64_t seed = given.seed;
  setup.source = application.model;
  setup.source.seed = seed;
  return setup;
}

void find_heads(Application& application) {
  const std::string& kind = application.postprocess.kind;
  auto& heads = application.postprocess.detection.heads;
  if ((kind != "yolo" && kind != "region") || !heads.empty()) return;
  const formats::darknet::Heads known = known_heads(application.model);
  const bool is_darknet = formats::format_of(application.model.file) == formats::Format::darknet;
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
                       "the plan says which processors and engine; leave out ⟨processors⟩ and "
                       "⟨engine⟩, or make another plan");
    const auto& memory = model.context.memory;
    const auto* held_here = memory != nullptr ? held(memory->plans, plan) : nullptr;
    take(*loaded, held_here != nullptr ? *held_here : schedule::read_plan(plan, loaded->network));
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
std::unique_ptr<Loaded> load_by_hand(LoadedApplication& into, const RunnableOptions& runnable) {
  const Application& application = into.application;
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
  if (planned.crops) into.plan_of_crops = std::move(planned.crops->file);
  make_ready(*loaded, application.file, {runnable.model.context, runnable.time_scale});
  return loaded;
}

/// What the file and the options say, before the network is known.
std::unique_ptr<LoadedApplication> read_application(const std::string& file,
                                                    const ApplicationOptions& options,
                                                    const Context& context) {
  auto result = std::make_unique<LoadedApplication>();
  Application& application = result->application;
  const auto* held_here =
      context.memory != nullptr ? held(context.memory->applications, file) : nullptr;
  application = held_here != nullptr ? *held_here : application::read_application(file);
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

/// Adds the steps of the application, or of its crops, whose plug-ins are the application's.
void add_processing(application::LoadedApplication& result, const ApplicationOptions& options,
                    const application::Registry& registry) {
  Application& application = result.application;
  result.batch = application::batch_of(application, result.loaded->network);
  if (result.batch > 1)
    result.of_one = std::make_unique<const network::Network>(
        application::for_one_picture(result.loaded->network, result.batch));
  const network::Network& network = result.network();
  application::take_labels(application, network);
  if (application::take_training(application, network))
    result.loaded->context.note("preprocess, as networks of this head are trained: " +
                                application::pixels_text(application.preprocess.image));
  result.before = application::make_preprocessing(application, network, registry);
  result.after = application::make_postprocessing(application, network, registry);
  if (options.labels_from.empty()) return;
  result.truth = application::read_truth(options.labels_from, application);
  result.after_for_truth = application::make_with_improbable(application, network, registry);
}

/// The processor that is named, else one that the plan of the other network does not use.
board::Processor processor_of_crops(const application::Crops& crops, const board::Board& board,
                                    const plan::Plan& other) {
  std::vector<std::string> names;
  for (const board::Processor& processor : board.processors) {
    names.push_back(processor.name);
    if (processor.name == crops.processor) return processor;
  }
  if (!crops.processor.empty())
    throw InputError(crops.processor_place,
                     fmt::format("there is no processor '{}' here; there are {}", crops.processor,
                                 fmt::join(names, ", ")));
  for (const board::Processor& processor : board.processors) {
    const bool is_used = std::ranges::any_of(other.stages, [&](const plan::Stage& stage) {
      return std::ranges::find(stage.processors, processor.name, &board::Processor::name) !=
             stage.processors.end();
    });
    if (!is_used) return processor;
  }
  return board.processors.back();
}

/// The plan made with the plan of the first network, unless the file says another processor.
std::optional<plan::PlanFile> plan_with_first(const LoadedApplication& first,
                                              const std::string& plan_of_first,
                                              const network::Network& network,
                                              const Context& context) {
  if (!first.application.crops->processor.empty()) return std::nullopt;
  const auto& memory = context.memory;
  const bool is_file = !plan_of_first.empty() &&
                       (memory == nullptr || held(memory->plans, plan_of_first) == nullptr);
  return is_file ? schedule::read_crops_plan(plan_of_first, network) : first.plan_of_crops;
}

std::unique_ptr<Loaded> load_network_of_crops(const LoadedApplication& first,
                                              const RunnableOptions& runnable,
                                              const std::string& plan_of_first) {
  const application::Crops& crops = *first.application.crops;
  auto loaded = std::make_unique<Loaded>();
  loaded->context = runnable.model.context;
  formats::ModelSource model = crops.model;
  model.seed = runnable.model.source.seed;
  loaded->network = application::with_batch_of(open_model(model, runnable.model.context),
                                               crops.batch, crops.batch_place);
  if (!crops.plan.empty()) {
    take(*loaded, schedule::read_plan(crops.plan, loaded->network));
    make_ready(*loaded, crops.plan, {runnable.model.context, runnable.time_scale});
    return loaded;
  }
  if (auto planned = plan_with_first(first, plan_of_first, loaded->network,
                                     runnable.model.context)) {
    take(*loaded, std::move(*planned));
    make_ready(*loaded, plan_of_first.empty() ? first.application.file : plan_of_first,
               {runnable.model.context, runnable.time_scale});
    return loaded;
  }
  if (first.loaded->simulated.engine != nullptr)
    throw InputError(crops.place, "the application's plan is for another board, and the network of "
                                  "the crops has none; add 'plan'");
  Setup setup = runnable.model;
  setup.processors.clear();
  loaded->board = load_board(setup);
  loaded->board.processors = {processor_of_crops(crops, loaded->board, first.loaded->plan)};
  const std::string engine = engine_of(setup);
  loaded->engines[engine] = engine::make_engine(engine, engine_options(loaded->context));
  loaded->plan = one_processor_plan(loaded->network, loaded->board.processors.front(), engine);
  loaded->evidence = plan::no_evidence(loaded->plan);
  note_shared_cores(loaded->plan, loaded->context);
  return loaded;
}

/// The application learns the labels and the batch of its crops.
std::unique_ptr<application::LoadedApplication> load_crops(LoadedApplication& first,
                                                           const RunnableOptions& runnable,
                                                           const std::string& plan_of_first) {
  application::Crops& crops = *first.application.crops;
  check_cores(crops.postprocess.workers);
  auto second = std::make_unique<application::LoadedApplication>();
  second->application = application::application_of_crops(first.application);
  second->loaded = load_network_of_crops(first, runnable, plan_of_first);
  add_processing(*second, {}, first.plugins.registry());
  crops.batch = second->batch;
  crops.labels = second->application.labels;
  return second;
}

}  // namespace

formats::darknet::Heads known_heads(const formats::ModelSource& model) {
  if (formats::format_of(model.file) != formats::Format::darknet)
    return std::filesystem::exists(model.file) ? formats::darknet::Heads{}
                                               : formats::zoo_heads(model.file);
  return formats::darknet::read_heads(model);
}

void refuse_application_options(const ApplicationOptions& options, const std::string& model) {
  const char* given = !options.plan.empty()          ? "⟨plan⟩"
                      : !options.plugins.empty()     ? "⟨plugin⟩"
                      : options.frames > 0           ? "⟨frames⟩"
                      : !options.labels_from.empty() ? "⟨labels_from⟩"
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
  auto result = read_application(runnable.model.source.file, options, runnable.model.context);
  check_cores(result->application.preprocess.workers);
  check_cores(result->application.postprocess.workers);
  const std::string plan = options.plan.empty() ? result->application.mapping.plan : options.plan;
  result->loaded = plan.empty() && result->application.mapping.is_given()
                       ? load_by_hand(*result, runnable)
                       : load_network_and_plan(result->application, runnable, plan);
  if (plan.empty() && !result->application.mapping.is_given())
    result->unplanned = setup_of(result->application, runnable.model);
  add_processing(*result, options, result->plugins.registry());
  if (result->application.crops) result->of_crops = load_crops(*result, runnable, plan);
  return result;
}

void plan_here(LoadedApplication& application) {
  if (!application.unplanned) return;
  const Setup setup = *std::exchange(application.unplanned, std::nullopt);
  const auto crops = crops_to_plan(application.application);
  if (crops)
    plan_here(*application.loaded, setup, {*crops, *application.of_crops->loaded});
  else
    plan_here(*application.loaded, setup);
}

std::unique_ptr<application::LoadedApplication> load_processing(const std::string& file,
                                                   const ApplicationOptions& options,
                                                   const network::Network& network) {
  auto result = read_application(file, options, {});
  result->loaded = std::make_unique<Loaded>();
  result->loaded->network = network;
  add_processing(*result, options, result->plugins.registry());
  return result;
}

}  // namespace millrace::product
