#include "present/results/dataflow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json_text.h"
#include "dataflow/parts.h"
#include "present/text/table.h"

namespace millrace::present {
namespace {

using namespace dataflow;

/// Time in the file's unit.
Fraction in_file(const Fraction& ticks, const Sdf3File& file) {
  return ticks / Fraction(file.ticks);
}

/// "12" or "13/2".
std::string short_text(const Fraction& fraction) {
  return fraction.under() == 1 ? fmt::to_string(fraction.over()) : fraction.text();
}

nlohmann::json number(const Fraction& fraction) {
  if (fraction.under() == 1) return fraction.over();
  return fraction.value();
}

/// Actors of the critical cycle in the order in which they first come.
std::vector<ActorId> actors_of(const std::vector<CycleStep>& cycle) {
  std::vector<ActorId> actors;
  for (const CycleStep& step : cycle)
    if (std::find(actors.begin(), actors.end(), step.actor) == actors.end())
      actors.push_back(step.actor);
  return actors;
}

std::vector<std::string> channels_of(const Graph& graph, const std::vector<CycleStep>& cycle) {
  std::vector<std::string> names;
  std::vector<bool> seen(graph.channels.size(), false);
  for (const CycleStep& step : cycle)
    if (step.channel.valid() && !seen[step.channel.index]) {
      seen[step.channel.index] = true;
      names.push_back(graph[step.channel].name);
    }
  return names;
}

std::string critical_text(const Graph& graph, const std::vector<CycleStep>& cycle) {
  std::vector<std::string> names;
  for (ActorId actor : actors_of(cycle)) names.push_back(graph[actor].name);
  const auto channels = channels_of(graph, cycle);
  return fmt::format("{}{} ({} firings)", fmt::join(names, ", "),
                     channels.empty() ? "" : fmt::format(", through {}", fmt::join(channels, ", ")),
                     cycle.size());
}

nlohmann::json capacities_json(const Graph& graph, const Capacities& capacities) {
  nlohmann::json result = nlohmann::json::object();
  for (std::size_t c = 0; c < capacities.size(); ++c)
    if (capacities[c] > 0) result[graph.channels[c].name] = capacities[c];
  return result;
}

nlohmann::json bytes_json(const Graph& graph, const Capacities& capacities) {
  const auto bytes = total_bytes(graph, capacities);
  return bytes ? nlohmann::json(bytes->count) : nlohmann::json();
}

std::string throughput_text(const Fraction& period) {
  return period.over() == 0 ? "unlimited" : period.inverse().text();
}

nlohmann::json pareto_json(const Sdf3File& file, const ParetoFront& front) {
  nlohmann::json points = nlohmann::json::array();
  for (const Sizing& point : front.points)
    points.push_back(
        {{"tokens", point.total},
         {"bytes", bytes_json(file.graph, point.capacities)},
         {"throughput_iterations_per_time", throughput_text(in_file(point.period, file))},
         {"buffers", capacities_json(file.graph, point.capacities)}});
  return {{"points", points}, {"complete", front.complete}, {"explored_tokens", front.explored}};
}

nlohmann::json cycle_json(const Graph& graph, const std::vector<CycleStep>& cycle) {
  nlohmann::json names = nlohmann::json::array();
  for (ActorId actor : actors_of(cycle)) names.push_back(graph[actor].name);
  return names;
}

void add_throughput(nlohmann::json& json, const Sdf3File& file, const Throughput& found) {
  json["critical_cycle"] = cycle_json(file.graph, found.critical_cycle);
  json["critical_channels"] = channels_of(file.graph, found.critical_cycle);
  json["unlimited"] = found.is_unlimited();
  if (!found.is_live()) {
    json["throughput_iterations_per_time"] = "0/1";
    return;
  }
  const Fraction period = in_file(found.period(), file);
  json["period_time"] = period.text();
  if (!found.is_unlimited()) json["throughput_iterations_per_time"] = period.inverse().text();
}

void add_buffers(nlohmann::json& json, const Graph& graph, const Sizing& buffers) {
  json["buffers"] = capacities_json(graph, buffers.capacities);
  json["buffers_tokens"] = buffers.total;
  json["buffers_bytes"] = bytes_json(graph, buffers.capacities);
  json["buffers_bound_tokens"] = buffers.bound;
  json["buffers_are_smallest"] = buffers.is_smallest();
}

std::string actors_text(const Sdf3File& file, const Answers& answers) {
  Table table({{"actor", Align::left}, {"cycles"}, {"phases"}, {"time of a cycle"}});
  constexpr std::size_t most_rows = 60;
  for (std::size_t a = 0; a < std::min(most_rows, answers.cycles.size()); ++a) {
    const Actor& actor = file.graph.actors[a];
    Fraction time;
    for (Time phase : actor.times) time = time + Fraction(phase.count());
    table.add({actor.name, fmt::to_string(answers.cycles[a]), fmt::to_string(actor.times.size()),
               short_text(in_file(time, file))});
  }
  const std::size_t rest = answers.cycles.size() - std::min(most_rows, answers.cycles.size());
  return table.text() + (rest > 0 ? fmt::format("and {} more; ⟨json⟩ has all\n", rest) : "");
}

std::string buffers_text(const Sdf3File& file, const Answers& answers) {
  if (answers.buffers_left_out)
    return "buffers      left out, because an iteration has many firings; give ⟨budget⟩ SECONDS\n";
  if (!answers.buffers_wanted) return "";
  if (!answers.buffers) return "buffers      none found with this throughput\n";
  const Sizing& sizing = *answers.buffers;
  const auto bytes = total_bytes(file.graph, sizing.capacities);
  std::string text = fmt::format(
      "buffers      {} tokens{}{} for {} iterations per time\n\n", sizing.total,
      bytes ? fmt::format(", {}", millrace::to_text(*bytes)) : "",
      sizing.is_smallest() ? ", the smallest"
                           : fmt::format(" (stopped early; no less than {} can do)", sizing.bound),
      throughput_text(in_file(sizing.period, file)));
  Table table({{"channel", Align::left}, {"tokens"}});
  constexpr std::size_t most_rows = 60;
  std::size_t rows = 0;
  for (std::size_t c = 0; c < sizing.capacities.size(); ++c)
    if (sizing.capacities[c] > 0 && rows++ < most_rows)
      table.add({file.graph.channels[c].name, fmt::to_string(sizing.capacities[c])});
  return text + table.text() +
         (rows > most_rows ? fmt::format("and {} more; ⟨json⟩ has all\n", rows - most_rows) : "");
}

/// A bar per point, as long as its throughput.
std::string pareto_text(const Sdf3File& file, const ParetoFront& front) {
  constexpr double longest = 50;
  Table table({{"tokens"}, {"bytes"}, {"throughput"}, {"", Align::left}});
  for (const Sizing& point : front.points) {
    const auto bytes = total_bytes(file.graph, point.capacities);
    const double fastest = front.points.back().period.value();
    const double share = point.period.over() == 0 ? 1 : fastest / point.period.value();
    table.add(
        {fmt::to_string(point.total), bytes ? millrace::to_text(*bytes) : "-",
         throughput_text(in_file(point.period, file)),
         std::string(std::max<std::size_t>(1, static_cast<std::size_t>(share * longest)), '#')});
  }
  return table.text() +
         (front.complete ? "complete: the last point has the largest throughput\n"
                         : fmt::format("stopped early; below {} tokens there are no other points\n",
                                       front.explored));
}

std::string orders_text(const Graph& graph, const std::vector<StaticOrder>& orders) {
  std::string text;
  for (const StaticOrder& order : orders) {
    text += fmt::format("order        {}:", order.processor);
    for (std::size_t i = 0; i < order.firings.size();) {
      std::size_t end = i;
      while (end < order.firings.size() && order.firings[end] == order.firings[i]) ++end;
      text += fmt::format(" {}{}", end - i > 1 ? fmt::format("{}*", end - i) : "",
                          graph[order.firings[i]].name);
      i = end;
    }
    text += "\n";
  }
  return text;
}

std::string pace_text(const Sdf3File& file, const Answers& answers) {
  const Throughput& found = *answers.throughput;
  if (found.is_unlimited()) return "throughput   unlimited: no cycle of the graph takes time\n";
  const Fraction period = in_file(found.period(), file);
  std::string text = fmt::format("throughput   {} iterations per time (one every {})\n",
                                 period.inverse().text(), short_text(period));
  if (!found.critical_cycle.empty())
    text += fmt::format("critical     {}\n", critical_text(file.graph, found.critical_cycle));
  return text;
}

}  // namespace

std::string answers_json(const Sdf3File& file, const Answers& answers) {
  const Graph& graph = file.graph;
  nlohmann::json json = {{"name", graph.name},
                         {"consistent", answers.consistent},
                         {"live", answers.live},
                         {"reason", answers.reason},
                         {"throughput_iterations_per_time", nullptr},
                         {"latency_time", nullptr},
                         {"critical_cycle", nlohmann::json::array()},
                         {"buffers", nullptr}};
  nlohmann::json cycles = nlohmann::json::object();
  for (std::size_t a = 0; a < answers.cycles.size(); ++a)
    cycles[graph.actors[a].name] = answers.cycles[a];
  json["repetition_vector"] = answers.consistent ? cycles : nlohmann::json();
  if (answers.throughput) add_throughput(json, file, *answers.throughput);
  if (answers.latency)
    json["latency_time"] = number(in_file(Fraction(answers.latency->count()), file));
  if (answers.buffers) add_buffers(json, graph, *answers.buffers);
  if (answers.pareto) json["pareto"] = pareto_json(file, *answers.pareto);
  for (const StaticOrder& order : answers.orders)
    for (ActorId actor : order.firings)
      json["orders"][order.processor].push_back(graph[actor].name);
  return json_document("dataflow", std::move(json));
}

std::string answers_text(const Sdf3File& file, const Answers& answers) {
  std::string text = fmt::format("{}: {} actors, {} channels\n\n", file.graph.name,
                                 file.graph.actors.size(), file.graph.channels.size());
  if (!answers.consistent) return text + "consistent   no\n";
  text += actors_text(file, answers) + "\nconsistent   yes\n";
  text += orders_text(file.graph, answers.orders);
  if (!answers.throughput)
    return text + "throughput   not found within the limits of this method; try another ⟨method⟩\n";
  text += fmt::format("live         {}\n", answers.live ? "yes" : "no");
  if (!answers.live) return text;
  text += pace_text(file, answers);
  if (answers.latency)
    text += fmt::format("latency      {} for the first iteration\n",
                        short_text(in_file(Fraction(answers.latency->count()), file)));
  text += buffers_text(file, answers);
  if (answers.pareto) text += "\n" + pareto_text(file, *answers.pareto);
  return text;
}

std::vector<std::string> unconnected_parts(const Graph& graph) {
  const auto parts = connected_parts(graph);
  std::vector<std::string> texts;
  for (std::size_t p = 1; p < parts.size(); ++p)
    texts.push_back(
        fmt::format("actor '{}' is not connected with actor '{}': each part has its own iteration, "
                    "and the throughput is that of the slowest",
                    graph.actors[parts[p].front()].name, graph.actors[parts.front().front()].name));
  return texts;
}

}  // namespace millrace::present
