#include "analysis/responses.h"

#include <fmt/format.h>

#include <algorithm>

#include "deployment/events.h"
#include "realtime/analysis.h"
#include "realtime/utilisation.h"

namespace millrace::analysis {
namespace {

deployment::Operation operation_at(const deployment::Deployment& deployment,
                                   const deployment::Wanted& at) {
  deployment::Operation operation{at.scenario, at.level};
  const auto* setting = deployment::setting_for(deployment, at.scenario, at.level);
  if (setting) operation.clocks = setting->clocks;
  return operation;
}

bool is_overloaded(const realtime::TaskSystem& tasks) {
  return std::ranges::any_of(realtime::utilisations(tasks), &realtime::Utilisation::is_overloaded);
}

/// Nothing: there is no bound.
std::optional<realtime::ChainPart> part_of(const system::System& system, system::GroupId group,
                                           std::int64_t level, std::optional<Time> response) {
  if (!response) return std::nullopt;
  const realtime::EventModel events = deployment::events_of(system, group, level);
  const bool may_be_busy =
      events.events_within(*response) > deployment::most_on_the_way(system, group);
  if (may_be_busy) return std::nullopt;
  return realtime::ChainPart{realtime::longest_gap(events), *response};
}

/// None: there is no bound.
std::vector<realtime::ChainPart> chain_parts(const system::System& system,
                                          const system::Chain& chain, std::int64_t level,
                                          const std::vector<std::optional<Time>>& responses) {
  std::vector<realtime::ChainPart> parts;
  for (const system::GroupId group : chain.groups) {
    const auto part = part_of(system, group, level, responses[group.index]);
    if (!part) return {};
    parts.push_back(*part);
  }
  return parts;
}

std::string excess_of(const char* what, const std::optional<Time>& bound,
                      const std::optional<Time>& limit) {
  if (!limit || (bound && *bound <= *limit)) return "";
  if (!bound)
    return fmt::format("has no bound of its {} and {} are allowed", what, to_text(*limit));
  return fmt::format("may have a {} of {} and {} are allowed, {} too long", what, to_text(*bound),
                     to_text(*limit), to_text(*bound - *limit));
}

}  // namespace

std::vector<std::optional<Time>> response_bounds(const deployment::Deployment& deployment,
                                                 const board::Board& board,
                                                 const deployment::Wanted& at) {
  std::vector<std::optional<Time>> bounds(deployment.system.groups.size());
  const realtime::TaskSystem tasks =
      deployment::task_system(deployment, board, operation_at(deployment, at));
  if (is_overloaded(tasks)) return bounds;
  const realtime::Bounds found = realtime::analyse(tasks);
  const auto& groups = deployment.system[at.scenario].groups;
  for (std::size_t f = 0; f < groups.size(); ++f)
    if (const Time response = found.flows[f].response; response != realtime::unbounded)
      bounds[groups[f].index] = response + deployment.system.overhead;
  return bounds;
}

std::vector<ChainAnswer> chain_answers(const system::System& system, const deployment::Wanted& at,
                                       const std::vector<std::optional<Time>>& responses) {
  std::vector<ChainAnswer> answers;
  const std::vector<system::GroupId>& active = system[at.scenario].groups;
  for (std::size_t c = 0; c < system.chains.size(); ++c) {
    const system::Chain& chain = system.chains[c];
    const bool is_active = std::ranges::all_of(chain.groups, [&](system::GroupId group) {
      return std::ranges::find(active, group) != active.end();
    });
    if (!is_active) continue;
    const auto parts = chain_parts(system, chain, at.level, responses);
    answers.push_back({c, parts.empty() ? realtime::ChainBounds{} : chain_bounds(parts), parts});
  }
  return answers;
}

std::string chain_reason(const system::System& system, const std::vector<ChainAnswer>& answers) {
  for (const ChainAnswer& answer : answers) {
    const system::Chain& chain = system.chains[answer.chain];
    for (const std::string& excess : {excess_of("reaction", answer.bounds.reaction, chain.reaction),
                                      excess_of("data age", answer.bounds.age, chain.age)})
      if (!excess.empty()) return fmt::format("chain '{}' {}", chain.name, excess);
  }
  return "";
}

}  // namespace millrace::analysis
