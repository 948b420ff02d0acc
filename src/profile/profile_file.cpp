#include "profile/profile_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/json.h"

namespace millrace::profile {
namespace {

using nlohmann::json;

constexpr int format = 2;

json to_json(const Alternative& alternative) {
  json result = {{"variant", to_text(alternative.variant)}, {"time_ns", alternative.time.count()}};
  if (alternative.error) result["error"] = *alternative.error;
  return result;
}

json to_json(const BatchTime& batch, bool has_variants) {
  json result = {{"frames", batch.frames}, {"time_ns", batch.time.count()}};
  if (has_variants) result["variant"] = to_text(batch.variant);
  return result;
}

json to_json(const LayerTimes& times, const std::vector<std::string>& names, std::size_t index) {
  json result = {{"layer", names[index]}, {"kernel", times.kernel}};
  result["together"] = to_json(times.together);
  result["alone"] = to_json(times.alone);
  if (times.contended.count > 0) result["contended"] = to_json(times.contended);
  if (times.fused_into) result["fused_into"] = names[times.fused_into->index];
  if (!times.refusal.empty()) result["refusal"] = times.refusal;
  if (times.refused_by_board) result["refused_by_board"] = true;
  for (const BatchTime& batch : times.batches)
    result["batches"].push_back(to_json(batch, !times.alternatives.empty()));
  if (times.alternatives.empty()) return result;
  result["variant"] = to_text(times.variant);
  for (const Alternative& alternative : times.alternatives)
    result["alternatives"].push_back(to_json(alternative));
  return result;
}

json to_json(const board::Processor& processor) {
  json result = {{"name", processor.name}, {"cores", processor.cores}};
  if (processor.kind != board::ProcessorKind::cpu) result["kind"] = to_text(processor.kind);
  return result;
}

json to_json(const BorderCosts& borders) {
  return {{"read_ns", borders.read_ns},          {"write_ns", borders.write_ns},
          {"border_ns", borders.border.count()}, {"launch_ns", borders.launch.count()},
          {"kernel_ns", borders.kernel.count()}, {"feeding", borders.feeding},
          {"of_ends", borders.of_ends}};
}

json to_json(const ProcessorProfile& p, const std::vector<std::string>& names) {
  json layers = json::array();
  for (std::size_t i = 0; i < p.layers.size(); ++i)
    layers.push_back(to_json(p.layers[i], names, i));
  json result = {{"processor", to_json(p.processor)},  {"engine", p.engine},
                 {"engine_version", p.engine_version}, {"precision", to_text(p.precision)},
                 {"whole", to_json(p.whole)},          {"layers", layers}};
  if (p.max_error) result["max_error"] = *p.max_error;
  if (p.borders) result["borders"] = to_json(*p.borders);
  return result;
}

constexpr std::int64_t most_frames = 1 << 20;  // at once
constexpr std::int64_t most_runs = 1'000'000'000'000;
constexpr std::int64_t longest_ns = 1'000'000'000'000'000;  // twelve days, so that no sum overflows

double positive(const JsonView& view) {
  const double value = view.number();
  if (!(value >= 0 && value <= static_cast<double>(longest_ns)))
    view.fail(fmt::format("found {}, expected 0 to {}; measure again", value, longest_ns));
  return value;
}

double share(const JsonView& view) {
  const double value = view.number();
  if (!(value >= 0 && value <= 1))
    view.fail(fmt::format("found {}, expected a share from 0 to 1; measure again", value));
  return value;
}

using Names = std::map<std::string, std::size_t>;

board::Variant variant(const JsonView& view) {
  const std::string text = view.text();
  try {
    return board::read_variant(text, "");
  } catch (const InputError& error) {
    view.fail(error.what());
  }
}

Alternative alternative(const JsonView& view) {
  static constexpr std::array<std::string_view, 3> known{"variant", "time_ns", "error"};
  view.only(known);
  Alternative result{variant(view.at("variant")), time_in(view.at("time_ns")), {}};
  if (view.has("error")) result.error = view.at("error").number();
  return result;
}

/// `own`: the layer's variant, which counts where none is said.
std::vector<BatchTime> batch_times(const JsonView& view, const board::Variant& own) {
  static constexpr std::array<std::string_view, 3> known{"frames", "time_ns", "variant"};
  std::vector<BatchTime> result;
  for (const JsonView& each : view.items()) {
    each.only(known);
    const BatchTime batch{each.at("frames").integer(), time_in(each.at("time_ns")),
                          each.has("variant") ? variant(each.at("variant")) : own};
    const std::int64_t least = result.empty() ? 1 : result.back().frames + 1;
    if (batch.frames > most_frames)
      each.at("frames").fail(fmt::format("found {}, expected at most {}; measure again",
                                         batch.frames, most_frames));
    if (batch.frames < least || (result.empty() && batch.frames != 1))
      each.at("frames").fail("expected 1 first, and then more and more; measure again");
    if (batch.time <= Time{}) each.at("time_ns").fail("expected more than 0; measure again");
    result.push_back(batch);
  }
  return result;
}

LayerTimes layer_times(const JsonView& view, const Names& names) {
  static constexpr std::array<std::string_view, 11> known{
      "layer",      "kernel",  "together",     "alone",   "contended",
      "fused_into", "variant", "alternatives", "batches", "refusal", "refused_by_board"};
  view.only(known);
  LayerTimes times;
  times.kernel = view.at("kernel").text();
  times.together = statistics_in(view.at("together"));
  times.alone = statistics_in(view.at("alone"));
  if (view.has("contended")) times.contended = statistics_in(view.at("contended"));
  if (view.has("fused_into")) {
    const auto found = names.find(view.at("fused_into").text());
    if (found == names.end()) view.at("fused_into").fail("names no layer of the profile");
    times.fused_into = LayerId(found->second);
  }
  if (view.has("variant")) times.variant = variant(view.at("variant"));
  if (view.has("refusal")) times.refusal = view.at("refusal").text();
  times.refused_by_board = view.has("refused_by_board");
  if (view.has("batches")) times.batches = batch_times(view.at("batches"), times.variant);
  if (view.has("alternatives"))
    for (const JsonView& each : view.at("alternatives").items())
      times.alternatives.push_back(alternative(each));
  return times;
}

board::ProcessorKind kind(const JsonView& view) {
  using enum board::ProcessorKind;
  for (const board::ProcessorKind each : {cpu, gpu, npu})
    if (view.text() == to_text(each)) return each;
  view.fail("expected cpu, gpu or npu");
}

BorderCosts border_costs(const JsonView& view) {
  static constexpr std::array<std::string_view, 7> known{
      "read_ns", "write_ns", "border_ns", "launch_ns", "kernel_ns", "feeding", "of_ends"};
  view.only(known);
  BorderCosts result{positive(view.at("read_ns")), positive(view.at("write_ns")),
                     time_in(view.at("border_ns")), time_in(view.at("launch_ns"))};
  if (view.has("kernel_ns")) result.kernel = time_in(view.at("kernel_ns"));
  if (view.has("feeding")) result.feeding = share(view.at("feeding"));
  if (view.has("of_ends")) result.of_ends = view.at("of_ends").boolean();
  return result;
}

board::Processor processor(const JsonView& view) {
  static constexpr std::array<std::string_view, 3> known{"name", "cores", "kind"};
  view.only(known);
  board::Processor result;
  result.name = view.at("name").text();
  if (view.has("kind")) result.kind = kind(view.at("kind"));
  for (const JsonView& core : view.at("cores").items())
    result.cores.push_back(static_cast<int>(core.index(1 << 20)));
  return result;
}

ProcessorProfile processor_profile(const JsonView& view, const Names& names) {
  static constexpr std::array<std::string_view, 8> known{"processor", "engine",    "engine_version",
                                                         "precision", "max_error", "whole",
                                                         "layers",    "borders"};
  view.only(known);
  ProcessorProfile p;
  p.processor = processor(view.at("processor"));
  p.engine = view.at("engine").text();
  p.engine_version = view.at("engine_version").text();
  p.precision = variant(view.at("precision")).precision;
  if (view.has("max_error")) p.max_error = view.at("max_error").number();
  if (view.has("borders")) p.borders = border_costs(view.at("borders"));
  p.whole = statistics_in(view.at("whole"));
  for (const JsonView& layer : view.at("layers").items())
    p.layers.push_back(layer_times(layer, names));
  if (p.layers.size() != names.size()) view.at("layers").fail("has not one entry per layer");
  return p;
}

}  // namespace

Time time_in(const JsonView& view) {
  const std::int64_t ns = view.integer();
  if (ns < 0 || ns > longest_ns)
    view.fail(fmt::format("found {} ns, expected 0 to {}; measure again", ns, longest_ns));
  return Time(ns);
}

Statistics statistics_in(const JsonView& view) {
  static constexpr std::array<std::string_view, 7> known{
      "median_ns", "mean_ns", "deviation_ns", "maximum_ns", "worst_case_ns", "count", "stable"};
  view.only(known);
  Statistics s;
  s.median = time_in(view.at("median_ns"));
  s.mean = time_in(view.at("mean_ns"));
  s.deviation = time_in(view.at("deviation_ns"));
  s.maximum = time_in(view.at("maximum_ns"));
  s.worst_case = time_in(view.at("worst_case_ns"));
  s.count = view.at("count").integer();
  if (s.count < 0 || s.count > most_runs)
    view.at("count").fail(
        fmt::format("found {}, expected 0 to {}; measure again", s.count, most_runs));
  s.stable = view.at("stable").boolean();
  if (s.worst_case < s.median)
    view.fail("the median must be at most the worst case; measure again");
  return s;
}

json to_json(const Statistics& s) {
  return {{"median_ns", s.median.count()},
          {"mean_ns", s.mean.count()},
          {"deviation_ns", s.deviation.count()},
          {"maximum_ns", s.maximum.count()},
          {"worst_case_ns", s.worst_case.count()},
          {"count", s.count},
          {"stable", s.stable}};
}

json to_json(const Profile& profile) {
  json processors = json::array();
  for (const ProcessorProfile& p : profile.processors)
    processors.push_back(to_json(p, profile.layer_names));
  json document = {
      {"format", format},
      {"kind", "profile"},
      {"network", profile.network},
      {"board", profile.board},
      {"network_name", profile.network_name},
      {"layers", profile.layer_names},
      {"tokens", {{"read_ns", profile.tokens.read_ns}, {"write_ns", profile.tokens.write_ns}}},
      {"processors", processors}};
  if (profile.modelled) document["modelled"] = true;
  return document;
}

void write_profile(const std::filesystem::path& path, const Profile& profile) {
  write_json(path, to_json(profile));
}

Profile read_profile(const std::filesystem::path& path) {
  const json document = read_json(path);
  return profile_in(JsonView(document, path.string()));
}

Profile profile_in(const JsonView& view) {
  static constexpr std::array<std::string_view, 9> known{"format", "kind",         "network",
                                                         "board",  "network_name", "layers",
                                                         "tokens", "processors",   "modelled"};
  view.only(known);
  if (view.at("kind").text() != "profile") view.at("kind").fail("is not 'profile'");
  if (view.at("format").integer() != format)
    view.at("format").fail("is not 2, the format this version reads; run `millrace profile` again");
  Profile profile;
  profile.network = view.at("network").text();
  profile.board = view.at("board").text();
  profile.network_name = view.at("network_name").text();
  Names names;
  for (const JsonView& name : view.at("layers").items()) {
    if (!names.emplace(name.text(), names.size()).second) name.fail("stands twice in the list");
    profile.layer_names.push_back(name.text());
  }
  profile.tokens = {positive(view.at("tokens").at("read_ns")),
                    positive(view.at("tokens").at("write_ns"))};
  if (view.has("modelled")) profile.modelled = view.at("modelled").boolean();
  for (const JsonView& p : view.at("processors").items())
    profile.processors.push_back(processor_profile(p, names));
  return profile;
}

Verdict fits(const Profile& profile, const ProfileKey& key) {
  if (profile.network != key.network_hash)
    return Verdict::no("it was measured for another network");
  if (profile.board != board::hash_of(*key.board))
    return Verdict::no("it was measured on another machine");
  for (const board::Processor& wanted : key.board->processors) {
    const auto same = [&](const ProcessorProfile& p) { return p.processor == wanted; };
    const auto found = std::find_if(profile.processors.begin(), profile.processors.end(), same);
    if (found == profile.processors.end())
      return Verdict::no("it has no times for the processor " + wanted.name);
    if (found->engine != key.engine || found->engine_version != key.engine_version)
      return Verdict::no("it was measured with " + found->engine + " " + found->engine_version);
  }
  return Verdict::yes();
}

std::vector<board::Precision> missing(const Profile& profile, const board::Board& board,
                                      const MeasureOptions& options) {
  std::vector<board::Precision> result;
  for (const board::Precision precision : options.precisions) {
    const auto is_there = [&](const board::Processor& processor) {
      return std::any_of(profile.processors.begin(), profile.processors.end(),
                         [&](const ProcessorProfile& p) {
                           return p.processor == processor && p.precision == precision &&
                                  p.max_error == max_error_of(options, precision);
                         });
    };
    if (!std::all_of(board.processors.begin(), board.processors.end(), is_there))
      result.push_back(precision);
  }
  return result;
}

}  // namespace millrace::profile
