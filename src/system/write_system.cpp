#include <nlohmann/json.hpp>

#include "formats/fixed_inputs.h"
#include "formats/random_weights.h"
#include "system/read_events.h"
#include "system/system_file.h"

namespace millrace::system {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// The way to a file that is there from the folder; what is no file stays as it is.
std::string from_folder(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  if (file.empty() || !fs::is_regular_file(file, error)) return file.string();
  const fs::path way = fs::relative(file, folder.empty() ? fs::path(".") : folder, error);
  return error || way.empty() ? fs::absolute(file).string() : way.string();
}

void add_source(Json& json, const formats::ModelSource& model, const fs::path& folder) {
  json["model"] = from_folder(model.file, folder);
  if (formats::wants_random_weights(model)) json["weights"] = formats::random_weights_word;
  if (const fs::path weights = formats::named_weights(model); !weights.empty())
    json["weights"] = from_folder(weights, folder);
  if (model.size) json["size"] = *model.size;
  for (const auto& [name, shape] : model.shapes) {
    formats::ModelSource one;
    one.shapes[name] = shape;
    json["shapes"].push_back(formats::shapes_text(one));
  }
  for (const std::string& value : formats::fixed_texts(model)) json["fix"].push_back(value);
}

void add_model(Json& json, const Group& group, const fs::path& folder) {
  if (!group.application.empty()) {
    json["application"] = from_folder(group.application, folder);
    return;
  }
  if (!group.has_network()) return;
  add_source(json, group.model, folder);
  for (const board::Precision precision : group.precisions)
    json["precision"].push_back(board::to_text(precision));
}

Json to_json(const GraphTask& task, const fs::path& folder) {
  Json json = {{"name", task.name}, {"on", Json::object()}};
  for (const TimesOn& on : task.on) {
    if (!on.is_known()) {
      json["on"][on.processor] = "measured";
      continue;
    }
    json["on"][on.processor] = {{"worst_ms", milliseconds(on.worst)},
                                {"average_ms", milliseconds(on.average)},
                                {"best_ms", milliseconds(on.best)}};
  }
  if (task.network) {
    add_source(json["network"], task.network->model, folder);
    if (task.network->batch != 1) json["network"]["batch"] = task.network->batch;
  }
  const TaskCode& code = task.code;
  if (!code.plugin.empty()) json["code"]["plugin"] = from_folder(code.plugin, folder);
  if (!code.source.empty()) json["code"]["source"] = from_folder(code.source, folder);
  if (!code.function.empty()) json["code"]["function"] = code.function;
  for (const auto& [key, value] : code.parameters) json["code"]["parameters"][key] = value;
  return json;
}

Json to_json(const TaskGraph& graph, const GraphEdge& edge) {
  const auto name = [&](std::size_t node) {
    return node == graph.network() ? std::string(network_node) : graph.tasks[node].name;
  };
  Json json = {{"from", name(edge.from)}, {"to", name(edge.to)}};
  if (edge.produces != 1) json["produces"] = edge.produces;
  if (edge.consumes != 1) json["consumes"] = edge.consumes;
  if (edge.tokens != 0) json["tokens"] = edge.tokens;
  if (edge.bytes != 0 && !edge.token) json["bytes"] = edge.bytes;
  if (edge.token) {
    json["type"] = network::to_text(edge.token->type);
    if (!edge.token->shape.empty()) json["shape"] = edge.token->shape;
  }
  if (edge.output) json["output"] = *edge.output;
  return json;
}

void add_graph(Json& json, const TaskGraph& graph, const fs::path& folder) {
  for (const GraphTask& task : graph.tasks) json["tasks"].push_back(to_json(task, folder));
  for (const GraphEdge& edge : graph.edges) json["edges"].push_back(to_json(graph, edge));
}

Json to_json(const Group& group, const fs::path& folder) {
  Json json = {{"name", group.name}};
  add_model(json, group, folder);
  const auto& [least, most] = group.rates;
  json["rate_fps"] = least == most ? Json(most) : Json{least, most};
  add_events(json, group.events);
  add_budget(json, group.budget);
  if (group.deadline) json["deadline_ms"] = milliseconds(*group.deadline);
  if (group.priority) json["priority"] = *group.priority;
  if (group.preprocess) json["preprocess_ms"] = milliseconds(*group.preprocess);
  if (group.postprocess) json["postprocess_ms"] = milliseconds(*group.postprocess);
  add_graph(json, group.graph, folder);
  for (const KnownTime& time : group.times)
    json["times"].push_back({{"on", time.processor},
                             {"precision", board::to_text(time.precision)},
                             {"worst_ms", milliseconds(time.worst)},
                             {"in_ms", milliseconds(time.in)},
                             {"out_ms", milliseconds(time.out)}});
  if (!group.after.empty()) json["after"] = group.after;
  if (group.end_to_end) json["end_to_end_ms"] = milliseconds(*group.end_to_end);
  return json;
}

Json to_json(const System& system, const Scenario& scenario) {
  Json json = {{"name", scenario.name}, {"groups", Json::array()}};
  for (GroupId group : scenario.groups) json["groups"].push_back(system[group].name);
  if (scenario.share) json["share"] = *scenario.share;
  return json;
}

Json to_json(const System& system, const Transition& transition) {
  Json json = {{"from", system[transition.from].name}, {"to", system[transition.to].name}};
  if (transition.probability) json["probability"] = *transition.probability;
  return json;
}

Json to_json(const System& system, const GroupEdge& edge) {
  Json json = {{"from", system[edge.from].name}, {"to", system[edge.to].name}};
  if (!edge.output.empty()) json["output"] = edge.output;
  if (!edge.input.empty()) json["input"] = edge.input;
  json["read"] = to_text(edge.read);
  if (edge.read == EdgeRead::queue) json["capacity"] = edge.capacity;
  return json;
}

Json to_json(const System& system, const Chain& chain) {
  Json json = {{"name", chain.name}};
  for (const GroupId group : chain.groups) json["groups"].push_back(system[group].name);
  if (chain.reaction) json["reaction_ms"] = milliseconds(*chain.reaction);
  if (chain.age) json["age_ms"] = milliseconds(*chain.age);
  return json;
}

}  // namespace

Json to_json(const System& system, const fs::path& folder) {
  Json json = {{"format", 1}, {"name", system.name}};
  if (!system.board.empty()) json["board"] = from_folder(system.board, folder);
  json["levels"] = system.levels;
  json["overload"] = to_text(system.overload);
  json["overhead_ms"] = milliseconds(system.overhead);
  if (system.release_cost > Time{}) json["release_cost_ms"] = milliseconds(system.release_cost);
  for (const Group& group : system.groups) json["groups"].push_back(to_json(group, folder));
  for (const GroupEdge& edge : system.edges) json["edges"].push_back(to_json(system, edge));
  for (const Chain& chain : system.chains) json["chains"].push_back(to_json(system, chain));
  for (const Scenario& scenario : system.scenarios)
    json["scenarios"].push_back(to_json(system, scenario));
  for (const Transition& transition : system.transitions)
    json["transitions"].push_back(to_json(system, transition));
  return json;
}

}  // namespace millrace::system
