#include "product/deployment/deploy_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "explore/system/deploy_graphs.h"

namespace millrace::product {
namespace {

/// For options of networks without tasks beside them; if networks and tasks are decided together,
/// they would change nothing, or the sound analysis.
void refuse_options_of_networks(const DeployRequest& request, const system::System& system) {
  const realtime::AnalysisOptions sound;
  const bool has_equations =
      request.analysis.priorities != sound.priorities || request.analysis.queues != sound.queues;
  const bool has_network = std::ranges::any_of(system.groups, &system::Group::has_network);
  if (request.max_rate)
    throw InputError("⟨max_rate⟩",
                     "is not for groups with task graphs; leave it out, and `millrace analyze "
                     "DEPLOYMENT ⟨max_rate⟩` finds the rates");
  if (request.clocks != explore::ClockSearch::search)
    throw InputError("⟨clocks⟩",
                     "is not for groups with task graphs, whose clocks stay at their highest; "
                     "leave it out");
  if (has_equations)
    throw InputError("⟨equations⟩",
                     "is not for groups with task graphs, whose deadlines the sound analysis "
                     "judges; leave it out");
  if (!has_network && request.front != DeployRequest{}.front)
    throw InputError("⟨front⟩",
                     "no group has a network whose plans could be searched; leave it out");
}

}  // namespace

std::int64_t samples_of(const DeployRequest& request) {
  constexpr std::int64_t usual_samples = 200;
  return request.samples.value_or(usual_samples);
}

void refuse_options_without_effect(const DeployRequest& request, const system::System& system) {
  const bool is_modelled = !system.board.empty();
  if (is_modelled && request.samples)
    throw InputError("⟨samples⟩", "is for this machine; times of the board '" + system.board +
                                      "' are modelled, so leave it out");
  if (!is_modelled && request.profile.empty() && are_several(request.context.ranks))
    throw InputError("⟨profile⟩",
                     "all ranks take the times from one file; measure them with 'millrace profile "
                     "SYSTEM' first, and name it");
  if (!is_modelled && request.deviation && samples_of(request) == 0)
    throw InputError("⟨deviation⟩",
                     "is for modelled times and for the search before tasks are measured; with "
                     "⟨samples⟩ 0 worst times are the layers' own, so leave it out");
  if (explore::decides_by_mapping(request.method, system))
    refuse_options_of_networks(request, system);
}

void note_groups_that_never_run(const DeployRequest& request, const system::System& system) {
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    const auto has = [g](const system::Scenario& scenario) {
      return std::ranges::find(scenario.groups, system::GroupId(g)) != scenario.groups.end();
    };
    if (std::ranges::none_of(system.scenarios, has))
      request.context.note(fmt::format(
          "{}: group '{}' is in no scenario, so it never runs; add it to one, or leave it out",
          request.system, system.groups[g].name));
  }
}

}  // namespace millrace::product
