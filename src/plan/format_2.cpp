#include "plan/format_2.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "plan/plan.h"
#include "plan/steps.h"

namespace millrace::plan {
namespace {

using Parsed = nlohmann::json;

constexpr std::array<std::string_view, 7> stage_keys_2{
    "name", "turn", "processor", "engine", "predicted_ms", "measured_ms", "phases"};
constexpr std::array<std::string_view, 4> phase_keys_2{"lag", "batch", "layers", "predicted_ms"};
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
    if (phase.is_object()) {
      phase.erase("predicted_ms");
      phase.emplace("batch", 1);
    }
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

/// Of which stage a replica is.
struct ReplicaPlace {
  std::string stage;
  std::int64_t index, of;
};
using ReplicaPlaces = std::map<std::string, ReplicaPlace>;  // by the replica's name

/// Channels of replicas, each once, with its ends at the joined stages.
class ChannelJoiner {
 public:
  ChannelJoiner(const ReplicaPlaces& places, const std::string& file)
      : places_(places), file_(file) {}

  void add(Parsed channel) {
    const std::string text = text_of(channel);
    const auto from = move_end(channel, "from"), to = move_end(channel, "to");
    if (!from && !to) return result_.push_back(std::move(channel));
    if (from && to && from->index != to->index)
      throw InputError(file_, text + ": connects different replicas; connect those of one turn");
    const ReplicaPlace& place = from ? *from : *to;
    Copies& copies = copies_[channel.dump()];
    if (copies.seen.empty()) {
      copies = {text, place.of, {}};
      result_.push_back(std::move(channel));
    }
    if (!copies.seen.insert(place.index).second)
      throw InputError(file_, text + ": stands twice; remove one");
  }

  Parsed result() {
    for (const auto& [key, copies] : copies_)
      if (static_cast<std::int64_t>(copies.seen.size()) != copies.of)
        throw InputError(file_,
                         copies.text + ": a replica of its stage has no such channel; add it");
    return std::move(result_);
  }

 private:
  struct Copies {
    std::string text;  // of the first
    std::int64_t of = 0;
    std::set<std::int64_t> seen = {};  // turns
  };

  static std::string text_of(const Parsed& channel) {
    const Parsed* tensor = channel.is_object() ? field(channel, "tensor") : nullptr;
    return tensor != nullptr && tensor->is_string()
               ? fmt::format("the channel of '{}'", tensor->get<std::string>())
               : "a channel";
  }

  std::optional<ReplicaPlace> move_end(Parsed& channel, const char* end) const {
    if (!channel.is_object() || !channel.contains(end)) return {};
    Parsed& place = channel[end];
    if (!place.is_object() || !place.contains("stage") || !place["stage"].is_string()) return {};
    const auto found = places_.find(place["stage"].get<std::string>());
    if (found == places_.end()) return {};
    place["stage"] = found->second.stage;
    return found->second;
  }

  const ReplicaPlaces& places_;
  const std::string& file_;
  Parsed result_ = Parsed::array();
  std::map<std::string, Copies> copies_;  // by the joined channel
};

Parsed joined_channels(const Parsed& channels, const ReplicaPlaces& places,
                       const std::string& file) {
  ChannelJoiner joiner(places, file);
  for (const Parsed& channel : channels) joiner.add(channel);
  return joiner.result();
}

/// What stages and phases have in this format, so that messages name what is in the file.
void check_format_2(const JsonView& root) {
  std::set<std::string> names;
  for (const JsonView& stage : root.at("stages").items()) {
    stage.only(stage_keys_2);
    if (!names.insert(stage.at("name").text()).second)
      stage.at("name").fail("is the name of another stage too; each needs its own");
    for (const JsonView& phase : stage.at("phases").items()) {
      phase.only(phase_keys_2);
      phase.at("lag").integer();
    }
  }
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
  ReplicaPlaces places;
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
    for (const Replica& replica : group) places[replica.name] = {name, replica.index, replica.of};
    stages.push_back(joined(group, name, is_whole ? Dispatch::first_free : Dispatch::round_robin));
    group.clear();
  }
  document["channels"] = joined_channels(document["channels"], places, file);
  document["stages"] = std::move(stages);
}

}  // namespace

void to_format_3(nlohmann::json& document, const std::string& file) {
  check_format_2(JsonView(document, file));
  join_replicas(document, file);
  rename_lags(document["stages"]);
}

}  // namespace millrace::plan
