#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "network/calibration_file.h"
#include "plan/build.h"
#include "plan/origin_file.h"
#include "plan/plan_file.h"
#include "plan/tensor_names.h"

namespace millrace::plan {
namespace {

constexpr std::int64_t format = 3;

constexpr std::array<std::string_view, 11> plan_keys{"format",
                                                     "network",
                                                     "origin",
                                                     "stages",
                                                     "channels",
                                                     "variants",
                                                     "one_frame_variants",
                                                     "calibration",
                                                     "measured_period_ms",
                                                     "crops",
                                                     "takeovers"};
constexpr std::array<std::string_view, 3> calibration_keys{"network", "ranges", "means"};
constexpr std::array<std::string_view, 10> stage_keys{"name",        "processor", "processors",
                                                      "dispatch",    "engine",    "predicted_ms",
                                                      "measured_ms", "feeding",   "phases",
                                                      "space"};
constexpr Time rounded = std::chrono::microseconds(1);  // phase by phase
constexpr std::array<std::string_view, 2> feeding_keys{"ms", "core"};
constexpr std::array<std::string_view, 7> phase_keys{
    "offset", "batch", "layers", "transfer", "predicted_ms", "in_ms", "out_ms"};
constexpr std::array<std::string_view, 3> transfer_keys{"tensor", "from", "to"};
constexpr std::array<std::string_view, 3> processor_keys{"name", "kind", "cores"};
constexpr std::array<std::string_view, 5> channel_keys{"tensor", "from", "to", "capacity",
                                                       "space"};
constexpr std::array<std::string_view, 2> endpoint_keys{"stage", "phase"};

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string near = nearest_word(word, views);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

void check_format(const JsonView& root) {
  if (root.has("kind") && root.at("kind").text() == "deployment")
    root.fail(
        "is a deployment, not a plan; `millrace run`, `analyze`, `simulate` and "
        "`export ⟨format⟩ cpp` take deployments");
  const std::int64_t found = root.at("format").integer();
  if (found != format)
    root.at("format").fail(fmt::format(
        "found {}, expected {}; make the plan again with this version of Millrace", found, format));
  root.only(plan_keys);
}

Time read_time(const JsonView& json) {
  constexpr double largest_ms = 1e9;  // with any batch within 64 bits
  const double value = json.number();
  if (!(value >= 0 && value <= largest_ms))
    json.fail(fmt::format("found {}, expected 0 to {} milliseconds", value, largest_ms));
  return Time(std::llround(value * 1e6));
}

board::ProcessorKind read_kind(const JsonView& json) {
  using enum board::ProcessorKind;
  const std::string text = json.text();
  for (const board::ProcessorKind kind : {cpu, gpu, npu})
    if (text == board::to_text(kind)) return kind;
  json.fail(fmt::format("found '{}', expected cpu, gpu or npu", text));
}

board::Processor read_processor(const JsonView& json) {
  constexpr std::size_t most_cores = 1 << 20;
  json.only(processor_keys);
  board::Processor processor;
  processor.name = json.at("name").text();
  processor.kind = read_kind(json.at("kind"));
  for (const JsonView& core : json.at("cores").items())
    processor.cores.push_back(static_cast<int>(core.index(most_cores)));
  return processor;
}

float end_of_range(const JsonView& json) {
  const auto end = static_cast<float>(json.number());
  if (!std::isfinite(end)) json.fail("is too large for float32; make a new plan");
  return end;
}

network::Calibration read_calibration(const JsonView& json) {
  json.only(calibration_keys);
  network::Calibration calibration{json.at("network").text(), {}};
  if (json.has("means")) calibration.means = network::read_means(json.at("means"));
  const JsonView ranges = json.at("ranges");
  for (const std::string& tensor : ranges.keys()) {
    const std::vector<JsonView> ends = ranges.at(tensor).items();
    if (ends.size() != 2) ranges.at(tensor).fail("expected two numbers, the low and the high end");
    const float low = end_of_range(ends[0]), high = end_of_range(ends[1]);
    if (!(low <= high)) ranges.at(tensor).fail(fmt::format("{} is above {}; swap them", low, high));
    if (low > 0 || high < 0)
      ranges.at(tensor).fail(
          fmt::format("found {} to {}, expected a range that holds 0; make a new plan", low, high));
    calibration.ranges[tensor] = {low, high};
  }
  return calibration;
}

/// Reads what refers to layers, tensors and stages by name.
class PlanReader {
 public:
  PlanReader(const JsonView& root, const network::Network& network)
      : root_(root), tensors_(network) {
    for (const network::Layer& layer : network.layers) {
      layers_.emplace(layer.name, LayerId(plan_.layer_names.size()));
      plan_.layer_names.push_back(layer.name);
    }
  }

