#include "explore/system/deploy.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <deque>

#include "base/error.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/quantity.h"
#include "explore/followers.h"
#include "explore/system/deploy_graphs.h"
#include "explore/system/placement.h"
#include "explore/system/settings.h"
#include "formats/model_source.h"
#include "plan/variants.h"
#include "system/system_file.h"

namespace millrace::explore {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double most_exact_candidates = 20'000, most_tried_candidates = 2'000'000;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// All that is known, kept together.
struct DeployWork : SystemToDeploy {
  const DeployOptions& options;
  const Context& context;
  std::deque<GroupModel> all_models = {};
  std::vector<const GroupModel*> models = {};  // by GroupId; null: it has no network
  std::vector<GroupSearch> groups = {};
  std::vector<std::vector<GroupPlan>> plans = {}, estimated = {};
  InterruptGuard interrupt{context.interrupt};
  bool by_mapping = false;  // networks and task graphs together

  MethodCase method_case() const {
    return {system, board, plans, estimated, options.analysis, options.clocks, options.exact};
  }
};

/// Equal groups have equal candidates.
bool are_alike(const system::Group& a, const system::Group& b) {
  return a.model == b.model && a.application == b.application && a.precisions == b.precisions &&
         a.preprocess == b.preprocess && a.postprocess == b.postprocess && a.rates == b.rates &&
         a.events == b.events && a.budget == b.budget && a.deadline == b.deadline;
}

GroupFront search_front(const DeployWork& work, const GroupSpace& space,
                        const GroupObjective& objective, const char* method) {
  const auto shown = work.context.begin("searching plans");
  FrontOptions options = work.options.fronts;
  options.seed = work.options.seed;
  options.ranks = work.context.ranks;
  options.stop = [&] {
    work.interrupt.check();
    return false;
  };
  options.progress = [&](double share, std::size_t candidates) {
    shown->show(share, fmt::format("{} candidates", candidates));
  };
  return front_method_named(method)->run(space, objective, options);
}

/// Where frames may overlap, a plan may have no stage of several phases; `left_out` counts those.
GroupObjective objective_of(const DeployWork& work, std::size_t group, std::size_t& left_out) {
  const GroupModel& model = *work.models[group];
  const bool one_phase = deployment::frames_may_overlap(work.system, system::GroupId(group));
  return [&model, &left_out, one_phase](const Configuration& configuration) {
    auto plan = group_plan(model, configuration);
    if (!plan || !one_phase || !deployment::has_stage_of_several_phases(plan->assignment))
      return plan;
    ++left_out;
    return std::optional<GroupPlan>();
  };
}

void check_front(const DeployWork& work, const GroupSearch& search, std::size_t left_out) {
  if (!search.front.plans.empty()) return;
  const auto& place = work.system.groups[work.groups.size()].place;
  if (left_out > 0)
    throw InputError(place,
                     "its deadline is longer than its period, and each plan of its network has a "
                     "stage of several phases, for which no bound counts then; shorten the "
                     "deadline to the period");
  throw InputError(place, "the board '" + work.board.name + "' can run its network in no way");
}

GroupSearch search_group(const DeployWork& work, std::size_t group) {
  const auto start = Clock::now();
  const GroupModel& model = *work.models[group];
  const GroupSpace space = group_space(model.context);
  std::size_t left_out = 0;
  const GroupObjective objective = objective_of(work, group, left_out);
  GroupSearch result{work.system.groups[group].name, model.context.network.layers.size(),
                     space.cuts.size(), size_of(space)};
  if (work.options.front == "exhaustive" && result.candidates > most_tried_candidates)
    throw InputError("⟨front⟩ exhaustive",
                     fmt::format("group '{}' has {:.3g} candidates, and at most {:.0f} are tried; "
                                 "use ⟨front⟩ nsga2",
                                 result.name, result.candidates, most_tried_candidates));
  result.front = search_front(work, space, objective, work.options.front.c_str());
  check_front(work, result, left_out);
  result.seconds = seconds_since(start);
  if (!work.options.exact || result.candidates > most_exact_candidates) return result;
  GroupFront exact = search_front(work, space, objective, "exhaustive");
  result.quality = quality_of(result.front, exact);
  result.exact_plans = exact.plans.size();
  result.front.plans = std::move(exact.plans);
  return result;
}

void set_priorities(DeployWork& work) {
  const std::vector<std::int64_t> priorities = priorities_of(work.system);
  for (auto* all : {&work.plans, &work.estimated})
    for (std::size_t g = 0; g < all->size(); ++g)
      for (GroupPlan& plan : (*all)[g]) plan.assignment.priority = priorities[g];
}

void add_without_network(DeployWork& work, std::size_t group) {
  work.groups.push_back({work.system.groups[group].name});
  work.plans.emplace_back();
  work.estimated.emplace_back();
}

/// Modelled steps take as long on each CPU device; measured ones were measured where they are.
std::vector<GroupPlan> on_each_cluster(const DeployWork& work, std::vector<GroupPlan> plans) {
  if (work.system.board.empty()) return plans;
  return with_steps_on_each_device(work.board, std::move(plans));
}

void search_groups(DeployWork& work) {
  for (std::size_t g = 0; g < work.system.groups.size(); ++g) {
    if (!work.system.groups[g].has_network()) {
      add_without_network(work, g);
      continue;
    }
    if (const auto before = earlier_alike(work.system, g)) {
      GroupSearch same = work.groups[*before];
      same.name = work.system.groups[g].name;
      same.stages.clear();
      work.groups.push_back(std::move(same));
      work.estimated.push_back(work.estimated[*before]);
    } else {
      work.groups.push_back(search_group(work, g));
      const auto estimated = estimated_model(*work.sources[g], *work.models[g]);
      auto& plans = work.estimated.emplace_back();
      for (const GroupPlan& plan : work.groups[g].front.plans)
        plans.push_back(group_plan(estimated, plan.configuration).value_or(plan));
      plans = on_each_cluster(work, std::move(plans));
    }
    work.plans.push_back(on_each_cluster(work, work.groups[g].front.plans));
    work.groups[g].plans = work.plans.back();
    for (const GroupPlan& plan : work.plans.back())
      work.groups[g].stages.push_back(realise(work.models[g]->context, plan.configuration).plan);
  }
  set_priorities(work);
}

void add_models(DeployWork& work) {
  for (std::size_t g = 0; g < work.system.groups.size(); ++g) {
    if (work.sources[g] == nullptr) {
      work.models.push_back(nullptr);
      continue;
    }
    GroupModel& model = work.all_models.emplace_back(
        group_model(*work.sources[g], work.system, system::GroupId(g), work.board));
    model.deviation = work.options.deviation.value_or(modelled_deviation);
    model.by_accelerator_times = work.by_mapping;
    work.models.push_back(&model);
  }
}

CombineOptions combine_options(const DeployWork& work, Work& shown) {
  CombineOptions options = work.options.combine;
  options.seed = work.options.seed;
  options.ranks = work.context.ranks;
  options.stop = [&] {
    work.interrupt.check();
    return false;
  };
  options.progress = [&](double share, double best_mw) {
    shown.show(share, !(best_mw < 1e9)        ? std::string("no deployment yet")
                      : work.is_power_assumed ? std::string("found some")
                                              : fmt::format("best {} mW", four_digits(best_mw)));
  };
  return options;
}

/// What the exact search finds takes the place of what the method decided, if it is better.
void add_exact(const MethodRun& run, const CombineOptions& options, MethodReport& report) {
  auto exact = exact_method(run, options, report.decided);
  if (!exact) return;
  report.decided = std::move(exact->decided);
  report.exact_mw = report.decided.power_mw;
  report.bound_mw = exact->bound_mw;
}

MethodReport run_one(const DeployWork& work, const DeployMethod& method) {
  const auto shown = work.context.begin(fmt::format("combining plans ({})", method.name));
  const CombineOptions options = combine_options(work, *shown);
  const MethodCase given = work.method_case();
  MethodReport report;
  report.name = method.name;
  const auto start = Clock::now();
  report.decided = run_method({method, given, {work.system.levels - 1, 1}}, options);
  report.usual_mw = report.decided.power_mw;
  if (work.options.exact) add_exact({method, given, {work.system.levels - 1, 1}}, options, report);
  report.seconds = seconds_since(start);
  for (std::int64_t level = 0; level < work.system.levels; ++level)
    report.levels.push_back(at_rate({method, given, {level, 1}}, report.decided));
  if (work.options.max_rate) report.max_rate = max_rate(method, given, options);
  return report;
}

plan::Origin origin_of_group(const DeployWork& work, std::size_t group) {
  const GroupSource& source = *work.sources[group];
  plan::Origin origin;
  origin.network = source.profile.network;
  origin.board = source.profile.board;
  origin.model = formats::absolute(work.system.groups[group].model);
  origin.version = work.version;
  if (!work.system.board.empty()) {
    origin.board_name = work.board.name;
    origin.board_cpu = work.board.cpu_model;
  }
  origin.search = work.options.method.empty() ? "PR" : work.options.method;
  origin.precisions = work.system.groups[group].precisions;
  return origin;
}

deployment::Deployment deployment_of(const DeployWork& work, const MethodReport& report) {
  const Combined& decided = report.decided.found.front();
  deployment::Deployment result;
  result.system = work.system;
  result.board_name = work.board.name;
  result.board_hash = work.board_hash;
  result.method = report.name;
  const bool is_modelled = !work.system.board.empty();
  result.contention =
      is_modelled ? deployment::Contention::modelled : deployment::Contention::alone;
  for (std::size_t g = 0; g < work.plans.size(); ++g) {
    deployment::Assignment assignment = placed_assignment(
        *work.models[g], work.plans[g][decided.combination[g]], decided.placement[g]);
    assignment.plan.origin = origin_of_group(work, g);
    if (is_modelled)
      assignment.plan.plan = plan::simulated_where_not_here(assignment.plan.plan, work.board);
    result.assignments.push_back(std::move(assignment));
  }
  const auto& method = *deploy_method_named(report.name);
  CombinationProblem problem{work.system, work.board, work.plans, {}};
  problem.analysis = work.options.analysis;
  problem.thorough = work.options.exact;
  problem.clocks = method.clocks ? work.options.clocks : ClockSearch::none;
  result.settings = settings_of(problem, result, decided);
  for (deployment::Setting& setting : result.settings)
    if (work.is_power_assumed) setting.power_mw = 0;
  make_space(result);
  check(result, work.board);
  return result;
}

/// The first scenario for which nothing feasible was found; else the first.
std::size_t infeasible_scenario(const std::vector<Combined>& found) {
  const auto at = std::ranges::find(found, false, &Combined::feasible);
  return at == found.end() ? 0 : static_cast<std::size_t>(at - found.begin());
}

/// Empty if there is a deployment.
std::string refusal_of_method(const DeployWork& work, const MethodReport& report) {
  if (report.decided.feasible) return {};
  CombinationProblem problem{work.system, work.board, work.plans, scenes_of(work.system),
                             work.system.levels - 1};
  problem.analysis = work.options.analysis;
  problem.thorough = work.options.exact;
  const std::size_t at = infeasible_scenario(report.decided.found);
  const Combined& found = report.decided.found[at];
  if (report.decided.found.size() > 1)  // it is the plans of this scenario only
    for (std::size_t s = 0; s < problem.scenes.size(); ++s)
      if (s != at) problem.scenes[s].groups.clear();
  if (found.combination.empty()) return "no deployment: " + why_infeasible(problem, found);
  const Combined nearest = assess(problem, found.combination, found.placement);
  return "no deployment: " + why_infeasible(problem, nearest);
}

const DeployMethod& method_of(const DeployOptions& options) {
  return *deploy_method_named(options.method.empty() ? "PR" : options.method);
}

void decide_by_mapping(const DeployWork& work, DeployResult& result) {
  const auto stop = [&work] {
    work.interrupt.check();
    return false;
  };
  const auto origin = [&work](std::size_t group) { return origin_of_group(work, group); };
  deploy_graphs({work.options, work.context, work.system, work.board, work.board_hash,
                 work.is_power_assumed, work.models, work.plans, origin, stop},
                result);
}

void decide_plans(const DeployWork& work, DeployResult& result) {
  const DeployMethod& method = method_of(work.options);
  CombinationProblem highest{work.system, work.board, work.plans, {}, work.system.levels - 1};
  result.refusal = too_short_deadline(highest);
  if (!result.refusal.empty() && !work.options.max_rate) return;
  result.methods.push_back(run_one(work, method));
  for (const DeployMethod& other : deploy_methods())
    if (work.options.compare && &other != &method) result.methods.push_back(run_one(work, other));
  if (result.refusal.empty()) result.refusal = refusal_of_method(work, result.methods.front());
  if (result.refusal.empty() && !method.each_scenario)
    result.deployment = deployment_of(work, result.methods.front());
}

/// Of all that is decided by.
std::string hash_of(const SystemToDeploy& given) {
  Hasher hasher;
  hasher.add(given.board_hash).add(system::to_json(given.system, {}).dump());
  for (const auto& source : given.sources) {
    if (source == nullptr) continue;
    hasher.add(network::hash_of(*source->network)).add(hash_of(source->problem));
    if (source->worst) hasher.add(hash_of(*source->worst));
  }
  return hasher.digits();
}

}  // namespace

std::optional<std::size_t> earlier_alike(const system::System& system, std::size_t group) {
  for (std::size_t g = 0; g < group; ++g)
    if (are_alike(system.groups[g], system.groups[group])) return g;
  return std::nullopt;
}

DeployResult deploy(SystemToDeploy given, const DeployOptions& options, const Context& context) {
  DeployWork work{std::move(given), options, context};
  work.by_mapping = decides_by_mapping(options.method, work.system);
  check_same(context.ranks, "its system or model is", hash_of(work));
  add_models(work);
  search_groups(work);
  DeployResult result;
  if (work.by_mapping)
    decide_by_mapping(work, result);
  else
    decide_plans(work, result);
  wait_for_first(context.ranks);
  result.groups = std::move(work.groups);
  result.system = std::move(work.system);
  result.board = std::move(work.board);
  result.is_power_assumed = work.is_power_assumed;
  return result;
}

}  // namespace millrace::explore
