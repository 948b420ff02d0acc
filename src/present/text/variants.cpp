#include "present/text/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/split.h"
#include "present/text/table.h"

namespace millrace::present {
namespace {

struct Row {
  profile::Alternative alternative;
  std::optional<double> bound;  // on its error
};

std::vector<Row> rows_of(const profile::Profile& profile, const board::Processor& processor,
                         LayerId layer) {
  std::vector<Row> rows;
  for (const profile::ProcessorProfile& entry : profile.processors)
    if (entry.processor == processor)
      for (const profile::Alternative& each : entry.layers[layer.index].alternatives)
        rows.push_back({each, entry.max_error});
  return rows;
}

std::string reason_of(const Row& row, const Row* chosen) {
  const auto& [variant, time, error] = row.alternative;
  if (chosen != nullptr && variant == chosen->alternative.variant) return "taken";
  if (row.bound && error && *error > *row.bound)
    return fmt::format("its error is above {:g}", *row.bound);
  if (chosen == nullptr) return "the layer's neighbours run in another precision";
  const double ratio = seconds(time) / std::max(seconds(chosen->alternative.time), 1e-9);
  if (ratio > 1) return fmt::format("{:.2f} times the time", ratio);
  return "not faster together with its neighbours";
}

}  // namespace

std::string variants_text(const plan::Plan& plan, const network::Network& network,
                          std::size_t stage) {
  std::map<board::Variant, int> counts;
  for (const plan::Phase& phase : plan.stages[stage].phases)
    for (const LayerId layer : phase.layers)
      if (network::cost_of(network, layer).macs > 0)
        ++counts[plan.variants.empty() ? board::Variant{} : plan.variants[layer.index]];
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [variant, count] : counts) sorted.emplace_back(count, to_text(variant));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [count, name] : sorted)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  return text.empty() ? "-" : text;
}

std::map<std::string, std::size_t> layers_by_engine(const plan::Plan& plan) {
  std::map<std::string, std::size_t> counts;
  for (const plan::Stage& stage : plan.stages)
    for (const plan::Phase& phase : stage.phases)
      for (const LayerId layer : phase.layers)
        ++counts[board::engine_of(
            stage.engine, plan.variants.empty() ? board::Variant{} : plan.variants[layer.index])];
  return counts;
}

std::string engines_text(const std::string& measured, const plan::Plan& plan) {
  const std::vector<std::string> engines = split(measured, ',');
  if (engines.size() < 2) return "";
  const auto counts = layers_by_engine(plan);
  std::string text, without;
  for (const std::string& words : engines) {
    const std::string name = words.substr(0, words.find('@'));
    const auto found = counts.find(name);
    if (found == counts.end()) without += (without.empty() ? "" : ", ") + name;
    if (found == counts.end()) continue;
    text += fmt::format("{}{} runs {} layer{}", text.empty() ? "" : ", ", name, found->second,
                        found->second == 1 ? "" : "s");
  }
  return without.empty() ? text : fmt::format("{}; measured too, but not taken: {}", text, without);
}

std::string alternatives_text(const profile::Profile& profile, const board::Processor& processor,
                              LayerId layer, const board::Variant& chosen) {
  const std::vector<Row> rows = rows_of(profile, processor, layer);
  if (rows.size() < 2) return "";
  const auto taken = std::find_if(
      rows.begin(), rows.end(), [&](const Row& row) { return row.alternative.variant == chosen; });
  Table table({{"variant", Align::left}, {"time"}, {"error"}, {"", Align::left}});
  for (const Row& row : rows) {
    const auto& [variant, time, error] = row.alternative;
    table.add({to_text(variant), to_text(time), error ? fmt::format("{:.1e}", *error) : "-",
               reason_of(row, taken == rows.end() ? nullptr : &*taken)});
  }
  return table.text();
}

}  // namespace millrace::present
