#include "explore/precision/lowerings.h"

#include <algorithm>

#include "profile/select.h"

namespace millrace::explore {
namespace {

using board::Precision;
using profile::LayerTimes;

/// By processor, all of them measured in one precision.
using Runs = std::vector<const std::vector<LayerTimes>*>;

Runs runs_in(const profile::Profile& profile, Precision precision) {
  Runs runs;
  for (const profile::ProcessorProfile& p : profile.processors)
    if (p.precision == precision) runs.push_back(&p.layers);
  return runs;
}

/// By first layer of a fused group.
struct GroupTimes {
  std::vector<double> ns;      // the mean over the processors
  std::vector<bool> is_lower;  // some layer of the fused group really runs in the precision
};

GroupTimes group_times(const Runs& runs, const std::vector<std::size_t>& first_of,
                       Precision precision) {
  GroupTimes times{std::vector<double>(first_of.size()), std::vector<bool>(first_of.size())};
  for (const auto* layers : runs)
    for (std::size_t i = 0; i < first_of.size(); ++i) {
      const LayerTimes& layer = (*layers)[i];
      times.ns[first_of[i]] +=
          static_cast<double>(layer.together.median.count()) / static_cast<double>(runs.size());
      if (layer.variant.precision == precision) times.is_lower[first_of[i]] = true;
    }
  return times;
}

}  // namespace

std::vector<Precision> Lowerings::spread(std::vector<Precision> precisions) const {
  for (std::size_t i = 0; i < precisions.size(); ++i) precisions[i] = precisions[first_of[i]];
  return precisions;
}

Lowerings lowerings_of(const profile::Profile& measured, const std::vector<Precision>& allowed) {
  const Precision base = *std::min_element(allowed.begin(), allowed.end());
  Runs all;
  for (const Precision precision : allowed)
    for (const auto* layers : runs_in(measured, precision)) all.push_back(layers);
  Lowerings result;
  result.first_of = profile::fusion_groups_of(all);
  result.problem.base.assign(result.first_of.size(), base);
  const GroupTimes before = group_times(runs_in(measured, base), result.first_of, base);
  for (const Precision precision : allowed) {
    if (precision == base) continue;
    const GroupTimes after = group_times(runs_in(measured, precision), result.first_of, precision);
    for (std::size_t i = 0; i < result.first_of.size(); ++i) {
      const double saved = before.ns[i] - after.ns[i];
      if (after.is_lower[i] && saved > 0)
        result.problem.lowerings.push_back({LayerId(i), precision, saved});
    }
  }
  return result;
}

}  // namespace millrace::explore
