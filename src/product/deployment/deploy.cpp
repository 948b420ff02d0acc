#include "product/deployment/deploy.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "board/power.h"
#include "explore/followers.h"
#include "explore/system/deploy_graphs.h"
#include "product/deployment/deploy_options.h"
#include "product/deployment/deploy_times.h"
#include "product/deployment/loaded_deployment.h"
#include "product/deployment/open.h"
#include "product/planning/fewer_engines.h"
#include "product/profile.h"
#include "product/setup.h"
#include "system/core_for_steps.h"
#include "system/task_edges.h"

namespace millrace::product {
namespace {

const profile::Profile& network_of(const explore::ProfileToUse& use,
                                   const network::Network& network, const system::Group& group) {
  const auto& networks = use.profile.networks;
  const auto found =
      std::ranges::find(networks, network::hash_of(network), &profile::Profile::network);
  if (found == networks.end())
    throw InputError(use.file, fmt::format("has no times of the network of group '{}'; measure "
                                           "again with 'millrace profile'",
                                           group.name));
  return *found;
}

/// All that the request names. The networks outlive what is decided.
struct OpenedSystem {
  explore::SystemToDeploy system;
  Networks networks;
  std::optional<explore::SystemProfile> profile;
};

explore::GroupSourceOptions source_options(const DeployRequest& request, const system::Group& group,
                                           const network::Network& network,
                                           const explore::ProfileToUse* profile) {
  Setup setup;
  setup.context = request.context;
  explore::GroupSourceOptions options{request.processors, samples_of(request) == 0};
  options.ranks = request.context.ranks;
  options.engine = profile == nullptr ? engine_of(setup)
                                      : engine_of(setup, network_of(*profile, network, group));
  setup.engine = options.engine;
  ProfileSource from;
  from.context = request.context;
  from.measure.seed = request.seed;
  from.measure.precisions = group.precisions;
  if (profile != nullptr) {
    from.path = profile->file;
    from.given = &network_of(*profile, network, group);
  }
  options.measure = [setup, from](const network::Network& measured, const board::Board& board) {
    return load_profile(measured, board, *make_engine(setup), from);
  };
  return options;
}

void add_sources(const DeployRequest& request, OpenedSystem& opened) {
  const system::System& system = opened.system.system;
  std::optional<explore::ProfileToUse> profile;
  if (opened.profile) profile.emplace(explore::ProfileToUse{*opened.profile, request.profile});
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    const system::Group& group = system.groups[g];
    auto& source = opened.system.sources.emplace_back();
    if (!group.has_network()) continue;
    if (const auto before = explore::earlier_alike(system, g)) {
      source = opened.system.sources[*before];
    } else {
      system::check_core_for_steps(group, opened.system.board);
      const network::Network& network = opened.networks.of(group.model);
      source = explore::group_source(
          {group, network, opened.system.board, !system.board.empty()},
          source_options(request, group, network, profile ? &*profile : nullptr));
    }
    system::check_tensors(group.graph, *source->network);
  }
}

OpenedSystem open(const DeployRequest& request) {
  system::System system = open_system(request.system, request.context);
  refuse_what_is_for_admission(system);
  if (!request.board.empty()) {
    system.board = request.board;
    system.board_place = "⟨board⟩";
  }
  refuse_options_without_effect(request, system);
  note_groups_that_never_run(request, system);
  board::Board board =
      explore::board_of_first(request.context.ranks, board_of(system, request.context));
  std::optional<explore::SystemProfile> profile = add_times(request, board, system);
  const std::string hash = board::hash_of(board);
  bool is_assumed = false;
  board = with_assumed_power(std::move(board), is_assumed);
  return {{std::move(system), std::move(board), hash, is_assumed, {}, MILLRACE_VERSION},
          Networks(request.context),
          std::move(profile)};
}

/// Leaves out of each assignment the engines that competed and run no layer of its plan.
void leave_out_engines(const std::vector<std::shared_ptr<explore::GroupSource>>& sources,
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

/// Before the work.
void check_edges(const system::System& system,
                 const std::vector<std::shared_ptr<explore::GroupSource>>& sources) {
  std::vector<const network::Network*> networks;
  for (const auto& source : sources)
    networks.push_back(source == nullptr ? nullptr : source->network);
  application::check(edges_of(system, std::move(networks)));
}

}  // namespace

DeployResult deploy_system(const DeployRequest& request) {
  OpenedSystem opened = open(request);
  explore::decides_by_mapping(request.method, opened.system.system);  // before the work
  add_sources(request, opened);
  const auto sources = opened.system.sources;
  check_edges(opened.system.system, sources);
  DeployResult result = explore::deploy(std::move(opened.system), request, request.context);
  const bool is_here = result.system.board.empty();
  if (result.deployment && is_here) leave_out_engines(sources, request.context, *result.deployment);
  if (result.deployment && is_here && samples_of(request) > 0)
    result.refusal = measure_decided(request, result);
  if (result.deployment && result.mappings)  // with the times that it has now
    result.mappings->methods.front().found.value =
        explore::value_of(*result.deployment, result.board, request.analysis);
  return result;
}

}  // namespace millrace::product
