#include "plan/format_2.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "plan/plan.h"
#include "plan/steps.h"

namespace millrace::plan {
namespace {

using Parsed = nlohmann::json;

constexpr std::array<std::string_view, 2> turn_keys{"index", "of"};

struct Replica {
  std::string name;
  std::int64_t index, of;
  Parsed stage;
};

Replica read_replica(const JsonView& json, const Parsed& stage, const std::string& file) {
  const JsonView turn = json.at("turn");
  turn.only(turn_keys);
  Replica replica{json.at("name").text(), turn.at("index").integer(), turn.at("of").integer(),
                  stage};
  const std::int64_t index = replica.index, of = replica.of;
  if (of < 2 || of > most_replicas || index < 0 || index >= of)
    throw InputError(file, fmt::format("{}: found turn {} of {}, expected one from 0 on, of at "
                                       "least 2 and at most {}",
                                       replica.name, index, of, most_replicas));
  for (const char* key : {"processor", "engine", "predicted_ms", "measured_ms"}) json.at(key);
  return replica;
}

/// What replicas have in common.
Parsed common_of(const Parsed& stage) {
  Parsed phases = stage.at("phases");
  for (Parsed& phase : phases)
    if (phase.is_object()) phase.erase("predicted_ms");
  return {{"engine", stage.at("engine")}, {"phases", phases}};
}

/// `value` of each, if all have one.
template <class Value>
Parsed list_of(const std::vector<Replica>& replicas, const Value& value) {
  Parsed list = Parsed::array();
  for (const Replica& replica : replicas) {
    const Parsed* found = value(replica.stage);
    if (found == nullptr) return nullptr;
    list.push_back(*found);
  }
  return list;
}

const Parsed* field(const Parsed& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// In the order of their turns. They have the same layers.
std::vector<Replica> in_turn(const std::vector<Replica>& replicas, const std::string& file) {
  const auto fail = [&](const std::string& name, const std::string& text) {
    throw InputError(file, name + ": " + text);
  };
  const auto first = std::find_if(replicas.begin(), replicas.end(),
                                  [](const Replica& replica) { return replica.index == 0; });
  if (first == replicas.end())
    fail(replicas.front().name, "no stage with the same layers has turn 0; add it");
  std::vector<Replica> result(static_cast<std::size_t>(first->of));
  for (const Replica& replica : replicas) {
    if (replica.of != first->of)
      fail(replica.name, fmt::format("has {} replicas and another stage {}; give all that have "
                                     "some as many",
                                     replica.of, first->of));
    Replica& place = result[static_cast<std::size_t>(replica.index)];
    if (!place.name.empty())
      fail(replica.name, fmt::format("has the turn of another replica, {}", replica.index));
    if (common_of(replica.stage) != common_of(first->stage))
      fail(replica.name, fmt::format("has another engine, lag, batch or phase than {}, of which it "
                                     "is a replica; make them equal",
                                     first->name));
    place = replica;
  }
  for (std::size_t turn = 0; turn < result.size(); ++turn)
    if (result[turn].name.empty())
      fail(first->name, fmt::format("its replica with turn {} is missing; add it", turn));
  return result;
}

Parsed joined(const std::vector<Replica>& replicas, const std::string& name, Dispatch dispatch) {
  Parsed stage = replicas.front().stage;
  for (const char* key : {"turn", "processor"}) stage.erase(key);
  stage["name"] = name;
  stage["dispatch"] = to_text(dispatch);
  stage["processors"] = list_of(replicas, [](const Parsed& s) { return field(s, "processor"); });
  for (const char* key : {"predicted_ms", "measured_ms"})
    stage[key] = list_of(replicas, [&](const Parsed& s) { return field(s, key); });
  for (std::size_t p = 0; p < stage["phases"].size(); ++p) {
    const Parsed times = list_of(
        replicas, [&](const Parsed& s) { return field(s.at("phases").at(p), "predicted_ms"); });
    stage["phases"][p].erase("predicted_ms");
    if (!times.is_null()) stage["phases"][p]["predicted_ms"] = times;
  }
  return stage;
}

/// "stage1" for "stage1.0".
std::string name_without_turn(const std::string& name) {
  return name.size() > 2 && name.ends_with(".0") ? name.substr(0, name.size() - 2) : name;
}

/// Each channel once, with its ends at the joined stages.
Parsed joined_channels(const Parsed& channels, const std::map<std::string, std::string>& names) {
  Parsed result = Parsed::array();
  for (Parsed channel : channels) {
    for (const char* end : {"from", "to"}) {
      Parsed* stage = nullptr;
      if (channel.is_object() && channel.contains(end) && channel[end].is_object() &&
          channel[end].contains("stage"))
        stage = &channel[end]["stage"];
      if (stage == nullptr || !stage->is_string()) continue;
      if (const auto found = names.find(stage->get<std::string>()); found != names.end())
        *stage = found->second;
    }
    if (std::find(result.begin(), result.end(), channel) == result.end())
      result.push_back(std::move(channel));
  }
  return result;
}

void rename_lags(Parsed& stages) {
  for (Parsed& stage : stages) {
    if (!stage.is_object() || !stage.contains("phases") || !stage["phases"].is_array()) continue;
    for (Parsed& phase : stage["phases"]) {
      if (!phase.is_object() || !phase.contains("lag")) continue;
      phase["offset"] = std::move(phase["lag"]);
      phase.erase("lag");
    }
  }
}

void join_replicas(Parsed& document, const std::string& file) {
  const JsonView root(document, file);
  const std::vector<JsonView> views = root.at("stages").items();
  root.at("channels").items();
  std::map<std::string, std::vector<Replica>> replicas;  // by their layers
  std::vector<std::string> keys;                         // by stage; empty: it is none
  for (std::size_t s = 0; s < views.size(); ++s) {
    std::string& key = keys.emplace_back();
    if (!views[s].has("turn")) continue;
    const std::vector<JsonView> phases = views[s].at("phases").items();
    if (phases.empty()) views[s].at("phases").fail("found none, expected at least one phase");
    for (const JsonView& phase : phases) phase.at("layers").items();
    const Parsed& stage = document["stages"][s];
    key = stage["phases"][0]["layers"].dump();
    replicas[key].push_back(read_replica(views[s], stage, file));
  }
  if (replicas.empty()) return;
  const bool is_whole = replicas.size() == 1 && replicas.begin()->second.size() == views.size();
  std::map<std::string, std::string> names;  // of replicas: that of the stage
  Parsed stages = Parsed::array();
  for (std::size_t s = 0; s < views.size(); ++s) {
    if (keys[s].empty()) {
      stages.push_back(document["stages"][s]);
      continue;
    }
    auto& group = replicas[keys[s]];
    if (group.empty()) continue;  // joined already
    group = in_turn(group, file);
    const std::string name = name_without_turn(group.front().name);
    for (const Replica& replica : group) names[replica.name] = name;
    stages.push_back(joined(group, name, is_whole ? Dispatch::first_free : Dispatch::round_robin));
    group.clear();
  }
  document["channels"] = joined_channels(document["channels"], names);
  document["stages"] = std::move(stages);
}

}  // namespace

void to_format_3(nlohmann::json& document, const std::string& file) {
  join_replicas(document, file);
  rename_lags(document["stages"]);
}

}  // namespace millrace::plan
