#include "profile/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace millrace::profile {
namespace {

using Entries = std::vector<const ProcessorProfile*>;

/// Without end if the processor cannot run it.
double nanoseconds_of(const LayerTimes& layer) {
  if (!layer.refusal.empty()) return std::numeric_limits<double>::infinity();
  return static_cast<double>(layer.together.median.count());
}

/// Why none of the entries can run the layer: of each precision, where the reasons differ.
std::string refusal_of(const Entries& entries, std::size_t layer) {
  const std::string& first = entries.front()->layers[layer].refusal;
  const bool alike = std::all_of(entries.begin(), entries.end(), [&](const ProcessorProfile* each) {
    return each->layers[layer].refusal == first;
  });
  if (alike) return first;
  std::string result;
  for (const ProcessorProfile* each : entries)
    result += fmt::format("{}in {}: {}", result.empty() ? "" : ", ", to_text(each->precision),
                          each->layers[layer].refusal);
  return result;
}

/// The first that can run any layer: others have no times, nor costs of borders.
const ProcessorProfile& first_with_times(const Entries& entries) {
  const auto found = std::ranges::find_if(entries, [](const ProcessorProfile* each) {
    return std::ranges::any_of(each->layers,
                               [](const LayerTimes& layer) { return layer.refusal.empty(); });
  });
  return found == entries.end() ? *entries.front() : **found;
}

/// The first entry with times, with the layers of others where those are faster.
ProcessorProfile fastest_of(const Entries& entries) {
  ProcessorProfile result = first_with_times(entries);
  if (entries.size() == 1) return result;
  std::vector<const std::vector<LayerTimes>*> layers;
  for (const ProcessorProfile* entry : entries) layers.push_back(&entry->layers);
  const std::vector<std::size_t> groups = fusion_groups_of(layers);
  std::vector<std::vector<double>> sums(entries.size(), std::vector<double>(groups.size()));
  for (std::size_t e = 0; e < entries.size(); ++e)
    for (std::size_t i = 0; i < groups.size(); ++i)
      sums[e][groups[i]] += nanoseconds_of(entries[e]->layers[i]);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::size_t best = 0;
    for (std::size_t e = 1; e < entries.size(); ++e)
      if (sums[e][groups[i]] < sums[best][groups[i]]) best = e;
    result.layers[i] = entries[best]->layers[i];
    if (result.layers[i].refusal.empty()) continue;
    result.layers[i].refusal = refusal_of(entries, i);
    result.layers[i].refused_by_board = std::ranges::any_of(
        entries, [&](const ProcessorProfile* each) { return each->layers[i].refused_by_board; });
  }
  return result;
}

const ProcessorProfile& entry_of(const Profile& profile, const board::Processor& processor,
                                 board::Precision precision) {
  const auto found = std::find_if(
      profile.processors.begin(), profile.processors.end(),
      [&](const auto& p) { return p.processor == processor && p.precision == precision; });
  if (found == profile.processors.end())
    throw InputError("the profile",
                     fmt::format("has no times for {} in {}; run `millrace "
                                 "profile ⟨precision⟩ {}`",
                                 processor.name, to_text(precision), to_text(precision)));
  return *found;
}

/// The profile with one entry per processor, in the order in which they come first.
Profile for_each_processor(const Profile& profile,
                           const std::function<ProcessorProfile(const board::Processor&)>& entry) {
  Profile result = profile;
  result.processors.clear();
  std::vector<board::Processor> seen;
  for (const ProcessorProfile& each : profile.processors) {
    if (std::find(seen.begin(), seen.end(), each.processor) != seen.end()) continue;
    seen.push_back(each.processor);
    result.processors.push_back(entry(each.processor));
  }
  return result;
}

}  // namespace

std::vector<std::size_t> fusion_groups_of(const std::vector<const std::vector<LayerTimes>*>& runs) {
  std::vector<std::size_t> first(runs.front()->size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  const auto group_of = [&](std::size_t layer) {
    while (first[layer] != layer) layer = first[layer];
    return layer;
  };
  for (const auto* layers : runs)
    for (std::size_t i = 0; i < first.size(); ++i)
      if (const auto head = (*layers)[i].fused_into) {
        const std::size_t a = group_of(i), b = group_of(head->index);
        first[std::max(a, b)] = std::min(a, b);
      }
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = group_of(i);
  return first;
}

Profile select(const Profile& profile, const std::vector<board::Precision>& precisions) {
  return for_each_processor(profile, [&](const board::Processor& processor) {
    Entries entries;
    for (const board::Precision precision : precisions)
      entries.push_back(&entry_of(profile, processor, precision));
    return fastest_of(entries);
  });
}

Profile select_by_layer(const Profile& profile, const std::vector<board::Precision>& precisions) {
  return for_each_processor(profile, [&](const board::Processor& processor) {
    ProcessorProfile result;
    for (std::size_t i = 0; i < precisions.size(); ++i) {
      const ProcessorProfile& entry = entry_of(profile, processor, precisions[i]);
      if (i == 0) result = entry;
      result.layers[i] = entry.layers[i];
    }
    return result;
  });
}

void extend(Profile& profile, const Profile& more) {
  for (const ProcessorProfile& entry : more.processors) {
    std::erase_if(profile.processors, [&](const ProcessorProfile& old) {
      return old.processor == entry.processor && old.precision == entry.precision;
    });
    profile.processors.push_back(entry);
  }
}

}  // namespace millrace::profile
