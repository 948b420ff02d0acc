#include "api/admission/admit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "api/admission/running.h"
#include "api/admission/table.h"
#include "api/deployment/open.h"
#include "api/profile.h"
#include "api/setup.h"
#include "base/error.h"
#include "board/clusters.h"
#include "base/file.h"
#include "base/json.h"
#include "deployment/deployment.h"

namespace millrace::api {
namespace {

constexpr double usual_margin = 1.2;
constexpr Time usual_together = std::chrono::seconds(3);

/// The groups of the scenario, or all.
std::vector<system::GroupId> groups_of(const system::System& system, const std::string& scenario) {
  std::vector<system::GroupId> groups;
  if (scenario.empty()) {
    for (std::size_t g = 0; g < system.groups.size(); ++g) groups.emplace_back(g);
    return groups;
  }
  for (const system::Scenario& each : system.scenarios)
    if (each.name == scenario) return each.groups;
  throw InputError("--scenario", fmt::format("the system has no scenario '{}'", scenario));
}

/// Knows how long networks take on the configurations of one board.
class VariantTimes {
 public:
  VariantTimes(const AdmitRequest& request, const board::Board& board, bool modelled)
      : request_(request), board_(board), modelled_(modelled) {}

  void add(const network::Network& network, const system::Group& group,
           const explore::Element& element, GroupVariants& variants) {
    if (modelled_) {
      explore::VariantTime time =
          explore::modelled_variant(network, element, board_, group.precisions);
      const double margin = request_.margin.value_or(usual_margin);
      if (time.time) *time.time = deployment::stretched(*time.time, margin);
      for (Time* transfer : {&time.transfers.in, &time.transfers.out})
        *transfer = deployment::stretched(*transfer, margin);
      variants.variants.push_back(std::move(time));
      return;
    }
    Measured one = measured(network, group, element);
    variants.variants.push_back(std::move(one.time));
    variants.layers.push_back(std::move(one.layers));
  }

 private:
  struct Measured {
    explore::VariantTime time;
    std::vector<board::Variant> layers;
  };
  Measured measured(const network::Network& network, const system::Group& group,
                    const explore::Element& element) {
    Setup setup{group.model, {}, request_.engine, request_.context};
    const auto engine = make_engine(setup);
    ProfileSource source;
    source.measure.precisions = group.precisions;
    source.context = request_.context;
    const profile::Profile profile = load_profile(network, element.board, *engine, source);
    Measured best{{.refusal = "was not measured"}, {}};
    for (const profile::ProcessorProfile& each : profile.processors) {
      const bool asked =
          std::ranges::find(group.precisions, each.precision) != group.precisions.end();
      if (!asked || (best.time.time && each.whole.worst_case >= *best.time.time)) continue;
      best = {{each.whole.worst_case, each.precision, {}}, {}};
      for (const profile::LayerTimes& layer : each.layers) best.layers.push_back(layer.variant);
    }
    return best;
  }

