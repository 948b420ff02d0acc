#include "product/planning/make_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <span>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/quantity.h"
#include "base/temporary.h"
#include "board/clusters.h"
#include "board/shipped.h"
#include "explore/mapping/memory.h"
#include "plan/variants.h"
#include "product/application/load.h"
#include "product/cache.h"
#include "product/memory/in_memory.h"
#include "product/open_model.h"
#include "product/planning/by_hand.h"
#include "product/planning/crops_plan.h"
#include "product/planning/fewer_engines.h"
#include "product/planning/notes.h"
#include "product/planning/objectives.h"
#include "product/planning/origin.h"
#include "product/planning/processing.h"
#include "product/planning/reasons.h"
#include "product/planning/search_options.h"
#include "product/planning/take_application.h"
#include "product/profile.h"
#include "product/written_over.h"
#include "profile/cost_model.h"
#include "profile/limits.h"
#include "profile/profile_file.h"
#include "profile/select.h"
#include "profile/views/plain_loops.h"
#include "runtime/load.h"
#include "runtime/loaded/board_plugins.h"
#include "runtime/loaded/clocks.h"
#include "runtime/loaded/cluster.h"

namespace millrace::product {
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
  runtime::Plugins plugins = {};          // that compile for another board
  plan::ProcessingTimes processing = {};  // that the search counts with
  network::Division divided = {};         // for want of memory
  std::unique_ptr<Work> crops = {};       // of their network, on the same board
};

PrecisionRequest precision_request(const PlanRequest& request, const Work& work) {
  return {&work.network,         work.engine.get(),
          &work.board,           precisions_of(request.variants),
          &request.loss,         request.setup.source.seed,
          request.setup.context, work.samples.get(),
          request.board.empty()};
}

/// The profile that the program holds; null: it is in a file, or none is given.
const profile::Profile* given_profile(const PlanRequest& request) {
  const auto& memory = request.setup.context.memory;
  return memory != nullptr ? held(memory->profiles, request.profile) : nullptr;
}

/// With the engines of the profile that the request names, if it has one.
Setup setup_of(const PlanRequest& request) {
  Setup setup = request.setup;
  if (!request.profile.empty() && request.board.empty())
    setup.engine = engine_of(setup, given_profile(request) != nullptr
                                        ? *given_profile(request)
                                        : profile::read_profile(request.profile));
  return setup;
}

Work begin(const PlanRequest& request, network::Network network) {
  const Setup setup = setup_of(request);
  Work work{std::move(network), load_board(setup, request.board), make_engine(setup)};
  work.divided = explore::fit_to_memories(work.network, work.board, setup.context);
  for (const std::string& name : request.why) layer_named(work.network, name, "⟨why⟩");
  return work;
}

/// For a board that need not be at hand.
Work prepare_for_board(const PlanRequest& request, network::Network network) {
  Work work = begin(request, std::move(network));
  const std::vector<board::Precision> precisions = precisions_of(request.variants);
  work.plugins =
      runtime::plugins_among(work.engine->name(), measuring_options(request.setup.context));
  work.measured = runtime::within_plugins(profile::modelled(work.network, work.board, precisions),
                                          work.network, work.plugins);
  work.profile = profile::select(work.measured, precisions);
  if (request.loss.names_ranges())
    work.calibration = calibration_for(precision_request(request, work));
  return work;
}

