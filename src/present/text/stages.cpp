#include "present/text/stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "plan/steps.h"
#include "present/text/table.h"
#include "present/text/variants.h"

namespace millrace::present {
namespace {

/// What `value` says of each replica of the stage.
template <class Value>
std::string of_replicas(const plan::Stage& stage, Value value) {
  std::string text;
  for (std::size_t r = 0; r < stage.processors.size(); ++r)
    text += (text.empty() ? "" : ", ") + value(r);
  return text;
}

bool has_batches(const plan::Plan& plan) {
  return std::any_of(plan.stages.begin(), plan.stages.end(), [](const plan::Stage& stage) {
    return std::any_of(stage.phases.begin(), stage.phases.end(),
                       [](const plan::Phase& phase) { return phase.batch > 1; });
  });
}

std::string run_text(const network::Network& network, std::size_t first, std::size_t last) {
  const std::string& from = network.layers[first].name;
  if (first == last) return from;
  return fmt::format("{} .. {} ({} layers)", from, network.layers[last].name, last - first + 1);
}

std::string time_text(Time time) { return time == Time{} ? "-" : to_text(time); }

Bytes crossing(const plan::Plan& plan, const network::Network& network, std::size_t stage) {
  Bytes sum;
  for (const plan::Channel& channel : plan.channels)
    if (channel.to.stage == stage && channel.from.stage != stage)
      sum += network[channel.tensor].size();
  return sum;
}

}  // namespace

std::string groups_text(const plan::Plan& plan, const network::Network& network) {
  const std::vector<plan::Endpoint> places = plan::places_of_layers(plan);
  const bool gathers = has_batches(plan);
  std::vector<Table::Column> columns{
      {"stage", Align::left}, {"processor", Align::left}, {"phase"}, {"layers", Align::left}};
  if (gathers) columns.insert(columns.begin() + 3, {"frames at once"});
  Table table(columns);
  constexpr std::size_t most_rows = 24;
  std::size_t rows = 0, hidden = 0;
  for (std::size_t first = 0; first < places.size();) {
    std::size_t last = first;
    while (last + 1 < places.size() && places[last + 1] == places[first]) ++last;
    const plan::Stage& stage = plan.stages[places[first].stage];
    if (++rows <= most_rows) {
      const auto name = [&](std::size_t replica) { return plan::name_of(stage, replica); };
      const auto processor = [&](std::size_t replica) { return stage.processors[replica].name; };
      std::vector<std::string> row{of_replicas(stage, name), of_replicas(stage, processor),
                                   std::to_string(places[first].phase + 1)};
      if (gathers) row.push_back(std::to_string(stage.phases[places[first].phase].batch));
      row.push_back(run_text(network, first, last));
      table.add(std::move(row));
    } else {
      ++hidden;
    }
    first = last + 1;
  }
  return table.text() + (hidden == 0 ? "" : fmt::format("... and {} more groups\n", hidden));
}

namespace {

/// The engines that run, if there are several that may run together.
std::string engines_text(const plan::Plan& plan, const plan::Stage& stage) {
  std::set<std::string> names;
  for (const plan::Phase& phase : stage.phases)
    for (const LayerId layer : phase.layers)
      names.insert(board::engine_of(
          stage.engine, plan.variants.empty() ? board::Variant{} : plan.variants[layer.index]));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string stages_text(const plan::Plan& plan, const plan::Evidence& evidence,
                        const network::Network& network) {
  Table table({{"stage", Align::left},
               {"processor", Align::left},
               {"engine", Align::left},
               {"layers"},
               {"phases"},
               {"MACs"},
               {"bytes in"},
               {"predicted"},
               {"measured"},
               {"variants", Align::left}});
  for (std::size_t s = 0, actor = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    std::size_t layers = 0;
    double macs = 0;
    for (const plan::Phase& phase : stage.phases)
      for (const LayerId layer : phase.layers) {
        ++layers;
        macs += static_cast<double>(network::cost_of(network, layer).macs);
      }
    for (std::size_t r = 0; r < stage.processors.size(); ++r, ++actor) {
      const plan::ReplicaEvidence& found = evidence.replicas[actor];
      table.add({plan::name_of(stage, r), stage.processors[r].name, engines_text(plan, stage),
                 std::to_string(layers), std::to_string(stage.phases.size()), count_text(macs),
                 to_text(crossing(plan, network, s)), time_text(found.predicted),
                 time_text(found.measured), variants_text(plan, network, s)});
    }
  }
  std::string text = table.text();
  for (const std::string& note : plan::border_notes(plan, evidence)) text += note + "\n";
  for (const std::string& note : plan::feeding_notes(plan, evidence)) text += note + "\n";
  return text;
}

}  // namespace millrace::present