  PlanFile read(Origin origin) {
    plan_.network_hash = origin.network;
    plan_.network_name = root_.at("network").text();
    for (const JsonView& json : root_.at("stages").items()) read_stage(json);
    for (const JsonView& json : root_.at("channels").items()) read_channel(json);
    if (root_.has("measured_period_ms"))
      evidence_.period = read_time(root_.at("measured_period_ms"));
    if (root_.has("variants")) read_variants(root_.at("variants"), plan_.variants);
    if (root_.has("one_frame_variants")) {
      plan_.one_frame_variants = plan_.variants;
      read_variants(root_.at("one_frame_variants"), plan_.one_frame_variants);
    }
    if (root_.has("calibration")) plan_.calibration = read_calibration(root_.at("calibration"));
    return {std::move(plan_), std::move(origin), std::move(evidence_)};
  }

 private:
  void read_stage(const JsonView& json) {
    json.only(stage_keys);
    Stage stage{.name = json.at("name").text(),
                .engine = json.at("engine").text(),
                .processors = {},
                .phases = {}};
    if (json.has("processor") && json.has("dispatch"))
      json.at("dispatch").fail("found beside a single 'processor'; remove it");
    json.has("processors") ? read_replicas(json, stage)
                           : stage.processors.push_back(read_processor(json.at("processor")));
    if (json.has("space")) stage.space = read_space(json.at("space"));
    if (!stages_.emplace(stage.name, plan_.stages.size()).second)
      json.at("name").fail(fmt::format("a second stage '{}'; each needs its own name", stage.name));
    for (const JsonView& phase : json.at("phases").items())
      stage.phases.push_back(read_phase(phase));
    if (stage.phases.empty()) json.at("phases").fail("found none, expected at least one phase");
    read_evidence(json, stage.processors.size());
    stage_names_.push_back(stage.name);
    plan_.stages.push_back(std::move(stage));
  }

  static void read_replicas(const JsonView& json, Stage& stage) {
    if (json.has("processor"))
      json.at("processor").fail("found beside 'processors'; remove one of the two");
    const JsonView list = json.at("processors");
    const std::vector<JsonView> processors = list.items();
    if (processors.size() < 2 || processors.size() > most_replicas)
      list.fail(fmt::format("found {}, expected 2 to {} processors; a single one is 'processor'",
                            processors.size(), most_replicas));
    for (const JsonView& processor : processors)
      stage.processors.push_back(read_processor(processor));
    stage.dispatch = read_dispatch(json.at("dispatch"));
  }

  static Dispatch read_dispatch(const JsonView& json) {
    for (const Dispatch dispatch : {Dispatch::round_robin, Dispatch::first_free})
      if (json.text() == to_text(dispatch)) return dispatch;
    json.fail(fmt::format("found '{}', expected 'round robin' or 'first free'", json.text()));
  }