  const AdmitRequest& request_;
  const board::Board& board_;
  bool modelled_;
};

/// This machine's cores, alone and all of a device together, which engines can be measured on.
explore::Elements elements_of_this_machine(const board::Board& board) {
  explore::Elements result;
  for (const board::Processor& processor : board.processors) {
    if (processor.kind != board::ProcessorKind::cpu) continue;
    result.problem.units.push_back(processor.name);
    result.problem.processors.push_back({processor.name, {result.problem.units.size() - 1}});
    result.elements.push_back({"cpu", 1, 1, board::only(board, {processor.name})});
  }
  const std::size_t cores = result.elements.size();
  for (const board::Processor& cluster : board::joined_clusters(board)) {
    explore::SharedProcessor all{cluster.name, {}};
    for (std::size_t unit = 0; unit < cores; ++unit)
      if (std::ranges::count(cluster.cores, result.elements[unit].board.processors[0].cores[0]) > 0)
        all.units.push_back(unit);
    if (all.units.size() < 2) continue;
    result.elements.push_back({"cpu", all.units.size(), static_cast<double>(all.units.size()),
                               board::only(board, {all.name})});
    result.problem.processors.push_back(std::move(all));
  }
  return result;
}

/// In millijoules, of one activation; empty where the board does not say what a processor draws.
std::vector<double> energies(const explore::Elements& elements,
                             const explore::AdmissionTask& task) {
  std::vector<double> result;
  for (std::size_t p = 0; p < elements.elements.size(); ++p) {
    const explore::Element& element = elements.elements[p];
    const board::Device* device = device_of(element.board, element.board.processors[0]);
    if (device == nullptr || device->power.empty()) return {};
    result.push_back(task.times[p] ? device->power.back().busy.value * element.amount *
                                         seconds(*task.times[p])
                                   : 0);
  }
  return result;
}

/// InputError for what is no network alone: its tasks would run nowhere.
void check_is_network(const system::Group& group) {
  if (!group.graph.empty())
    throw InputError(group.place,
                     fmt::format("group '{}' has a task graph, and only networks are admitted; "
                                 "'millrace deploy' decides for both",
                                 group.name));
}

/// Their steps take time on a core that no table has.
void note_steps(const AdmitRequest& request, const system::System& system,
                const std::vector<system::GroupId>& groups) {
  std::string names;
  for (const system::GroupId id : groups) {
    const system::Group& group = system[id];
    if (group.application.empty() && !group.preprocess && !group.postprocess) continue;
    names += (names.empty() ? "'" : ", '") + group.name + "'";
  }
  if (!names.empty())
    request.context.note("the steps before and after the networks of " + names +
                         " are not counted; 'millrace deploy' counts them");
}

void add_tasks(const AdmitRequest& request, const board::Board& board, AdmitResult& result,
               VariantTimes& times_on) {
  const std::vector<system::GroupId> groups = groups_of(result.system, request.scenario);
  note_steps(request, result.system, groups);
  const auto work = request.context.begin("Times of variants");
  double done = 0;
  Networks networks(request.context);
  std::map<std::string, GroupVariants> known;  // groups often have the same network
  for (system::GroupId id : groups) {
    const system::Group& group = result.system[id];
    check_is_network(group);
    check_core_for_steps(group, board);
    work->show(done++ / static_cast<double>(groups.size()), group.name);
    const network::Network& network = networks.of(group.model);
    explore::AdmissionTask task{
        group.name, period_of(result.system, id, result.system.levels - 1), {}, {}};
    task.deadline = deadline_of(result.system, id, result.system.levels - 1);
    std::string key = network::hash_of(network);
    for (board::Precision precision : group.precisions) key += to_text(precision);
    auto [found, is_new] = known.try_emplace(key);
    if (is_new)
      for (const explore::Element& element : result.elements.elements)
        times_on.add(network, group, element, found->second);
    GroupVariants variants = found->second;
    variants.name = group.name;
    for (const explore::VariantTime& variant : variants.variants) {
      task.times.push_back(variant.time);
      task.transfers.push_back(variant.transfers);
    }
    task.energy = energies(result.elements, task);
    result.groups.push_back(std::move(variants));
    result.problem.tasks.push_back(std::move(task));
  }
}

/// By task of the result; what runs already weighs 1.
std::vector<double> weights_of(const AdmitRequest& request, const AdmitResult& result) {
  std::vector<double> weights(result.problem.tasks.size(), 1);
  std::vector<std::string_view> known;
  for (const GroupVariants& group : result.groups) known.push_back(group.name);
  for (const auto& [name, weight] : request.weights) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end())
      throw InputError("--weight",
                       fmt::format("there is no group '{}'{}", name, did_you_mean(name, known)));
    weights[static_cast<std::size_t>(found - known.begin())] = weight;
  }
  return weights;
}

/// What would change nothing.
void refuse_options_without_effect(const AdmitRequest& request, const AdmitResult& result,
                                   const board::Board& board) {
  const bool has_elements = !request.elements.kinds.empty() || request.elements.reserved_cores > 0;
  if (!result.modelled && has_elements)
    throw InputError(request.elements.kinds.empty() ? "--reserved-cores" : "--kinds",
                     "is for a board file; on this machine networks run on its cores, one or all");
  std::size_t most_cores = 0;  // of a CPU
  for (const board::Device& device : board.devices)
    most_cores = std::max(most_cores, device.cores.size());
  if (std::cmp_greater(request.elements.reserved_cores, most_cores))
    throw InputError("--reserved-cores",
                     fmt::format("found {}, and no CPU of the board '{}' has more than {} cores; "
                                 "reserve fewer",
                                 request.elements.reserved_cores, result.board_name, most_cores));
  if (!result.modelled && request.margin)
    throw InputError("--margin",
                     "is for the modelled times of a board file; on this machine times are "
                     "measured, and have their worst case");
  if (result.modelled && request.together)
    throw InputError("--together",
                     fmt::format("times are modelled for the board '{}', whose table does not run "
                                 "here; leave it out",
                                 result.board_name));
  if (result.modelled && !request.engine.empty())
    throw InputError("--engine", fmt::format("times are modelled for the board '{}'; leave it out",
                                             result.board_name));
}

