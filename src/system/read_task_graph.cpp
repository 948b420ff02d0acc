#include "system/read_task_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "board/read_values.h"
#include "dataflow/sdf3.h"
#include "network/tensor.h"
#include "system/task_edges.h"

namespace millrace::system {
namespace {

constexpr std::array<std::string_view, 3> graph_task_keys{"name", "on", "code"};
constexpr std::array<std::string_view, 3> times_keys{"worst_ms", "average_ms", "best_ms"};
constexpr std::array<std::string_view, 4> code_keys{"plugin", "source", "function", "parameters"};
constexpr std::array<std::string_view, 9> edge_keys{
    "from", "to", "produces", "consumes", "tokens", "bytes", "type", "shape", "output"};
constexpr std::int64_t largest_dimension = 1'000'000'000;
constexpr int most_outputs = 1000;
constexpr board::Bounds of_worst{0, 1e9, true}, of_other_times{0, 1e9};
constexpr double longest_us = 1e12;
constexpr std::int64_t most_tokens = 1'000'000'000;

Time milliseconds_of(const YamlView& view, const board::Bounds& bounds) {
  return Time(std::llround(board::read_number(view, bounds) * 1e6));
}

TimesOn read_times(const YamlView& view, const std::string& processor) {
  TimesOn result{.processor = processor};
  if (view.is_scalar()) {
    result.worst = result.average = milliseconds_of(view, of_worst);
    return result;
  }
  view.only(times_keys);
  result.worst = result.average = milliseconds_of(view.at("worst_ms"), of_worst);
  if (view.has("average_ms"))
    result.average = milliseconds_of(view.at("average_ms"), of_other_times);
  if (view.has("best_ms")) result.best = milliseconds_of(view.at("best_ms"), of_other_times);
  return result;
}

bool is_identifier(const std::string& text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

TaskCode read_code(const YamlView& view, const PathOf& path_of) {
  view.only(code_keys);
  TaskCode code;
  if (!view.has("plugin") && !view.has("source"))
    view.fail("has neither 'plugin' nor 'source'; give one of the two, or both");
  if (view.has("plugin")) code.plugin = path_of(view.at("plugin"));
  if (view.has("source")) code.source = path_of(view.at("source"));
  code.function = view.at("function").text();
  if (!is_identifier(code.function))
    view.at("function").fail("expected the name of a C++ function: letters, digits and '_'");
  if (view.has("parameters"))
    for (const std::string& key : view.at("parameters").keys())
      code.parameters[key] = view.at("parameters").at(key).scalar();
  return code;
}

GraphTask read_task(const YamlView& view, board::Names& names, const PathOf& path_of) {
  view.only(graph_task_keys);
  GraphTask task{.name = names.add(view.at("name")), .on = {}, .code = {}, .place = view.place()};
  if (!view.has("on")) view.fail("can run on no processor; add 'on', such as on: {cpu: 2.5}");
  for (const std::string& processor : view.at("on").keys())
    task.on.push_back(read_times(view.at("on").at(processor), processor));
  if (view.has("code")) task.code = read_code(view.at("code"), path_of);
  return task;
}

std::size_t node_of(const YamlView& view, const TaskGraph& graph, bool has_network) {
  const std::string name = view.text();
  std::vector<std::string_view> known;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    if (graph.tasks[t].name == name) return t;
    known.push_back(graph.tasks[t].name);
  }
  if (name == network_node && has_network) return graph.network();
  if (name == network_node) view.fail("the group has no network; give it a 'model'");
  if (has_network) known.push_back(network_node);
  view.fail(fmt::format("there is no task '{}'{}", name, did_you_mean(name, known)));
}

/// InputError if the size is said twice, and differently.
void read_token(const YamlView& view, GraphEdge& edge) {
  if (view.has("shape") && !view.has("type"))
    view.fail("has a 'shape' without a 'type'; add one, such as type: uint8");
  if (!view.has("type")) return;
  TokenType& token = edge.token.emplace();
  const auto type = network::data_type_named(view.at("type").text());
  if (!type)
    view.at("type").fail(
        fmt::format("found '{}', expected a type of numbers, such as uint8 or "
                    "float32",
                    view.at("type").text()));
  token.type = *type;
  if (view.has("shape"))
    for (const YamlView& size : view.at("shape").items())
      token.shape.push_back(board::read_count(size, 1, largest_dimension));
  const std::int64_t bytes = size_of(token).count;
  if (edge.bytes != 0 && edge.bytes != bytes)
    view.fail(fmt::format("says that a token has {} bytes, and a {} has {}; remove 'bytes'",
                          edge.bytes, to_text(token), bytes));
  edge.bytes = bytes;
}

GraphEdge read_edge(const YamlView& view, const TaskGraph& graph, bool has_network) {
  view.only(edge_keys);
  GraphEdge edge{node_of(view.at("from"), graph, has_network),
                 node_of(view.at("to"), graph, has_network)};
  const auto read = [&](const char* key, int least, std::int64_t& into) {
    if (view.has(key)) into = board::read_count(view.at(key), least, most_tokens);
  };
  read("produces", 1, edge.produces);
  read("consumes", 1, edge.consumes);
  read("tokens", 0, edge.tokens);
  read("bytes", 0, edge.bytes);
  read_token(view, edge);
  if (view.has("output")) edge.output = board::read_count(view.at("output"), 0, most_outputs);
  edge.place = view.place();
  return edge;
}

/// Times of each processor type that the file knows, in microseconds.
TaskGraph read_sdf3_graph(const YamlView& view, bool has_network, const PathOf& path_of) {
  const std::string path = path_of(view);
  const dataflow::Sdf3File file = dataflow::read_sdf3(path);
  TaskGraph result;
  std::vector<std::size_t> node;  // by actor
  for (std::size_t a = 0; a < file.graph.actors.size(); ++a) {
    const dataflow::Actor& actor = file.graph.actors[a];
    if (has_network && actor.name == network_node) {
      node.push_back(file.graph.actors.size() - 1);
      continue;
    }
    const std::string place = fmt::format("{}: actor '{}'", path, actor.name);
    if (actor.times.size() > 1)
      throw InputError(place, "has several phases, expected one: a task has one function");
    GraphTask task{.name = actor.name, .on = {}, .code = {}, .place = place};
    for (const auto& [type, time] : file.times_by_type[a]) {
      const double us = static_cast<double>(time) / static_cast<double>(file.ticks);
      if (!(us <= longest_us))
        throw InputError(place, fmt::format("takes {:.4g} us on '{}', expected at most {:.4g}", us,
                                            type, longest_us));
      const Time worst(std::llround(1e3 * us));
      task.on.push_back({type, worst, worst, Time{}});
    }
    node.push_back(result.tasks.size());
    result.tasks.push_back(std::move(task));
  }
  for (const dataflow::Channel& channel : file.graph.channels)
    result.edges.push_back({node[channel.from.index], node[channel.to.index],
                            channel.production.front(), channel.consumption.front(),
                            channel.initial_tokens, (channel.token_bits + 7) / 8,
                            fmt::format("{}: channel '{}'", path, channel.name)});
  return result;
}

}  // namespace

TaskGraph read_task_graph(const YamlView& group, bool has_network, const PathOf& path_of) {
  if (group.has("graph")) {
    for (const char* key : {"tasks", "edges"})
      if (group.has(key))
        group.at(key).fail("found beside 'graph', which says it; remove one of the two");
    return read_sdf3_graph(group.at("graph"), has_network, path_of);
  }
  TaskGraph graph;
  board::Names names("task");
  if (group.has("tasks"))
    for (const YamlView& task : group.at("tasks").items())
      graph.tasks.push_back(read_task(task, names, path_of));
  if (!group.has("edges")) return graph;
  if (graph.empty()) group.at("edges").fail("found without 'tasks'; add them");
  for (const YamlView& edge : group.at("edges").items())
    graph.edges.push_back(read_edge(edge, graph, has_network));
  return graph;
}

}  // namespace millrace::system