  /// Reads the evidence of each replica of the stage.
  void read_evidence(const JsonView& json, std::size_t replicas) {
    const std::vector<Time> predicted = read_times(json.at("predicted_ms"), replicas);
    const std::vector<Time> measured = read_times(json.at("measured_ms"), replicas);
    std::vector<ReplicaEvidence> result(replicas);
    for (std::size_t r = 0; r < replicas; ++r) {
      result[r].predicted = predicted[r];
      result[r].measured = measured[r];
    }
    for (const JsonView& phase : json.at("phases").items()) {
      const bool is_known = phase.has("predicted_ms");
      const auto times =
          is_known ? read_times(phase.at("predicted_ms"), replicas) : std::vector<Time>(replicas);
      for (std::size_t r = 0; r < replicas; ++r)
        result[r].phases.push_back(is_known ? std::optional(times[r]) : std::nullopt);
      if (phase.has("in_ms") || phase.has("out_ms")) read_borders(phase, result);
    }
    for (ReplicaEvidence& replica : result)
      if (!replica.borders.empty()) replica.borders.resize(replica.phases.size());
    if (json.has("feeding")) read_feeding(json.at("feeding"), result);
    std::move(result.begin(), result.end(), std::back_inserter(evidence_.replicas));
  }

  /// Reads the border times of the last phase that was read.
  static void read_borders(const JsonView& json, std::vector<ReplicaEvidence>& replicas) {
    const std::vector<Time> in = read_times(json.at("in_ms"), replicas.size());
    const std::vector<Time> out = read_times(json.at("out_ms"), replicas.size());
    for (std::size_t r = 0; r < replicas.size(); ++r) {
      const Time phase = replicas[r].phases.back().value_or(Time{});
      if (in[r] + out[r] > phase + rounded)
        json.at("in_ms").fail(fmt::format(
            "found {} with 'out_ms', expected at most the {} that are predicted for the phase; "
            "make the plan again",
            millrace::to_text(in[r] + out[r]), millrace::to_text(phase)));
      replicas[r].borders.resize(replicas[r].phases.size());
      replicas[r].borders.back() = {in[r], out[r]};
    }
  }

  static void read_feeding(const JsonView& json, std::vector<ReplicaEvidence>& replicas) {
    const std::vector<JsonView> items = json.items();
    if (items.size() != replicas.size())
      json.fail(fmt::format("found {} entries, expected one for each of {} replicas", items.size(),
                            replicas.size()));
    for (std::size_t r = 0; r < items.size(); ++r) {
      items[r].only(feeding_keys);
      replicas[r].feeding.time = read_time(items[r].at("ms"));
      if (items[r].has("core")) replicas[r].feeding.core = items[r].at("core").text();
      if (replicas[r].feeding.time > replicas[r].predicted + rounded)
        items[r].at("ms").fail(fmt::format(
            "found {}, expected at most the {} that are predicted "
            "for the stage; make the plan again",
            millrace::to_text(replicas[r].feeding.time), millrace::to_text(replicas[r].predicted)));
    }
  }

  /// One, or of several replicas a list.
  static std::vector<Time> read_times(const JsonView& json, std::size_t replicas) {
    if (replicas == 1) return {read_time(json)};
    std::vector<Time> times;
    for (const JsonView& time : json.items()) times.push_back(read_time(time));
    if (times.size() != replicas)
      json.fail(fmt::format("found {} times, expected one for each of {} replicas", times.size(),
                            replicas));
    return times;
  }

  Phase read_phase(const JsonView& json) const {
    json.only(phase_keys);
    Phase phase{.layers = {}, .offset = json.at("offset").integer()};
    if (json.has("batch")) phase.batch = json.at("batch").integer();
    if (json.has("transfer")) phase.transfer = read_transfer(json.at("transfer"));
    if (phase.transfer && !json.has("layers")) return phase;
    for (const JsonView& layer : json.at("layers").items())
      phase.layers.push_back(read_layer(layer));
    return phase;
  }

  Transfer read_transfer(const JsonView& json) const {
    json.only(transfer_keys);
    return {read_tensor(json.at("tensor")), read_space(json.at("from")), read_space(json.at("to"))};
  }

  /// Name of a memory space; empty for the host, which has no name in the plan.
  static std::string read_space(const JsonView& json) {
    const std::string text = json.text();
    if (text.empty()) json.fail("found nothing, expected \"host\" or the name of a memory");
    return text == "host" ? "" : text;
  }

