#include "api/deployment/group_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/planning/fewer_engines.h"
#include "api/profile.h"
#include "api/setup.h"
#include "base/error.h"
#include "explore/system/methods.h"
#include "profile/cost_model.h"
#include "profile/select.h"

namespace millrace::api {
namespace {

bool runs_all_operators(const board::Device& device) {
  return device.limits.operators.empty() && device.limits.not_operators.empty() &&
         device.limits.granularity == board::Granularity::layer;
}

/// The worst cases in the place of the medians.
profile::Profile with_worst_cases(profile::Profile profile) {
  for (profile::ProcessorProfile& processor : profile.processors)
    for (profile::LayerTimes& layer : processor.layers)
      for (profile::Statistics* each : {&layer.together, &layer.alone, &layer.contended})
        each->median = std::max(each->median, each->worst_case);
  return profile;
}

const profile::Profile& network_of(const ProfileToUse& use, const network::Network& network,
                                   const system::Group& group) {
  const auto& networks = use.profile.networks;
  const auto found =
      std::ranges::find(networks, network::hash_of(network), &profile::Profile::network);
  if (found == networks.end())
    throw InputError(use.file, fmt::format("has no times of the network of group '{}'; measure "
                                           "again with 'millrace profile'",
                                           group.name));
  return *found;
}

profile::Profile measured_profile(const GroupSource& source, const system::Group& group,
                                  const GroupSourceOptions& options) {
  Setup setup;
  setup.context = options.context;
  setup.engine = source.engine;
  const auto engine = make_engine(setup);
  ProfileSource from;
  from.context = options.context;
  from.measure.seed = options.seed;
  from.measure.precisions = group.precisions;
  if (options.profile != nullptr) {
    from.path = options.profile->file;
    from.given = &network_of(*options.profile, *source.network, group);
  }
  return load_profile(*source.network, source.board, *engine, from);
}

}  // namespace

std::vector<std::string> processors_for_networks(const board::Board& board) {
  std::vector<std::string> accelerators, all;
  bool is_enough = false;
  for (const board::Processor& processor : board.processors) {
    all.push_back(processor.name);
    if (processor.kind == board::ProcessorKind::cpu) continue;
    accelerators.push_back(processor.name);
    const board::Device* device = device_of(board, processor);
    is_enough = is_enough || (device != nullptr && runs_all_operators(*device));
  }
  return is_enough ? accelerators : all;
}

std::unique_ptr<GroupSource> group_source(const system::System& system, system::GroupId group,
                                          const board::Board& board,
                                          std::pair<Networks&, const GroupSourceOptions&> with) {
  auto& [networks, options] = with;
  check_core_for_steps(system[group], board);
  auto source = std::make_unique<GroupSource>();
  source->network = &networks.of(system[group].model);
  source->board = board::only(
      board, options.processors.empty() ? processors_for_networks(board) : options.processors);
  Setup setup;
  setup.context = options.context;
  source->engine = options.profile == nullptr
                       ? engine_of(setup)
                       : engine_of(setup, network_of(*options.profile, *source->network,
                                                     system[group]));
  const auto& precisions = system[group].precisions;
  const bool is_modelled = !system.board.empty();
  const profile::Profile all = is_modelled
                                   ? profile::modelled(*source->network, source->board, precisions)
                                   : measured_profile(*source, system[group], options);
  source->profile = profile::select(all, precisions);
  source->build.engine = source->engine;
  source->problem = explore::make_problem(*source->network, source->board, source->profile);
  source->estimated = explore::estimated_problem(source->problem, source->board);
  if (!is_modelled && options.sums_of_worst)
    source->worst =
        explore::make_problem(*source->network, source->board, with_worst_cases(source->profile));
  source->context = std::make_unique<explore::SearchContext>(
      explore::SearchContext{*source->network, source->board, source->problem, source->build});
  source->estimated_context = std::make_unique<explore::SearchContext>(
      explore::SearchContext{*source->network, source->board, source->estimated, source->build});
  return source;
}

void leave_out_engines(std::span<const std::shared_ptr<GroupSource>> sources,
                       const Context& context, deployment::Deployment& deployment) {
  for (std::size_t g = 0; g < deployment.assignments.size(); ++g) {
    if (sources[g] == nullptr || sources[g]->engine.find(',') == std::string::npos) continue;
    Setup setup;
    setup.engine = sources[g]->engine;
    setup.context = context;
    plan::Plan& plan = deployment.assignments[g].plan.plan;
    plan = with_fewer_engines(plan, *sources[g]->network, *make_engine(setup), context);
  }
}

explore::GroupModel group_model(const GroupSource& source, const system::System& system,
                                system::GroupId group, const board::Board& board) {
  explore::GroupModel model{*source.context, board};
  model.period = period_of(system, group, system.levels - 1);
  model.preprocess = system[group].preprocess.value_or(Time{});
  model.postprocess = system[group].postprocess.value_or(Time{});
  if (source.worst) model.worst = &*source.worst;
  return model;
}

explore::GroupModel estimated_model(const GroupSource& source, const explore::GroupModel& actual) {
  explore::GroupModel model{*source.estimated_context, actual.board};
  model.period = actual.period;
  model.preprocess = actual.preprocess;
  model.postprocess = actual.postprocess;
  model.worst = actual.worst;
  model.deviation = actual.deviation;
  return model;
}

}  // namespace millrace::api