ProfileSource profile_source(const PlanRequest& request) {
  ProfileSource source;
  source.path = request.profile;
  source.given = given_profile(request);
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

Work prepare(const PlanRequest& request, network::Network network) {
  if (!request.board.empty()) return prepare_for_board(request, std::move(network));
  Work work = begin(request, std::move(network));
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

explore::ChooseOptions choose_options(const PlanRequest& request, const Work& work,
                                      product::Work& shown) {
  explore::ChooseOptions choose = choose_options(request);
  choose.genetic.ranks = work.crops ? nullptr : request.setup.context.ranks;
  choose.genetic.progress = [&request, &shown](int epoch, double best) {
    shown.show(static_cast<double>(epoch) / request.genetic.epochs,
               request.genetic.aim.fitness == explore::Fitness::board_energy
                   ? fmt::format("best {} mJ", four_digits(best * 1e-9))
                   : fmt::format("best {}", to_text(Time(static_cast<std::int64_t>(best)))));
  };
  choose.build.engine = work.engine->name();
  choose.build.transfers = work.plugins.empty();  // of a device not here: the plug-in's own copies
  if (work.calibration) choose.calibration = &*work.calibration;
  return choose;
}

/// Work that is measured: interrupts end it, and the clocks of that time are kept, by device.
template <class Measure>
auto watched(const PlanRequest& request, const board::Board& board,
             std::map<std::string, double>& clocks_mhz, const Measure& measure) {
  const InterruptGuard interrupt(request.setup.context.interrupt);
  runtime::ClockWatch watch(board.devices);
  runtime::LoadOptions load{time_from_seconds(request.measure_s), request.setup.source.seed};
  load.between = [&] { interrupt.check(); };
  auto results = measure(load);
  clocks_mhz = highest_clocks(watch.stop());
  return results;
}

/// `clocks_mhz`: by device, while the candidates were measured.
explore::Choice search(const PlanRequest& request, const Work& work, explore::ChooseOptions choose,
                       std::map<std::string, double>& clocks_mhz) {
  if (request.measure_s > 0 && request.board.empty())
    choose.measure = [&](std::span<const plan::Assessed> plans) {
      return watched(request, work.board, clocks_mhz, [&](const runtime::LoadOptions& load) {
        return runtime::measure(contenders_of(plans, work.network), work.network, work.engines,
                                load);
      });
    };
  if (request.by_hand.is_given())
    return choose_by_hand({work.network, work.board, work.profile}, request.by_hand, choose);
  if (!explore::is_configuration_search(request.search))
    return explore::choose(work.network, work.board, work.profile, choose);
  choose.search = "auto";
  return explore::search_configurations(
      {work.network, work.board, work.profile, request.setup.context,
       objectives_by({work.engines, choose.calibration,
                      request.measure_s > 0 ? request.measure_s : PlanRequest{}.measure_s,
                      request.setup.source.seed}),
       work.processing},
      search_options(request), choose);
}

/// The network of the crops, as often as it runs.
explore::Companion companion_of(const PlanRequest& request, const Work& work,
                                std::map<std::string, double>& clocks_mhz) {
  const Work& crops = *work.crops;
  const std::int64_t runs = runs_of(*request.crops);
  explore::Companion companion{crops.network, crops.profile, runs};
  if (request.measure_s > 0 && request.board.empty())
    companion.measure = [&request, &work, &crops, &clocks_mhz,
                         runs](std::span<const explore::Pair> pairs) {
      std::vector<runtime::PairContender> contenders;
      for (const explore::Pair& pair : pairs) contenders.push_back({pair.first, pair.second});
      return watched(request, work.board, clocks_mhz, [&](const runtime::LoadOptions& load) {
        return runtime::measure_pairs(contenders, {work.network, crops.network, runs}, work.engines,
                                      load);
      });
    };
  return companion;
}

/// Decides the plan of the network, and with crops the plans of both networks.
void decide(const PlanRequest& request, const Work& work, PlanAttempt& attempt,
            std::map<std::string, double>& clocks_mhz) {
  const auto shown = request.setup.context.begin("searching");
  const explore::ChooseOptions choose = choose_options(request, work, *shown);
  if (!work.crops) {
    attempt.choice = search(request, work, choose, clocks_mhz);
    return;
  }
  const explore::Companion companion = companion_of(request, work, clocks_mhz);
  if (!are_planned_together(request)) {
    attempt.choice = search(request, work, choose, clocks_mhz);
    attempt.shared =
        explore::choose_beside(attempt.choice->winner(), work.board, companion, choose);
    return;
  }
  attempt.shared =
      explore::choose_together({work.network, work.profile}, companion, work.board, choose);
  attempt.choice = explore::choice_of_first(*attempt.shared);
}

plan::PlanFile finish(const PlanRequest& request, const Work& work,
                      const explore::Candidate& winner) {
  const plan::Plan& plan = winner.plan;
  plan::PlanFile file{
      request.board.empty()
          ? with_fewer_engines(plan, work.network, *work.engine, request.setup.context)
          : runtime::with_plugins(plan::simulated_where_not_here(plan, work.board), work.network,
                                  work.plugins, request.setup.context),
      origin_of(request, work.board, work.profile, work.processing), winner.evidence};
  file.origin.model.divided.insert(work.divided.begin(), work.divided.end());
  return file;
}

PlannedCrops finish_crops(const PlanRequest& request, const Work& work,
                          const explore::SharedChoice& shared) {
  const explore::SharedCandidate& best = shared.candidates[shared.best];
  plan::PlanFile file = finish(request_of_crops(request), *work.crops, best.second);
  return {std::move(work.crops->network), std::move(file), request.crops->most,
          runs_of(*request.crops),        best.bound,      best.period};
}

/// A pipeline brings throughput; cores that work on a layer together bring one frame out sooner.
bool may_join_cores(const PlanRequest& request, const board::Board& board) {
  return request.board.empty() && request.limits.empty() && request.profile.empty() &&
         !request.by_hand.is_given() && !explore::is_configuration_search(request.search) &&
         board::joined_clusters(board).size() < board.processors.size();
}

PlanRequest with_cores_joined(PlanRequest request, const board::Board& board) {
  request.setup.processors.clear();
  for (const board::Processor& cluster : board::joined_clusters(board))
    request.setup.processors.push_back(fmt::format("core{}", fmt::join(cluster.cores, "+core")));
  return request;
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
  Work work = prepare(request, open_model(request.setup.source, context));
  if (request.crops)
    work.crops =
        std::make_unique<Work>(prepare(request_of_crops(request), network_of_crops(request)));
  select_by_stage(request, work);
  PlanAttempt& attempt = attempts.emplace_back(PlanAttempt{work.precisions, work.loss, {}});
  if (work.precisions && !work.precisions->within_budget) {
    const std::string refusal =
        missed_budget_text(precision_request(request, work), *work.precisions);
    return result_of(std::move(work), std::move(attempts), refusal);
  }
  work.processing = processing_for(request, work.network, *work.engine);
  std::map<std::string, double> clocks_mhz;
  decide(request, work, attempt, clocks_mhz);
  const explore::Choice& choice = *attempt.choice;
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
    const char* more = explore::is_configuration_search(request.search)
                           ? "; ⟨search⟩ auto also tries batches and joined cores"
                           : "";
    return result_of(std::move(work), std::move(attempts), refusal + "; allow that or more" + more);
  }
  for (const std::string& reason : choice.left_out) context.note("left out, " + reason);
  const auto problem = explore::make_problem(work.network, work.board, work.profile);
  for (const std::string& text :
       explore::idle_accelerators(work.network, work.board, problem, choice.winner().plan))
    context.note(text);
  if (const std::string loops = profile::plain_loops_text(work.profile); !loops.empty())
    context.note(loops);
  const explore::Candidate& winner = choice.winner();
  if (request.board.empty()) runtime::note_wire({winner.plan, work.network, *work.engine}, context);
  plan::PlanFile file = finish(request, work, winner);
  file.origin.clocks_mhz = std::move(clocks_mhz);
  const std::string engine = work.engine->name();
  auto why = reasons_of(request, {work.network, work.board, work.profile, engine}, choice);
  std::optional<PlannedCrops> crops;
  if (attempt.shared) crops = finish_crops(request, work, *attempt.shared);
  PlanResult result = result_of(std::move(work), std::move(attempts), {});
  result.file = std::move(file);
  result.why = std::move(why);
  result.crops = std::move(crops);
  return result;
}

}  // namespace

PlanResult make_plan(const PlanRequest& given) {
  PlanRequest request = given;
  take_application(request);
  check_search_reads_options(request);
  if (is_follower(request.setup.context.ranks)) follow(request);
  PlanResult result = plan_once_more(request, {});
  const std::string text =
      result.refusal.empty() ? other_speed_text(request, result) : result.refusal;
  if (!text.empty()) request.setup.context.note(text);
  if (result.refusal.empty()) add_takeovers(request, result);
  return result;
}

void check_plan_output(const PlanRequest& given, const std::string& output,
                       const std::string& application) {
  if (is_follower(given.setup.context.ranks)) return;  // which writes nothing
  PlanRequest request = given;
  take_application(request);
  if (!output.empty() && output != standard_output && !is_plan_file(output) && !is_special(output))
    throw InputError("⟨output⟩ " + output,
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

}  // namespace millrace::product
