// millrace plan MODEL|APPLICATION
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/application/load.h"
#include "api/model.h"
#include "api/planning/objectives.h"
#include "api/planning/precision.h"
#include "api/planning/search.h"
#include "api/progress.h"
#include "api/simulated_board.h"
#include "api/written_over.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/file.h"
#include "board/shipped.h"
#include "cli/options/between.h"
#include "cli/options/duration.h"
#include "cli/options/frames.h"
#include "cli/options/model.h"
#include "cli/options/search.h"
#include "cli/print/candidates.h"
#include "cli/print/plan_report.h"
#include "cli/print/precision.h"
#include "cli/verbs/verbs.h"
#include "engine/registry.h"
#include "explore/choose.h"
#include "explore/why.h"
#include "plan/plan_file.h"
#include "plan/steps.h"
#include "profile/cost_model.h"
#include "profile/limits.h"
#include "profile/profile_file.h"
#include "profile/select.h"
#include "report/stages.h"
#include "report/variants.h"
#include "runtime/load.h"

namespace millrace::cli {

using namespace api;

namespace {

struct PlanOptions {
  ModelOptions model;
  VariantOptions variants;
  LossOptions loss;
  std::string board;   // another one than this machine
  std::string limits;  // a board whose limits hold here
  int streams = 1;
  std::string output, profile, fitness = "bottleneck";
  SearchOptions search;
  std::vector<std::string> why;
  explore::GeneticOptions genetic;
  double measure_s = 0.5;
  std::string max_latency;  // "100ms"; empty: none
  std::int64_t max_batch = 16;
  bool json = false;
};

void bind(CLI::App& verb, PlanOptions& options) {
  bind_model(verb, options.model);
  bind_processors(verb, options.model);
  bind_variants(verb, options.variants);
  bind_loss(verb, options.loss);
  bind_search(verb, {options.search, options.fitness, options.genetic});
  bind_configuration_search(verb, options.search);
  verb.add_option("-o,--output", options.output, "The plan file; NAME.plan.json if left out");
  CLI::Option* profile =
      verb.add_option("--profile", options.profile, "Use this profile instead of the stored one");
  verb.add_option("--why", options.why, "Say why this layer is where it is (repeatable)");
  CLI::Option* measure = verb.add_option("--measure", options.measure_s,
                                         "Seconds to run each candidate; 0: trust the predictions")
                             ->check(between(0.0, 3600.0))
                             ->capture_default_str();
  verb.add_option(
          "--board", options.board,
          "Plan for this board, a shipped one or a board file, with modelled times; nothing "
          "is measured")
      ->excludes(profile)
      ->excludes(measure)
      ->excludes(verb.get_option("--max-loss"))
      ->excludes(verb.get_option("--max-error"));
  verb.add_option(
          "--limits", options.limits,
          "A board file whose limits (operators, precisions, granularity, subnets) hold for "
          "this machine's processors of the same names, with measured times")
      ->excludes(verb.get_option("--board"));
  verb.add_option("--streams", options.streams,
                  "With --board: frames that a device may have in its kernels at once, up to the "
                  "board's limit; launches then go on beside kernels")
      ->check(CLI::Range(1, 64))
      ->needs(verb.get_option("--board"))
      ->capture_default_str();
  CLI::Option* latency = verb.add_option(
      "--max-latency", options.max_latency,
      "Largest predicted time from a frame's submission to its result, such as 100ms; within it "
      "the last layers may gather frames and work on several at once");
  latency->check(not_empty);
  verb.add_option("--max-batch", options.max_batch, "Frames that they may gather")
      ->check(CLI::Range(1, 16))
      ->needs(latency)
      ->capture_default_str();
  verb.add_flag("--json", options.json, "For programs");
}

/// Everything that making a plan needs, kept together.
struct Work {
  network::Network network;
  board::Board board;
  std::unique_ptr<engine::Engine> engine;
  profile::Profile measured = {};  // with all precisions asked for
  profile::Profile profile = {};   // with each layer in the fastest, or in the precision chosen
  std::optional<network::Calibration> calibration = {};     // if int8 may be used
  std::optional<explore::PrecisionChoice> precisions = {};  // if there is a budget for the loss
  std::map<std::string, engine::Engine*> engines = {};
};

PrecisionRequest request_of(const PlanOptions& options, const Work& work) {
  return {&work.network, work.engine.get(), &work.board, precisions_of(options.variants),
          &options.loss, options.model.seed};
}

/// Said before the work.
void check_why(const PlanOptions& options, const Work& work) {
  for (const std::string& name : options.why) layer_named(work.network, name, "--why");
}

/// For a board that need not be at hand.
Work prepare_for_board(const PlanOptions& options) {
  Work work{load_network(options.model), load_board(options.model, options.board),
            engine::make_engine(options.model.engine)};
  check_why(options, work);
  const std::vector<board::Precision> precisions = precisions_of(options.variants);
  work.measured = profile::modelled(work.network, work.board, precisions, options.streams);
  work.profile = profile::select(work.measured, precisions);
  return work;
}

Work prepare(const PlanOptions& options) {
  if (!options.board.empty()) return prepare_for_board(options);
  Work work{load_network(options.model), load_board(options.model),
            engine::make_engine(options.model.engine)};
  work.engines[work.engine->name()] = work.engine.get();
  ProfileSource source;
  check_why(options, work);
  source.path = options.profile;
  source.cache = options.model.cache;
  source.measure.seed = options.model.seed;
  source.measure.warmup = 1;  // brief: `millrace profile` is thorough
  source.measure.least = 3;
  source.measure.duration = std::chrono::milliseconds(150);
  source.measure.precisions = precisions_of(options.variants);
  source.measure.max_error = options.variants.max_error;
  if (!options.max_latency.empty()) read_duration(options.max_latency, "--max-latency");
  source.batches = !options.max_latency.empty() && options.max_batch > 1;
  check_loss(options.loss, source.measure.precisions);
  const PrecisionRequest request = request_of(options, work);
  work.calibration = calibration_for(request);
  if (work.calibration) source.measure.calibration = &*work.calibration;
  work.measured = load_profile(work.network, work.board, *work.engine, source);
  if (!options.limits.empty()) {
    work.board = board::with_limits(std::move(work.board), board::find_board(options.limits));
    work.measured = profile::within_limits(std::move(work.measured), work.network, work.board);
  }
  if (options.loss.max_loss.empty()) {
    work.profile = profile::select(work.measured, source.measure.precisions);
    return work;
  }
  work.precisions = choose_precisions(request, work.measured, source.measure.calibration);
  work.profile = profile::select_by_layer(work.measured, work.precisions->precisions);
  return work;
}

SearchOptions search_options(const PlanOptions& options) {
  SearchOptions search = options.search;
  search.seed = options.model.seed;
  search.precision = precision_names(options.variants, "+");
  if (options.measure_s > 0) search.measure_s = options.measure_s;
  return search;
}

explore::Choice search(const PlanOptions& options, const Work& work) {
  Progress progress("searching");
  explore::ChooseOptions choose;
  choose.search = options.search.method;
  choose.genetic = options.genetic;
  choose.genetic.seed = options.model.seed;
  choose.genetic.fitness =
      options.fitness == "balance" ? explore::Fitness::balance : explore::Fitness::bottleneck;
  choose.genetic.progress = [&](int epoch, double best) {
    progress.show(static_cast<double>(epoch) / options.genetic.epochs,
                  fmt::format("best {}", millrace::to_text(Time(static_cast<std::int64_t>(best)))));
  };
  choose.build.engine = work.engine->name();
  if (work.calibration) choose.calibration = &*work.calibration;
  if (!options.max_latency.empty())
    choose.max_latency = read_duration(options.max_latency, "--max-latency");
  choose.max_batch = options.max_batch;
  if (options.measure_s > 0 && options.board.empty())
    choose.measure = [&](std::span<const plan::Plan> plans) {
      return runtime::measure(contenders_of(plans, work.network), work.network, work.engines,
                              {time_from_seconds(options.measure_s), options.model.seed});
    };
  if (!is_configuration_search(options.search)) {
    choose.fallback = options.search.fallback;
    return explore::choose(work.network, work.board, work.profile, choose);
  }
  choose.search = "auto";
  return search_configurations({work.network, work.board, work.profile, work.engines},
                               search_options(options), choose);
}

plan::Origin origin_of(const PlanOptions& options, const Work& work) {
  plan::Origin origin;
  origin.network = work.profile.network;
  origin.board = work.profile.board;
  origin.model = options.model.model;
  std::error_code ignored;
  if (std::filesystem::exists(options.model.model, ignored))
    origin.model = std::filesystem::absolute(options.model.model).lexically_normal().string();
  origin.version = MILLRACE_VERSION;
  if (!options.board.empty()) origin.options["board"] = work.board.name;
  if (!options.board.empty() && std::filesystem::exists(options.board, ignored))
    origin.options["board_file"] = std::filesystem::absolute(options.board).lexically_normal();
  if (!options.limits.empty()) origin.options["limits"] = options.limits;
  if (options.streams > 1) origin.options["streams"] = std::to_string(options.streams);
  origin.options["seed"] = std::to_string(options.model.seed);
  origin.options["search"] = options.search.method;
  origin.options["fitness"] = options.fitness;
  if (!options.search.fallback) origin.options["fallback"] = "no";
  origin.options["precision"] = precision_names(options.variants, ",");
  if (options.variants.max_error)
    origin.options["max_error"] = fmt::format("{:g}", *options.variants.max_error);
  if (!options.max_latency.empty()) {
    origin.options["max_latency"] = options.max_latency;
    origin.options["max_batch"] = std::to_string(options.max_batch);
  }
  if (!options.loss.max_loss.empty()) origin.options["max_loss"] = options.loss.max_loss;
  if (!options.model.weights.empty())
    origin.options["weights"] =
        std::filesystem::absolute(options.model.weights).lexically_normal().string();
  if (options.model.size > 0) origin.options["size"] = std::to_string(options.model.size);
  if (!options.model.shapes.empty())
    origin.options["shape"] = fmt::format("{}", fmt::join(options.model.shapes, " "));
  return origin;
}

/// The winner with its origin.
plan::Plan finish(const PlanOptions& options, const Work& work, const explore::Choice& choice) {
  plan::Plan plan = choice.winner().plan;
  plan.origin = origin_of(options, work);
  if (!options.board.empty()) simulate_what_is_not_here(plan, work.board);
  return plan;
}

void print_reasons(const PlanOptions& options, const Work& work, const explore::Choice& choice) {
  const explore::Problem problem = explore::make_problem(work.network, work.board, work.profile);
  const plan::BuildOptions build{.engine = work.engine->name()};
  const explore::Ground ground{work.network, work.board, problem, build};
  const plan::Mapping& mapping = choice.winner().search.mapping;
  for (const std::string& name : options.why) {
    const LayerId layer = layer_named(work.network, name, "--why");
    fmt::print("\n{} runs on {}", printable(name),
               work.board[mapping.processors[layer.index]].name);
    const auto group = problem.fused_into[layer.index];
    const auto with = [&] { return printable(work.network.layers[*group].name); };
    fmt::print("{}\n", group ? " in one kernel with " + with() : "");
    const std::int64_t turns = plan::turns_of(choice.winner().plan);
    if (choice.winner().plan.stages.front().turn.of > 1)
      fmt::print("  {} processors take turns with whole frames of its stage\n", turns);
    else
      for (const std::string& reason : explore::reasons(ground, mapping, layer))
        fmt::print("  {}\n", printable(reason));
    const ProcessorId processor = mapping.processors[layer.index];
    const board::Variant variant = problem.variants[layer.index][processor.index];
    fmt::print("{}", batch_text(choice.winner().plan, layer));
    fmt::print("{}",
               report::alternatives_text(work.measured, work.board[processor], layer, variant));
  }
}

/// Where the plan goes; checked before the work whose result would be lost.
std::string output_of(const PlanOptions& options) {
  const std::string& output = options.output;
  std::error_code ignored;
  if (!is_plan_file(output) && !std::filesystem::is_character_file(output, ignored) &&
      !std::filesystem::is_fifo(output, ignored))
    throw InputError("--output " + output,
                     "expected a name that ends in .json, by which run and bench know a plan");
  FilesRead files;
  files.add(options.model);
  files.add(options.loss.frames);
  files.add("calibration table", options.loss.calibration);
  files.add("profile", options.profile);
  for (const std::string& board : {options.board, options.limits}) files.add("board file", board);
  files.refuse(output);
  check_writable(output);
  return output;
}

/// With an application's network in its place.
PlanOptions resolved(PlanOptions options) {
  if (options.output.empty())
    options.output = std::filesystem::path(options.model.model).stem().string() + ".plan.json";
  use_network_of_application(options.model, options.variants);
  return options;
}

/// A pipeline brings throughput; cores that work on a layer together bring one frame out sooner.
bool may_join_cores(const PlanOptions& options, const board::Board& board) {
  return options.board.empty() && options.limits.empty() && options.profile.empty() &&
         board.processors.size() > 1 && !is_configuration_search(options.search);
}

PlanOptions with_cores_joined(PlanOptions options, const board::Board& board) {
  options.model.processors = {
      fmt::format("core{}", fmt::join(board::all_cores(board).cores, "+core"))};
  return options;
}

/// `nearest`: the shortest latency of what was tried before.
int run(const PlanOptions& given, Time nearest = Time::max()) {
  const PlanOptions options = resolved(given);
  const std::string output = output_of(options);
  const Work work = prepare(options);
  if (work.precisions && !options.json)
    fmt::print("{}\n", precisions_text(work.network, *work.precisions));
  if (work.precisions && !work.precisions->within_budget) {
    note(missed_budget_text(request_of(options, work), *work.precisions));
    return answer_is_no;
  }
  const explore::Choice choice = search(options, work);
  if (!choice.in_time) {
    if (!options.json) fmt::print("{}\n", candidates_text(choice));
    nearest = std::min(nearest, choice.winner().latency);
    const std::string text = too_slow_text(nearest, options.max_latency);
    if (may_join_cores(options, work.board)) {
      note(text + "; trying all cores on each layer together");
      return run(with_cores_joined(options, work.board), nearest);
    }
    note(text + ", so allow that or more" +
         (is_configuration_search(options.search)
              ? "; --search auto also tries frames gathered and cores joined"
              : ""));
    return answer_is_no;
  }
  for (const std::string& reason : choice.left_out) note("left out, " + reason);
  const plan::Plan plan = finish(options, work, choice);
  plan::write_plan(output, plan, work.network);
  if (const std::string text = other_speed_text(plan, options.model.model); !text.empty())
    note(text);
  if (options.json) {
    fmt::print("{}\n", choice_json(choice, work.network, output));
    return 0;
  }
  fmt::print("{}: {} layers on {} {}\n\n{}\nchosen: {}\n\n{}\n{}\n{}", printable(work.network.name),
             work.network.layers.size(), processors_text(work.board.processors.size()),
             options.board.empty() ? "with " + work.engine->name()
                                   : "of " + work.board.name + ", with modelled times",
             candidates_text(choice), choice.winner().name, report::groups_text(plan, work.network),
             report::stages_text(plan, work.network), proof_text(work.network, choice.winner()));
  print_reasons(options, work, choice);
  fmt::print("\nwritten: {}\n", output);
  return 0;
}

}  // namespace

void add_plan(CLI::App& app, int& exit_code) {
  add_verb<PlanOptions>(app, exit_code,
                        {{"plan", "Search for the best way to spread a network over the processors",
                          "millrace plan resnet18.onnx -o resnet18.plan.json"},
                         bind,
                         [](const PlanOptions& options) { return run(options); }});
}

}  // namespace millrace::cli
