#include "explore/system/group_source.h"

#include <algorithm>

#include "explore/followers.h"
#include "explore/system/methods.h"
#include "profile/cost_model.h"
#include "profile/select.h"

namespace millrace::explore {
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

std::unique_ptr<GroupSource> group_source(const GroupOnBoard& of,
                                          const GroupSourceOptions& options) {
  auto source = std::make_unique<GroupSource>();
  source->network = &of.network;
  source->board =
      board::only(of.board, !options.processors.empty() ? options.processors
                                                        : processors_for_networks(of.board));
  source->engine = options.engine;
  const auto& precisions = of.group.precisions;
  const profile::Profile all =
      of.is_modelled ? profile::modelled(of.network, source->board, precisions)
                     : profile_of_first(options.ranks,
                                        [&] { return options.measure(of.network, source->board); });
  source->profile = profile::select(all, precisions);
  source->build.engine = source->engine;
  source->problem = make_problem(of.network, source->board, source->profile);
  source->estimated = estimated_problem(source->problem, source->board);
  if (!of.is_modelled && options.sums_of_worst)
    source->worst = make_problem(of.network, source->board, with_worst_cases(source->profile));
  source->context = std::make_unique<SearchContext>(
      SearchContext{of.network, source->board, source->problem, source->build});
  source->estimated_context = std::make_unique<SearchContext>(
      SearchContext{of.network, source->board, source->estimated, source->build});
  return source;
}

GroupModel group_model(const GroupSource& source, const system::System& system,
                       system::GroupId group, const board::Board& board) {
  GroupModel model{*source.context, board};
  model.period = period_of(system, group, system.levels - 1);
  model.preprocess = system[group].preprocess.value_or(Time{});
  model.postprocess = system[group].postprocess.value_or(Time{});
  if (source.worst) model.worst = &*source.worst;
  return model;
}

GroupModel estimated_model(const GroupSource& source, const GroupModel& actual) {
  GroupModel model{*source.estimated_context, actual.board};
  model.period = actual.period;
  model.preprocess = actual.preprocess;
  model.postprocess = actual.postprocess;
  model.worst = actual.worst;
  model.deviation = actual.deviation;
  return model;
}

}  // namespace millrace::explore
