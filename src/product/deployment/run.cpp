#include "product/deployment/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "analysis/responses.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "board/energy.h"
#include "deployment/scenario_file.h"
#include "product/deployment/deliveries.h"
#include "product/deployment/loaded_deployment.h"
#include "product/written_over.h"
#include "runtime/bench/energy.h"
#include "runtime/controller/script.h"
#include "runtime/loaded/simulated_stages.h"
#include "runtime/scheduling/host.h"

namespace millrace::product {
namespace {

deployment::Wanted wanted_of(const system::System& system, const DeploymentRunRequest& request) {
  const std::int64_t level = request.level.value_or(system.levels - 1);
  check_level(system, level);
  return {scenario_named(system, request.scenario), level};
}

deployment::Script asked_script(const system::System& system, const DeploymentRunRequest& request) {
  if (!request.script.empty()) return deployment::read_script(request.script, system);
  if (!request.scenario.empty()) return {{Time{}, wanted_of(system, request)}};
  if (!request.scenario_file.empty())
    return {{Time{}, {system::ScenarioId(0), request.level.value_or(system.levels - 1)}}};
  return deployment::random_script(
      system, {time_from_seconds(request.duration_s), request.transitions, request.seed});
}

/// A run that ended before is taken over where it was.
deployment::Script script_of(const system::System& system, const DeploymentRunRequest& request) {
  deployment::Script script = asked_script(system, request);
  if (request.state_file.empty()) return script;
  if (const auto state = deployment::read_state(request.state_file, system))
    script.front().wanted = *state;
  return script;
}

/// Where a core's real-time threads take more than the system lets them, all of them are stopped
/// for a while in each period.
void note_throttling(const DeploymentRun& run, const Context& context) {
  if (!run.real_time_limit || !run.record.priorities) return;
  for (const runtime::ProcessorRecord& each : run.record.processors) {
    const double share = seconds(each.busy) / std::max(1e-9, seconds(run.record.elapsed));
    if (share > *run.real_time_limit - 0.02)
      context.note(
          fmt::format("{} was {:.1f} % busy, and the system stops real-time threads at "
                      "{:.0f} %; raise /proc/sys/kernel/sched_rt_runtime_us",
                      each.name, 100 * share, 100 * *run.real_time_limit));
  }
}

void add_bounds(DeploymentRun& run, const board::Board& board) {
  for (std::size_t g = 0; g < run.record.groups.size(); ++g)
    for (const runtime::OperationRecord& each : run.record.groups[g].operations)
      run.bounds[{g, {each.at.scenario.index, each.at.level}}] =
          analysis::response_bounds(run.deployment, board, each.at)[g];
}

realtime::ChainBounds bounds_of(const DeploymentRun& run, const ChainSeen& seen,
                                const board::Board& board) {
  const auto responses = analysis::response_bounds(run.deployment, board, seen.at);
  for (const auto& answer : analysis::chain_answers(run.deployment.system, seen.at, responses))
    if (answer.chain == seen.chain) return answer.bounds;
  return {};
}

void add_chains(DeploymentRun& run, const Deliveries& deliveries, const board::Board& board) {
  const auto levels = static_cast<std::size_t>(run.deployment.system.levels);
  const auto chains = deliveries.chain_times();
  for (std::size_t c = 0; c < chains.size(); ++c)
    for (const auto& [operation, times] : chains[c]) {
      ChainSeen& seen = run.chains.emplace_back();
      seen.chain = c;
      seen.at = {system::ScenarioId(operation / levels),
                 static_cast<std::int64_t>(operation % levels)};
      seen.times = times;
      seen.bounds = bounds_of(run, seen, board);
    }
}

/// Frames may miss their deadlines only because this machine computes more slowly than the board.
void note_late_groups(const LoadedDeployment& loaded, const Context& context) {
  bool is_late = false;
  for (std::size_t g = 0; g < loaded.networks.size(); ++g) {
    if (loaded.networks[g] == nullptr) continue;
    auto paces = loaded.simulated.engine->paces();
    std::erase_if(paces, [&](const auto& pace) { return pace.network != loaded.networks[g]; });
    const std::string group = fmt::format("group '{}', ", loaded.deployment.system.groups[g].name);
    const plan::Plan& plan = loaded.deployment.assignments[g].plan.plan;
    is_late = runtime::note_late_stages(plan, paces, group, context) > 0 || is_late;
  }
  if (is_late)
    context.note(
        "so these responses and misses are not those of the board; 'millrace simulate' has "
        "them");
}

/// How long frames were due in the setting.
double seconds_in(const DeploymentRun& run, const deployment::Setting& setting) {
  double longest = 0;
  for (std::size_t g = 0; g < run.record.groups.size(); ++g) {
    const Time period = period_of(run.deployment.system, system::GroupId(g), setting.level);
    for (const runtime::OperationRecord& each : run.record.groups[g].operations)
      if (each.at.scenario == setting.scenario && each.at.level == setting.level)
        longest = std::max(longest, static_cast<double>(each.frames.due) * seconds(period));
  }
  return longest;
}

/// Nothing if a setting that was in use has no power.
std::optional<double> expected_energy(const DeploymentRun& run) {
  double millijoules = 0;
  for (const deployment::Setting& setting : run.deployment.settings) {
    const double spent_s = seconds_in(run, setting);
    if (spent_s > 0 && setting.power_mw <= 0) return std::nullopt;
    millijoules += spent_s * setting.power_mw;
  }
  return millijoules > 0 ? std::optional(millijoules) : std::nullopt;
}

void add_energy(DeploymentRun& run, board::EnergyMeter& meter) {
  if (const auto joules = meter.take()) run.measured_mj = 1000 * *joules;
  run.energy_source = run.measured_mj       ? meter.source()
                      : meter.can_measure() ? meter.source() + " could not be read"
                                            : meter.reason();
  run.expected_mj = expected_energy(run);
}

runtime::ControllerOptions options_for(const LoadedDeployment& loaded,
                                       const DeploymentRunRequest& request) {
  runtime::ControllerOptions options;
  options.pin = options.priorities = options.lock_memory = loaded.is_here;
  const bool traces = !request.trace.file.empty() || request.observer == nullptr;
  options.trace_frames = traces ? frames_of(request.trace) : request.observer->traced_frames();
  options.seed = request.seed;
  options.thread = request.thread;
  options.recorded = recorded_releases(request.releases, loaded.deployment.system, request.context);
  options.simulated_clock = loaded.simulated_clock();
  options.note = [&context = request.context](const std::string& text) { context.note(text); };
  return options;
}

void note_nan(const runtime::ControllerRecord& record, const Context& context) {
  for (const runtime::GroupRecord& group : record.groups)
    if (!group.nan_layer.empty())
      context.note(
          fmt::format("warning: group '{}': the layer {} makes what is not a number (NaN); do not "
                      "trust outputs",
                      group.name, group.nan_layer));
}

FilesRead files_of(const DeploymentRunRequest& request) {
  FilesRead files;
  files.add_deployment(request.deployment, request.script);
  files.add("releases", request.releases);
  return files;
}

/// Groups with an application read its inputs.
std::optional<DeliveriesRequest::Ends> own_ends(const LoadedDeployment& loaded, std::size_t group) {
  if (!loaded.is_here || !loaded.steps[group].application) return std::nullopt;
  return DeliveriesRequest::Ends{};
}

/// Results that go nowhere are said to.
void note_kept(const std::vector<application::DeliveryTotals>& deliveries, const Context& context) {
  for (const application::DeliveryTotals& each : deliveries)
    context.note(fmt::format(
        "group '{}': {}", each.group,
        !each.kept.empty()
            ? "kept " + each.kept
            : "its results are not kept, as its application names no output; give ⟨output⟩ a "
              "folder"));
}

/// Beside the script: a file, and whoever asks for the next one.
class Wishes {
 public:
  Wishes(const DeploymentRunRequest& request, const system::System& system)
      : request_(request), system_(system), file_(request.scenario_file, system) {}

