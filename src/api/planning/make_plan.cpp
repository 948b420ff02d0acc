#include "api/planning/make_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <span>

#include "api/application/load.h"
#include "api/clocks.h"
#include "api/open_model.h"
#include "api/planning/by_hand.h"
#include "api/planning/fewer_engines.h"
#include "api/planning/notes.h"
#include "api/planning/objectives.h"
#include "api/planning/origin.h"
#include "api/planning/processing.h"
#include "api/profile.h"
#include "api/simulated_board.h"
#include "api/written_over.h"
#include "application/application_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/quantity.h"
#include "base/temporary.h"
#include "board/clusters.h"
#include "board/shipped.h"
#include "explore/why.h"
#include "plan/steps.h"
#include "profile/cost_model.h"
#include "profile/limits.h"
#include "profile/profile_file.h"
#include "profile/select.h"
#include "report/plain_loops.h"
#include "runtime/load.h"

namespace millrace::api {
namespace {

/// Everything that making a plan needs, kept together.
struct Work {
  network::Network network;
  board::Board board;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<ApplicationSamples> samples = {};  // if the loss is an application's
  profile::Profile measured = {};                    // with all precisions asked for
  profile::Profile profile = {};  // with each layer in the fastest, or in the precision chosen
  std::optional<network::Calibration> calibration = {};     // if int8 may be used
  std::optional<explore::PrecisionChoice> precisions = {};  // if there is a budget for the loss
  std::optional<profile::Loss> loss = {};                   // if there are frames and no budget
  std::map<std::string, engine::Engine*> engines = {};
  plan::ProcessingTimes processing = {};  // that the search counts with
};

PrecisionRequest precision_request(const PlanRequest& request, const Work& work) {
  return {&work.network,         work.engine.get(),
          &work.board,           precisions_of(request.variants),
          &request.loss,         request.setup.source.seed,
          request.setup.context, work.samples.get()};
}

/// With the engines of the profile that the request names, if it has one.
Setup setup_of(const PlanRequest& request) {
  Setup setup = request.setup;
  if (!request.profile.empty() && request.board.empty())
    setup.engine = engine_of(setup, profile::read_profile(request.profile));
  return setup;
}

Work begin(const PlanRequest& request) {
  const Setup setup = setup_of(request);
  Work work{open_model(setup.source, setup.context), load_board(setup, request.board),
            make_engine(setup)};
  for (const std::string& name : request.why) layer_named(work.network, name, "--why");
  return work;
}

/// For a board that need not be at hand.
Work prepare_for_board(const PlanRequest& request) {
  Work work = begin(request);
  const std::vector<board::Precision> precisions = precisions_of(request.variants);
  work.measured = profile::modelled(work.network, work.board, precisions);
  work.profile = profile::select(work.measured, precisions);
  return work;
}

ProfileSource profile_source(const PlanRequest& request) {
  ProfileSource source;
  source.path = request.profile;
  source.context = request.setup.context;
  source.measure.seed = request.setup.source.seed;
  source.measure.warmup = 1;  // brief: `millrace profile` is thorough
  source.measure.least = 3;
  source.measure.duration = std::chrono::milliseconds(150);
  source.measure.precisions = precisions_of(request.variants);
  source.measure.max_error = request.variants.max_error;
  source.batches = request.max_latency && request.max_batch > 1;
  return source;
}

Work prepare(const PlanRequest& request) {
  if (!request.board.empty()) return prepare_for_board(request);
  Work work = begin(request);
  work.engines[work.engine->name()] = work.engine.get();
  ProfileSource source = profile_source(request);
  check_loss(request.loss, source.measure.precisions);
  work.samples = samples_for(precision_request(request, work));
  const PrecisionRequest precision = precision_request(request, work);
  work.calibration = calibration_for(precision);
  if (work.calibration) source.measure.calibration = &*work.calibration;
  work.measured = load_profile(work.network, work.board, *work.engine, source);
  if (!request.limits.empty()) {
    work.board = board::with_limits(std::move(work.board), board::find_board(request.limits));
    work.measured = profile::within_limits(std::move(work.measured), work.network, work.board);
  }
  if (request.loss.max_loss.empty()) {
    work.profile = profile::select(work.measured, source.measure.precisions);
    work.loss = measured_loss(precision, work.profile, source.measure.calibration);
    return work;
  }
  work.precisions = choose_precisions(precision, work.measured, source.measure.calibration);
  work.profile = profile::select_by_layer(work.measured, work.precisions->precisions);
  return work;
}

std::string precisions_text(const PlanRequest& request) {
  std::vector<std::string> names;
  for (const board::Precision each : precisions_of(request.variants))
    names.push_back(board::to_text(each));
  return fmt::format("{}", fmt::join(names, "+"));
}

SearchOptions search_options(const PlanRequest& request) {
  SearchOptions search = request.search;
  search.seed = request.setup.source.seed;
  search.streams = request.streams;
  search.precision = precisions_text(request);
  if (request.measure_s > 0) search.measure_s = request.measure_s;
  return search;
}

/// `clocks_mhz`: by device, while the candidates were measured.
explore::Choice search(const PlanRequest& request, const Work& work,
                       std::map<std::string, double>& clocks_mhz) {
  const auto shown = request.setup.context.begin("searching");
  explore::ChooseOptions choose;
  choose.search = request.search.method;
  choose.genetic = request.genetic;
  choose.genetic.seed = request.setup.source.seed;
  choose.genetic.progress = [&](int epoch, double best) {
    shown->show(static_cast<double>(epoch) / request.genetic.epochs,
                fmt::format("best {}", to_text(Time(static_cast<std::int64_t>(best)))));
  };
  choose.build.engine = work.engine->name();
  if (work.calibration) choose.calibration = &*work.calibration;
  choose.max_latency = request.max_latency;
  choose.max_batch = request.max_batch;
  if (request.max_memory) choose.build.most_memory = *request.max_memory;
  choose.most_streams = request.streams;
  if (request.measure_s > 0 && request.board.empty())
    choose.measure = [&](std::span<const plan::Assessed> plans) {
      runtime::ClockWatch watch(work.board.devices);
      auto rates =
          runtime::measure(contenders_of(plans, work.network), work.network, work.engines,
                           {time_from_seconds(request.measure_s), request.setup.source.seed});
      clocks_mhz = highest_clocks(watch.stop());
      return rates;
    };
  if (request.by_hand.is_given())
    return choose_by_hand(
        {work.network, work.board, work.profile, work.engines, request.setup.context},
        request.by_hand, choose);
  if (!is_configuration_search(request.search)) {
    choose.fallback = request.search.fallback;
    return explore::choose(work.network, work.board, work.profile, choose);
  }
  choose.search = "auto";
  return search_configurations({work.network, work.board, work.profile, work.engines,
                                request.setup.context, work.processing},
                               search_options(request), choose);
}

plan::PlanFile finish(const PlanRequest& request, const Work& work, const explore::Choice& choice) {
  const plan::Plan& plan = choice.winner().plan;
  return {request.board.empty()
              ? with_fewer_engines(plan, work.network, *work.engine, request.setup.context)
              : simulated_where_not_here(plan, work.board),
          origin_of(request, work.board, work.profile, work.processing), choice.winner().evidence};
}

std::vector<LayerReasons> reasons_of(const PlanRequest& request, const Work& work,
                                     const explore::Choice& choice) {
  std::vector<LayerReasons> result;
  const explore::Problem problem = explore::make_problem(work.network, work.board, work.profile);
  plan::BuildOptions build{.engine = work.engine->name()};
  if (request.max_memory) build.most_memory = *request.max_memory;
  const explore::SearchContext search_context{work.network, work.board, problem, build};
  const plan::Mapping& mapping = choice.winner().search.mapping;
  const plan::Plan& plan = choice.winner().plan;
  for (const std::string& name : request.why) {
    const LayerId layer = layer_named(work.network, name, "--why");
    const ProcessorId processor = mapping.processors[layer.index];
    LayerReasons& why = result.emplace_back();
    why.layer = layer;
    why.processor = work.board[processor];
    if (const auto group = problem.fused_into[layer.index]) why.fused_with = LayerId(*group);
    why.variant = problem.variants[layer.index][processor.index];
    if (const auto replicas = plan.stages.front().replicas(); replicas > 1)
      why.reasons = {fmt::format("its stage has {} replicas, which share whole frames", replicas)};
    else
      why.reasons = explore::reasons(search_context, mapping, layer);
  }
  return result;
}

/// A pipeline brings throughput; cores that work on a layer together bring one frame out sooner.
bool may_join_cores(const PlanRequest& request, const board::Board& board) {
  return request.board.empty() && request.limits.empty() && request.profile.empty() &&
         !request.by_hand.is_given() && !is_configuration_search(request.search) &&
         board::joined_clusters(board).size() < board.processors.size();
}

PlanRequest with_cores_joined(PlanRequest request, const board::Board& board) {
  request.setup.processors.clear();
  for (const board::Processor& cluster : board::joined_clusters(board))
    request.setup.processors.push_back(fmt::format("core{}", fmt::join(cluster.cores, "+core")));
  return request;
}

/// Why no plan of the search will do. None if one will.
std::string refusal_of(const PlanRequest& request, const explore::Choice& choice, Time nearest) {
  if (choice.in_time) return {};
  return fmt::format(
      "no plan has a predicted latency within --max-latency {}; the nearest takes {}",
      duration_text(*request.max_latency), to_text(nearest));
}

/// The result without an answer.
PlanResult result_of(Work work, std::vector<PlanAttempt> attempts, const std::string& refusal) {
  PlanResult result;
  result.network = std::move(work.network);
  result.board = std::move(work.board);
  result.engine = work.engine->name();
  result.attempts = std::move(attempts);
  result.refusal = refusal;
  result.measured = std::move(work.measured);
  return result;
}

/// Each layer in its stage's precision, if the stages say theirs.
void select_by_stage(const PlanRequest& request, Work& work) {
  if (!request.by_hand.is_given()) return;
  const auto precisions = precisions_by_layer(request.by_hand, work.network);
  if (!precisions.empty()) work.profile = profile::select_by_layer(work.measured, precisions);
}

/// `attempts`: those before.
PlanResult plan_once_more(const PlanRequest& request, std::vector<PlanAttempt> attempts) {
  const Context& context = request.setup.context;
  Work work = prepare(request);
  select_by_stage(request, work);
  PlanAttempt& attempt = attempts.emplace_back(PlanAttempt{work.precisions, work.loss, {}});
  if (work.precisions && !work.precisions->within_budget) {
    const std::string refusal =
        missed_budget_text(precision_request(request, work), *work.precisions);
    return result_of(std::move(work), std::move(attempts), refusal);
  }
  work.processing = processing_for(request, work.network, *work.engine);
  std::map<std::string, double> clocks_mhz;
  const explore::Choice& choice = attempt.choice.emplace(search(request, work, clocks_mhz));
  Time nearest = Time::max();
  for (const PlanAttempt& each : attempts)
    nearest = std::min(nearest, each.choice->winner().latency);
  if (const std::string refusal = refusal_of(request, choice, nearest); !refusal.empty()) {
    if (may_join_cores(request, work.board)) {
      context.note(refusal + (board::joined_clusters(work.board).size() > 1
                                  ? "; now trying the cores of each device together on each layer"
                                  : "; now trying all cores together on each layer"));
      return plan_once_more(with_cores_joined(request, work.board), std::move(attempts));
    }
    const char* more = is_configuration_search(request.search)
                           ? "; --search auto also tries batches and joined cores"
                           : "";
    return result_of(std::move(work), std::move(attempts), refusal + "; allow that or more" + more);
  }
  for (const std::string& reason : choice.left_out) context.note("left out, " + reason);
  const auto problem = explore::make_problem(work.network, work.board, work.profile);
  for (const std::string& text :
       idle_accelerators(work.network, work.board, problem, choice.winner().plan))
    context.note(text);
  if (const std::string loops = report::plain_loops_text(work.profile); !loops.empty())
    context.note(loops);
  plan::PlanFile file = finish(request, work, choice);
  file.origin.clocks_mhz = std::move(clocks_mhz);
  std::vector<LayerReasons> why = reasons_of(request, work, choice);
  PlanResult result = result_of(std::move(work), std::move(attempts), {});
  result.file = std::move(file);
  result.why = std::move(why);
  return result;
}

/// Without stages by hand their number is what the search may use.
void take_streams(PlanRequest& request) {
  auto& streams = request.by_hand.streams;
  if (request.by_hand.is_given() || streams.empty()) return;
  if (streams.size() > 1)
    throw InputError("--streams", fmt::format("found {} numbers, but no --devices; give one, or "
                                              "the stages",
                                              streams.size()));
  request.streams = static_cast<int>(streams.front());
  streams.clear();
}

/// Where the options say nothing else.
void take_mapping(const application::Application& application, PlanRequest& request) {
  if (request.by_hand.is_given() || !application.mapping.is_given()) return;
  if (request.search.method != SearchOptions{}.method) return;  // another plan is asked for
  std::vector<std::int64_t> streams = std::move(request.by_hand.streams);
  request.by_hand = application.mapping;
  if (!streams.empty()) request.by_hand.streams = std::move(streams);
  for (const board::Precision each : application.mapping.precisions)
    if (std::find(request.variants.precisions.begin(), request.variants.precisions.end(), each) ==
        request.variants.precisions.end())
      request.variants.precisions.push_back(each);
  if (request.board.empty()) request.board = application.mapping.board;
}

void take_application(PlanRequest& request) {
  LossOptions& loss = request.loss;
  const std::string file = request.setup.source.file;
  if (application::is_application_file(file)) {
    loss.application.file = file;
    take_mapping(application::read_application(file), request);
  } else if (const char* given = !loss.application.labels_from.empty() ? "--labels-from"
                                 : !loss.application.plugins.empty()   ? "--plugin"
                                                                       : nullptr)
    throw InputError(given, "is only for applications (.yaml); leave it out");
  use_network_of_application(request.setup, request.variants);
  take_streams(request);
}

}  // namespace

PlanResult make_plan(const PlanRequest& given) {
  PlanRequest request = given;
  take_application(request);
  check_search_reads_options(request);
  PlanResult result = plan_once_more(request, {});
  if (!result.refusal.empty())
    request.setup.context.note(result.refusal);
  else if (const std::string text = other_speed_text(request, result); !text.empty())
    request.setup.context.note(text);
  return result;
}

void check_plan_output(const PlanRequest& given, const std::string& output,
                       const std::string& application) {
  PlanRequest request = given;
  take_application(request);
  if (!output.empty() && output != standard_output && !is_plan_file(output) && !is_special(output))
    throw InputError("--output " + output,
                     "expected a name that ends in .json, by which run and bench know a plan");
  FilesRead files;
  files.add(request.setup);
  files.add(request.loss.frames);
  files.add(request.loss.application);
  files.add("calibration table", request.loss.calibration);
  files.add("profile", request.profile);
  for (const std::string& board : {request.board, request.limits}) files.add("board file", board);
  for (const auto& journal : {request.search.resume, request.search.start})
    files.add("journal", journal.value_or(""));
  files.refuse_unwritable({output, application, request.search.log.value_or("")});
}

}  // namespace millrace::api