  TensorId read_tensor(const JsonView& json) const {
    const auto id = tensors_.find(json.text());
    if (!id)
      json.fail(fmt::format("the network has no tensor '{}'{}", json.text(),
                            suggestion(json.text(), tensors_.all())));
    return *id;
  }

  void read_variants(const JsonView& json, std::vector<board::Variant>& variants) {
    for (const std::string& name : json.keys()) {
      const LayerId layer = layer_named(name, json);
      variants.resize(layers_.size());
      const std::string text = json.at(name).text();
      try {
        variants[layer.index] = board::read_variant(text, "");
      } catch (const InputError& error) {
        json.at(name).fail(error.what());
      }
    }
  }

  LayerId read_layer(const JsonView& json) const { return layer_named(json.text(), json); }

  LayerId layer_named(const std::string& name, const JsonView& json) const {
    const auto found = layers_.find(name);
    if (found == layers_.end())
      json.fail(fmt::format("the network has no layer '{}'{}", name,
                            suggestion(name, plan_.layer_names)));
    return found->second;
  }

  void read_channel(const JsonView& json) {
    json.only(channel_keys);
    plan_.channels.push_back({read_tensor(json.at("tensor")), read_endpoint(json.at("from")),
                              read_endpoint(json.at("to")), json.at("capacity").integer(),
                              json.has("space") ? read_space(json.at("space")) : ""});
  }

  Endpoint read_endpoint(const JsonView& json) const {
    if (json.is_text()) {
      if (json.text() != "outside")
        json.fail(
            fmt::format("found '{}', expected \"outside\" or a stage and a phase", json.text()));
      return {};
    }
    json.only(endpoint_keys);
    const std::string name = json.at("stage").text();
    const auto found = stages_.find(name);
    if (found == stages_.end())
      json.at("stage").fail(
          fmt::format("there is no stage '{}'{}", name, suggestion(name, stage_names_)));
    return {found->second, json.at("phase").index(plan_.stages[found->second].phases.size())};
  }

  JsonView root_;
  TensorNames tensors_;
  std::unordered_map<std::string, LayerId> layers_;
  std::unordered_map<std::string, std::size_t> stages_;
  std::vector<std::string> stage_names_;
  Plan plan_;
  Evidence evidence_;
};

void check_network(const Origin& origin, const network::Network& network, const JsonView& root) {
  if (const std::string hash = network::hash_of(network); origin.network != hash)
    throw InputError(root.place(),
                     fmt::format("was made for another network (hash {}, from '{}') than '{}' "
                                 "(hash {}); make a new plan for it with 'millrace plan'",
                                 origin.network, origin.model.file, network.name, hash));
}

}  // namespace

Origin read_plan_origin(const JsonView& root, const std::filesystem::path& folder) {
  check_format(root);
  return read_origin(root.at("origin"), folder);
}

Origin read_plan_origin(const std::filesystem::path& path) {
  const nlohmann::json document = read_json(path);
  return read_plan_origin(JsonView(document, path.string()), path.parent_path());
}

PlanFile read_plan(const JsonView& root, const network::Network& network,
                   const std::filesystem::path& folder) {
  Origin origin = read_plan_origin(root, folder);
  check_network(origin, network, root);
  PlanFile file = PlanReader(root, network).read(std::move(origin));
  try {
    check(file.plan, network);
  } catch (const InputError& error) {
    root.fail(error.what());
  }
  return file;
}

PlanFile read_plan(const std::filesystem::path& path, const network::Network& network) {
  const nlohmann::json document = read_json(path);
  return read_plan(JsonView(document, path.string()), network, path.parent_path());
}

std::optional<PlanFile> read_crops_plan(const std::filesystem::path& path,
                                        const network::Network& network) {
  const nlohmann::json document = read_json(path);
  const JsonView root(document, path.string());
  if (!root.has("crops")) return std::nullopt;
  return read_plan(root.at("crops"), network, path.parent_path());
}

}  // namespace millrace::plan
