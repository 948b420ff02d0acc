#include "product/simulate.h"

#include <algorithm>
#include <chrono>

#include "analysis/rate.h"
#include "base/error.h"
#include "dataflow/analysis.h"
#include "plan/build.h"
#include "plan/steps.h"
#include "product/loaded.h"
#include "runtime/bench/energy.h"
#include "schedule/graph.h"
#include "simulate/recorded.h"

namespace millrace::product {
namespace {

constexpr double longest_s = 4e8;  // so that no time overflows; simulate::run refuses less

plan::PhaseTimes best_times(const simulate::Application& application,
                            const simulate::Options& options) {
  plan::PhaseTimes times;
  const schedule::Schedule schedule = schedule::compile(application.plan);
  for (std::size_t a = 0; a < schedule.actors.size(); ++a) {
    const auto found = options.processors.find(schedule.actors[a].processor.name);
    const double scale =
        found == options.processors.end() ? options.others.scale : found->second.scale;
    std::vector<Time> phases;
    for (const simulate::Duration& duration : application.durations[a])
      phases.push_back(time_from_seconds(std::min(seconds(duration.best) * scale, longest_s)));
    times.add(std::move(phases));
  }
  return times;
}

std::optional<dataflow::Fraction> bound_of(const simulate::Application& application,
                                           const network::Network& network,
                                           const simulate::Options& options) {
  const auto rate = dataflow::throughput(schedule::csdf_graph(
      application.plan, network, {.phase_times = best_times(application, options)}));
  if (!rate || rate->is_unlimited()) return std::nullopt;
  const dataflow::Fraction period =
      rate->period() / dataflow::Fraction(plan::round_of(application.plan));
  if (application.order == simulate::Order::graph || !plan::is_first_free(application.plan))
    return period;
  const auto shortest =
      analysis::shortest_period(application.plan, network, best_times(application, options));
  if (!shortest || *shortest <= Time{}) return std::nullopt;
  return dataflow::Fraction(shortest->count());
}

/// As `bench` has them, whose frames on their way hang on them; of a plan without, those recorded.
plan::PhaseTimes times_of(const simulate::Application& application,
                          const plan::Evidence& evidence) {
  const auto times = plan::predicted_times(application.plan, evidence);
  return times.empty() ? best_times(application, {}) : times;
}

/// What came of the frames that were recorded, if any were.
std::optional<simulate::ApplicationResult> add_times(simulate::Application& application,
                                                     const plan::Evidence& evidence,
                                                     const SimulateRequest& request,
                                                     const SimulatedPlan& plan) {
  if (!plan.recorded.empty()) {
    simulate::Recorded recorded = simulate::read_recorded(plan.recorded, application.plan);
    application.recorded = std::move(recorded.firings);
    application.durations = std::move(recorded.means);
    application.borders = {};  // those are of the predicted durations
    application.frames = recorded.result.frames;
    return recorded.result;
  }
  try {
    application.durations =
        simulate::predicted_durations(application.plan, evidence, request.drawn ? request.best : 1,
                                      request.drawn ? request.worst : 1);
    return std::nullopt;
  } catch (const InputError& error) {
    throw InputError(plan.file, error.what());
  }
}

/// The board of all plans, if they have one that knows what it draws.
class CommonBoard {
 public:
  void add(const plan::Origin& origin) {
    const auto board = runtime::board_of(origin);
    if (!board || (board_ && board::hash_of(*board_) != board::hash_of(*board))) differs_ = true;
    if (!board_) board_ = board;
  }
  const board::Board* get() const { return differs_ || !board_ ? nullptr : &*board_; }