  std::optional<deployment::Wanted> operator()(const deployment::Wanted& last) {
    std::optional<deployment::Wanted> wanted = of_file();
    const std::int64_t nexts = request_.take_nexts ? request_.take_nexts() : 0;
    if (nexts == 0) return wanted;
    wanted = wanted.value_or(last);
    wanted->scenario.index =
        (wanted->scenario.index + static_cast<std::size_t>(nexts)) % system_.scenarios.size();
    return wanted;
  }

 private:
  std::optional<deployment::Wanted> of_file() {
    if (request_.scenario_file.empty()) return std::nullopt;
    try {
      return file_.changed();
    } catch (const InputError& error) {
      request_.context.note(fmt::format("{}; the scenario stays as it is", error.what()));
      return std::nullopt;
    }
  }

  const DeploymentRunRequest& request_;
  const system::System& system_;
  deployment::ScenarioFile file_;
};

void check_trace_file(const DeploymentRunRequest& request) {
  if (request.trace.file.empty()) return;
  FilesRead files = files_of(request);
  files.add_plugins(request.tasks.libraries);
  files.add(request.context);
  files.refuse_unwritable({request.trace.file});
}

}  // namespace

std::int64_t DeploymentRun::missed() const {
  std::int64_t missed = 0;
  for (const runtime::GroupRecord& group : record.groups) missed += group.frames.missed;
  return missed;
}

bool ChainSeen::holds() const {
  return (!bounds.age || times.ages.largest() <= *bounds.age) &&
         (!bounds.reaction || times.reactions.largest() <= *bounds.reaction);
}

bool DeploymentRun::holds() const {
  if (!std::ranges::all_of(chains, &ChainSeen::holds)) return false;
  for (std::size_t g = 0; g < record.groups.size(); ++g)
    for (const runtime::OperationRecord& each : record.groups[g].operations)
      if (const auto limit = bound(g, each); limit && each.largest > *limit) return false;
  return true;
}

DeploymentRun run_deployment(const DeploymentRunRequest& request) {
  const runtime::UrgentStart soon(!request.state_file.empty());
  check_trace_file(request);
  const auto loaded = load_deployment(request.deployment, request.tasks, request.context);
  const system::System& system = loaded->deployment.system;
  const deployment::Script script = script_of(system, request);
  DeploymentRun run{request.deployment, request.script, request.seed, loaded->deployment, {}, {}};
  if (const auto throttling = runtime::real_time_throttling())
    run.real_time_limit = throttling->share();
  const InterruptGuard interrupt(request.context.interrupt);
  Deliveries deliveries(
      {request.output, true, own_ends, files_of(request), request.context, request.observer});
  RunningDeployment running(*loaded,
                            {request.tasks, request.context, &deliveries, request.observer});
  if (loaded->is_here) deliveries.add(*loaded, loaded->deployment);
  runtime::Controller controller(
      loaded->deployment, loaded->board,
      application::observed_groups(request.observer, loaded->groups_to_run()),
      options_for(*loaded, request));
  // Runs of the warm-up find cold caches.
  if (loaded->simulated.engine) loaded->simulated.engine->forget_runs();
  board::EnergyMeter meter;
  const auto sampler = runtime::sampler_of(meter);
  deliveries.begin();
  const application::Observed observed(request.observer,
                                       deliveries.at_work(loaded->deployment, controller));
  controller.start(script.front().wanted);
  const deployment::Script rest(script.begin() + 1, script.end());
  runtime::PlayHooks hooks;
  hooks.is_over = [&] { return run.interrupted = run.interrupted || interrupt.take(); };
  Wishes wishes(request, system);
  hooks.wish = [&](const deployment::Wanted& last) { return wishes(last); };
  hooks.first = script.front().wanted;
  if (!request.state_file.empty())
    hooks.asked = [&](const auto& at) { write_state(request.state_file, at, system); };
  hooks.add = [&](const deployment::ScriptStep& step) { running.add(controller, step); };
  runtime::play(controller, rest, time_from_seconds(request.duration_s), hooks);
  run.record = controller.stop();
  run.deliveries = deliveries.finish();
  note_kept(run.deliveries, request.context);
  run.deployment = running.deployment();
  run.additions = running.additions();
  if (loaded->is_here) {
    add_bounds(run, loaded->board);
    add_chains(run, deliveries, loaded->board);
    add_energy(run, meter);
  } else {
    request.context.note(
        fmt::format("the board '{}' is not this machine: it is simulated here by ordinary threads, "
                    "so no bound is shown; 'millrace analyze' and 'simulate' have them",
                    loaded->board.name));
    if (!system.edges.empty())
      request.context.note("edges between groups are left out there: inputs are random");
    note_late_groups(*loaded, request.context);
  }
  note_throttling(run, request.context);
  note_nan(run.record, request.context);
  if (!request.trace.file.empty()) write_chrome_trace(request.trace.file, run.record.trace);
  return run;
}

struct LiveRun::State {
  DeploymentRunRequest request;
  std::unique_ptr<LoadedDeployment> loaded;
  std::optional<Deliveries> deliveries;
  std::unique_ptr<runtime::Controller> controller;
};

LiveRun::LiveRun(DeploymentRunRequest request, Ends ends) : state_(std::make_unique<State>()) {
  state_->request = std::move(request);
  const Context& context = state_->request.context;
  state_->loaded = load_deployment(state_->request.deployment, state_->request.tasks, context);
  LoadedDeployment& loaded = *state_->loaded;
  FilesRead files;  // the deployment itself may be in memory
  files.add(loaded.deployment.system);
  if (!loaded.is_here)
    throw InputError(state_->request.deployment,
                     "is for the board '" + loaded.board.name +
                         "', which is not this machine, and takes no live frames; deploy the "
                         "system here");
  state_->deliveries.emplace(
      DeliveriesRequest{state_->request.output, false, std::move(ends), std::move(files), context});
  state_->deliveries->add(loaded, loaded.deployment);
  state_->controller =
      std::make_unique<runtime::Controller>(loaded.deployment, loaded.board, loaded.groups_to_run(),
                                            options_for(loaded, state_->request));
}

LiveRun::~LiveRun() = default;

void LiveRun::start() {
  const system::System& system = state_->loaded->deployment.system;
  DeploymentRunRequest request = state_->request;
  if (request.scenario.empty()) request.scenario = system.scenarios.front().name;
  state_->deliveries->begin();
  state_->controller->start(wanted_of(system, request));
}

void LiveRun::switch_to(const std::string& scenario, std::optional<std::int64_t> level) {
  const system::System& system = state_->loaded->deployment.system;
  const std::int64_t wanted = level.value_or(system.levels - 1);
  check_level(system, wanted);
  state_->controller->switch_to({scenario_named(system, scenario), wanted});
}

bool LiveRun::has_failed() const { return state_->controller->has_failed(); }
const std::vector<application::Delivery*>& LiveRun::deliveries() const {
  return state_->deliveries->by_group();
}

DeploymentRun LiveRun::stop() {
  const DeploymentRunRequest& request = state_->request;
  DeploymentRun run{request.deployment, {}, request.seed, state_->loaded->deployment, {}, {}};
  state_->deliveries->close();
  std::exception_ptr error;
  try {
    run.record = state_->controller->stop();
  } catch (...) {
    error = std::current_exception();
  }
  run.deliveries = state_->deliveries->finish();
  if (error) std::rethrow_exception(error);
  add_bounds(run, state_->loaded->board);
  add_chains(run, *state_->deliveries, state_->loaded->board);
  note_nan(run.record, request.context);
  return run;
}

}  // namespace millrace::product
