#include "report/stages.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/table.h"
#include "report/variants.h"

namespace millrace::report {
namespace {

struct Place {
  std::size_t stage = 0, phase = 0;
  bool operator==(const Place&) const = default;
};

/// Of replicas the first.
std::vector<Place> places_of(const plan::Plan& plan, const network::Network& network) {
  std::vector<Place> places(network.layers.size());
  for (std::size_t s = plan.stages.size(); s-- > 0;)
    for (std::size_t p = 0; p < plan.stages[s].phases.size(); ++p)
      for (const LayerId layer : plan.stages[s].phases[p].layers) places[layer.index] = {s, p};
  return places;
}

/// What `value` says of the stage and of its replicas, which have the same layers.
template <class Value>
std::string of_replicas(const plan::Plan& plan, std::size_t stage, Value value) {
  std::string text;
  for (const plan::Stage& each : plan.stages)
    if (each.phases.front().layers == plan.stages[stage].phases.front().layers)
      text += (text.empty() ? "" : ", ") + value(each);
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
  const std::vector<Place> places = places_of(plan, network);
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
      const auto name = [](const plan::Stage& each) { return each.name; };
      const auto processor = [](const plan::Stage& each) { return each.processor.name; };
      std::vector<std::string> row{of_replicas(plan, places[first].stage, name),
                                   of_replicas(plan, places[first].stage, processor),
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

std::string stages_text(const plan::Plan& plan, const network::Network& network) {
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
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    std::size_t layers = 0;
    double macs = 0;
    for (const plan::Phase& phase : stage.phases)
      for (const LayerId layer : phase.layers) {
        ++layers;
        macs += static_cast<double>(network::cost_of(network, layer).macs);
      }
    table.add({stage.name, stage.processor.name, stage.engine, std::to_string(layers),
               std::to_string(stage.phases.size()), count_text(macs),
               to_text(crossing(plan, network, s)), time_text(stage.predicted),
               time_text(stage.measured), variants_text(plan, network, s)});
  }
  return table.text();
}

}  // namespace millrace::report