 private:
  std::optional<board::Board> board_;
  bool differs_ = false;
};

/// What draws power.
struct Consumers {
  CommonBoard board;
  std::vector<std::map<std::string, Time>> idle_cores;  // by plan: what feeding takes of them
  std::vector<std::vector<board::DeviceEnergy>> links;  // by plan: what a frame of it takes there
};

/// How long cores without a stage feed devices, of all frames, by their names.
std::map<std::string, double> feeding_of(const simulate::Simulated& simulated,
                                         const Consumers& consumers) {
  std::map<std::string, double> busy;
  for (std::size_t a = 0; a < consumers.idle_cores.size(); ++a)
    for (const auto& [core, time] : consumers.idle_cores[a])
      busy[core] += seconds(time) * static_cast<double>(simulated.result.applications[a].frames);
  return busy;
}

std::vector<board::DeviceEnergy> energy_of(const simulate::Simulated& simulated,
                                           const Consumers& consumers) {
  const board::Board& board = *consumers.board.get();
  std::int64_t frames = 0;
  for (const simulate::ApplicationResult& each : simulated.result.applications)
    frames += each.frames;
  if (frames == 0) return {};
  const std::map<std::string, double> idle = feeding_of(simulated, consumers);
  std::vector<board::BusyProcessor> busy;
  for (const board::Processor& processor : board.processors)
    if (const auto found = idle.find(processor.name); found != idle.end())
      busy.push_back({processor, found->second / static_cast<double>(frames)});
  for (const simulate::ProcessorResult& result : simulated.result.processors)
    for (const board::Processor& processor : board.processors)
      if (processor.name == result.name)
        busy.push_back({processor, seconds(result.busy) / static_cast<double>(frames)});
  auto energies = board::energy_per_frame(
      board, busy, seconds(simulated.result.elapsed) / static_cast<double>(frames));
  for (std::size_t a = 0; a < consumers.links.size() && !energies.empty(); ++a)
    for (board::DeviceEnergy link : consumers.links[a]) {
      const std::int64_t own = simulated.result.applications[a].frames;
      link.busy_mj *= static_cast<double>(own) / static_cast<double>(frames);
      energies.push_back(std::move(link));
    }
  return energies;
}

void add_plan(simulate::Simulated& simulated, const SimulateRequest& request,
              const SimulatedPlan& plan, Consumers& consumers) {
  const auto loaded = read_plan_and_network(plan.file, plan.model, request.context);
  consumers.idle_cores.push_back(plan::feeding_of_idle_cores(loaded->plan, loaded->evidence));
  consumers.links.push_back(runtime::link_energy({loaded->plan, loaded->network, loaded->origin}));
  std::ranges::move(plan::border_notes(loaded->plan, loaded->evidence),
                    std::back_inserter(simulated.borders));
  std::ranges::move(plan::feeding_notes(loaded->plan, loaded->evidence),
                    std::back_inserter(simulated.feeding));
  auto borders = plan::border_times(loaded->plan, loaded->evidence);
  simulate::Application application{.name = loaded->plan.network_name,
                                    .plan = std::move(loaded->plan),
                                    .durations = {},
                                    .borders = std::move(borders),
                                    .release = plan.release};
  for (const simulate::Application& other : simulated.applications)
    if (other.name == application.name) application.name = plan.file;
  consumers.board.add(loaded->origin);
  simulated.recorded.push_back(add_times(application, loaded->evidence, request, plan));
  application.frames = request.frames.value_or(application.frames);
  application.deadline = plan.deadline;
  application.priority = static_cast<int>(simulated.applications.size());
  application.order = request.order;
  if (request.enough_in_flight && application.release.arrivals == simulate::Arrivals::closed &&
      application.order == simulate::Order::submitted)
    application.release.in_flight = analysis::enough_in_flight(
        application.plan, loaded->network, times_of(application, loaded->evidence));
  simulated.files.push_back(plan.file);
  simulated.bounds.push_back(bound_of(application, loaded->network, request.options));
  simulated.applications.push_back(std::move(application));
}

}  // namespace

simulate::Simulated simulate_plans(const SimulateRequest& request) {
  simulate::Simulated simulated;
  Consumers consumers;
  for (const SimulatedPlan& plan : request.plans) {
    add_plan(simulated, request, plan, consumers);
    if (!plan.recorded.empty()) simulated.times = "recorded";
  }
  if (request.drawn) simulated.times = "drawn";
  simulated.seed = request.options.seed;
  simulated.has_powers = request.has_powers;
  const auto start = std::chrono::steady_clock::now();
  simulated.result = simulate::run(simulated.applications, request.options);
  simulated.took = std::chrono::steady_clock::now() - start;
  if (!request.has_powers && consumers.board.get() != nullptr)
    simulated.energy = energy_of(simulated, consumers);
  return simulated;
}

}  // namespace millrace::product