/// Says each note once: networks are measured one after the other on the same cores.
class SaidOnce : public Listener {
 public:
  explicit SaidOnce(Listener& to) : to_(to) {}
  void note(const std::string& text) override {
    if (said_.insert(text).second) to_.note(text);
  }
  std::unique_ptr<Work> begin(const std::string& title) override { return to_.begin(title); }

 private:
  Listener& to_;
  std::set<std::string> said_;
};

/// Where a board does not say what its processors draw, all choices would cost nothing.
void check_energy(const AdmitRequest& request, const AdmitResult& result) {
  if (request.admission.goal != explore::AdmissionGoal::energy) return;
  for (const explore::AdmissionTask& task : result.problem.tasks)
    if (task.energy.empty())
      throw InputError("--goal energy",
                       fmt::format("the board '{}' does not say what all of its processors draw; "
                                   "choose another goal",
                                   result.board_name));
}

/// Whether a job took longer beside the others than the table gives it; its time then is what was
/// seen.
bool grew(AdmitResult& result, const runtime::Played& played) {
  bool some = false;
  for (std::size_t t = 0; t < played.tasks.size(); ++t) {
    Time& known = *result.problem.tasks[t].times[result.admission.choice[t]];
    const Time seen = played.tasks[t].worst_case();
    if (seen <= known) continue;
    some = true;
    known = seen;
    result.groups[t].variants[result.admission.choice[t]].time = seen;
  }
  return some;
}

/// Networks take longer where others have been in the caches and use the memory: the table is run,
/// and made again with the times seen in it, until they do not grow. EngineError if interrupted: a
/// part of a run proves nothing.
void settle(const AdmitRequest& request, AdmitResult& result) {
  constexpr int most_rounds = 8;
  while (result.table && result.rounds < most_rounds) {
    ++result.rounds;
    const Time together = request.together.value_or(usual_together);
    const PlayedAdmission played = play_admitted(result, request, {together});
    if (played.interrupted) throw EngineError("interrupted; no result was written");
    if (!grew(result, played.played)) return;
    decide(request, {}, result);
  }
}

}  // namespace

explore::AdmissionProblem AdmitResult::as_run() const {
  explore::AdmissionProblem result = problem;
  for (std::size_t t = 0; table && t < table_tasks.size(); ++t)
    result.tasks[t].period = table_tasks[t].period;
  return result;
}

AdmitResult admit(const AdmitRequest& given) {
  AdmitRequest request = given;
  Listener nobody;
  SaidOnce listener(given.context.listener != nullptr ? *given.context.listener : nobody);
  request.context.listener = &listener;
  AdmitResult result;
  result.system = open_system(request.system);
  if (!request.board.empty()) {
    result.system.board = request.board;
    result.system.board_place = "--board";
  }
  const board::Board board = board_of(result.system, request.context);
  result.board_name = board.name;
  result.modelled = !result.system.board.empty();
  refuse_options_without_effect(request, result, board);
  result.elements = result.modelled ? explore::elements_of(board, request.elements)
                                    : elements_of_this_machine(board);
  result.problem = result.elements.problem;
  VariantTimes times_on(request, board, result.modelled);
  add_tasks(request, board, result, times_on);
  check_energy(request, result);
  RunningSet running;
  if (!request.running.empty())
    running = add_running(read_json(request.running), request.running, result);
  check(result.problem);
  if (!request.weights.empty()) {
    request.admission.goal = explore::AdmissionGoal::weighted;
    request.admission.weights = weights_of(request, result);
  }
  decide(request, running, result);
  const bool is_settled = result.modelled || !running.choice.empty() || request.together == Time{};
  if (!is_settled) settle(request, result);
  if (result.admission.answer == explore::Admission::Answer::does_not_fit)
    result.misfit = misfit_of(result.problem, request.admission);
  return result;
}

}  // namespace millrace::api
