#include "system/read_task_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/file.h"
#include "board/read_values.h"
#include "network/tensor.h"
#include "system/read_task_code.h"
#include "system/task_edges.h"

namespace millrace::system {
namespace {

constexpr std::array<std::string_view, 4> graph_task_keys{"name", "on", "code", "network"};
constexpr std::array<std::string_view, 6> task_network_keys{"model",  "weights", "size",
                                                            "shapes", "fix",     "batch"};
constexpr int most_batch = 1000;
constexpr std::array<std::string_view, 3> times_keys{"worst_ms", "average_ms", "best_ms"};
constexpr std::array<std::string_view, 9> edge_keys{
    "from", "to", "produces", "consumes", "tokens", "bytes", "type", "shape", "output"};
constexpr std::int64_t largest_dimension = 1'000'000'000;
constexpr std::int64_t most_numbers = 1'000'000'000;  // of a token
constexpr int most_outputs = 1000;
constexpr board::Bounds of_worst{1e-6, 1e9}, of_other_times{0, 1e9};  // a nanosecond
constexpr std::string_view to_be_measured = "measured";
constexpr std::int64_t most_tokens = 1'000'000'000;

Time milliseconds_of(const YamlView& view, const board::Bounds& bounds) {
  return Time(std::llround(board::read_number(view, bounds) * 1e6));
}

TimesOn read_times(const YamlView& view, const std::string& processor) {
  TimesOn result{.processor = processor};
  if (view.is_text() && view.text() == to_be_measured) return result;
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

/// With their times; or a list of those on which the task is to be measured.
std::vector<TimesOn> read_processors(const YamlView& view) {
  std::vector<TimesOn> result;
  if (view.is_map()) {
    for (const std::string& processor : view.keys())
      result.push_back(read_times(view.at(processor), processor));
    return result;
  }
  for (const YamlView& item : view.items()) {
    result.push_back({.processor = item.text()});
    if (std::ranges::count(result, item.text(), &TimesOn::processor) > 1)
      item.fail(fmt::format("'{}' is given twice; give it once", item.text()));
  }
  return result;
}

TaskNetwork read_task_network(const YamlView& view) {
  view.only(task_network_keys);
  TaskNetwork network{formats::read_model_source(view), 1, view.place()};
  if (view.has("batch")) network.batch = board::read_count(view.at("batch"), 1, most_batch);
  return network;
}

GraphTask read_task(const YamlView& view, board::Names& names) {
  view.only(graph_task_keys);
  GraphTask task{.name = names.add(view.at("name")), .on = {}};
  task.place = view.place();
  if (!view.has("on")) view.fail("can run on no processor; add 'on', such as on: {cpu: 2.5}");
  task.on = read_processors(view.at("on"));
  if (view.has("code") && view.has("network"))
    view.at("network").fail("found beside 'code'; a task is a function or a network, remove one");
  if (view.has("code")) task.code = read_code(view.at("code"));
  if (view.has("network")) task.network = read_task_network(view.at("network"));
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

/// So many that their size in bytes is a number.
void check_numbers(const YamlView& view, const network::Shape& shape) {
  std::int64_t numbers = 1;
  for (const std::int64_t size : shape) {
    if (numbers > most_numbers / size)
      view.at("shape").fail(fmt::format(
          "a token would have more than {} numbers; choose a smaller shape", most_numbers));
    numbers *= size;
  }
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
  check_numbers(view, token.shape);
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

}  // namespace

TaskGraph read_task_graph(const YamlView& group, bool has_network) {
  if (group.has("graph")) {
    for (const char* key : {"tasks", "edges"})
      if (group.has(key))
        group.at(key).fail("found beside 'graph', which says it; remove one of the two");
    return read_sdf3_graph(group, has_network);
  }
  for (const char* key : {"code", "processors"})
    if (group.has(key))
      group.at(key).fail("is for the actors of a 'graph', which the group does not have; add it");
  TaskGraph graph;
  board::Names names("task");
  if (group.has("tasks"))
    for (const YamlView& task : group.at("tasks").items())
      graph.tasks.push_back(read_task(task, names));
  if (!group.has("edges")) return graph;
  if (graph.empty()) group.at("edges").fail("found without 'tasks'; add them");
  for (const YamlView& edge : group.at("edges").items())
    graph.edges.push_back(read_edge(edge, graph, has_network));
  return graph;
}

}  // namespace millrace::system
