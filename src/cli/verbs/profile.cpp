// millrace profile MODEL
#include "api/profile_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/json/measured.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/options/duration.h"
#include "cli/options/fit.h"
#include "cli/options/model.h"
#include "cli/options/range_check.h"
#include "cli/verbs/verbs.h"
#include "report/plain_loops.h"
#include "report/table.h"

namespace millrace::cli {

namespace {

using report::Align;

struct ProfileOptions {
  api::ProfileRequest request;
  bool json = false;
};

void bind(CLI::App& verb, ProfileOptions& options) {
  api::ProfileRequest& request = options.request;
  bind_model(verb, request.setup);
  bind_processors(verb, request.setup);
  bind_variants(verb, request.variants);
  begin_group(verb, "Measurement");
  // A stored profile was measured in another way.
  const auto measure_again = [&request](const std::string&) { request.fresh = true; };
  verb.add_option("--subnet", request.subnet,
                  "FIRST:LAST: measure the layers from FIRST to LAST as one piece instead of each "
                  "layer");
  verb.add_option("--iterations", request.least, "Smallest number of repetitions")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str()
      ->each(measure_again);
  verb.add_option("--duration", request.duration_s, "Shortest time on each processor, in seconds")
      ->transform(in_seconds())
      ->check(between(0.0, 3600.0))
      ->capture_default_str()
      ->each(measure_again);
  verb.add_option("--warmup", request.warmup, "Number of runs before the measurement")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->each(measure_again);
  verb.add_flag("--fresh", request.fresh,
                "Measure again, even if a stored profile fits; also if one of the "
                "three numbers above is given");
  verb.add_flag("--batches", request.batches,
                "Also measure the last layers on batches of 2 to 16 frames");
  bind_fit(verb, request.fit);
  begin_group(verb, "Output");
  verb.add_option("-o,--output", request.output, "Also write the profile into this file");
  bind_json(verb, options.json);
}

std::vector<std::string> cells(const std::string& name, const profile::Statistics& s) {
  const auto text = [](Time time) { return millrace::to_text(time); };
  return {name,
          text(s.median),
          text(s.mean),
          text(s.deviation),
          text(s.maximum),
          text(s.worst_case),
          std::to_string(s.count) + (s.stable ? "" : " unstable")};
}

const std::vector<report::Table::Column> columns{
    {"layer", Align::left}, {"median"}, {"mean"}, {"deviation"}, {"maximum"},
    {"worst case"},         {"runs"}};

/// What the engine's own choice takes, with its error and that of what was taken instead.
std::vector<std::string> instead_of(const profile::LayerTimes& layer) {
  if (layer.alternatives.empty() || layer.variant == layer.alternatives.front().variant)
    return {"", ""};
  const auto taken = std::find_if(layer.alternatives.begin(), layer.alternatives.end(),
                                  [&](const auto& each) { return each.variant == layer.variant; });
  const bool known = taken != layer.alternatives.end() && taken->error;
  return {millrace::to_text(layer.alternatives.front().time),
          known ? fmt::format("{:.1e}", *taken->error) : ""};
}

void print(const profile::Profile& profile, const profile::ProcessorProfile& p) {
  auto more = columns;
  more.insert(more.end(), {{"instead of"}, {"error"}, {"kernel", Align::left}});
  report::Table table(more);
  for (std::size_t i = 0; i < p.layers.size(); ++i) {
    const profile::LayerTimes& layer = p.layers[i];
    if (layer.fused_into) {
      table.add({profile.layer_names[i], "", "", "", "", "", "", "", "",
                 "in " + profile.layer_names[layer.fused_into->index]});
      continue;
    }
    if (!layer.refusal.empty()) {
      table.add({profile.layer_names[i], "", "", "", "", "", "", "", "", layer.refusal});
      continue;
    }
    auto row = cells(profile.layer_names[i], layer.together);
    const auto other = instead_of(layer);
    row.insert(row.end(), other.begin(), other.end());
    row.push_back(layer.kernel);
    table.add(std::move(row));
  }
  table.add_rule();
  table.add(cells("whole network", p.whole));
  fmt::print("{} in {} with {} {}\n{}\n", p.processor.name, to_text(p.precision), p.engine,
             p.engine_version, table.text());
}

/// What a frame takes in layers that were measured on several at once; empty: there is none.
std::string batches_text(const profile::Profile& profile, const profile::ProcessorProfile& p) {
  std::vector<report::Table::Column> heads{{"layer", Align::left}};
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < p.layers.size(); ++i) {
    if (p.layers[i].batches.empty()) continue;
    rows.push_back({profile.layer_names[i]});
    for (const profile::BatchTime& batch : p.layers[i].batches) {
      rows.back().push_back(millrace::to_text(batch.time / batch.frames));
      if (rows.size() == 1) heads.push_back({fmt::format("{} at once", batch.frames)});
    }
  }
  if (rows.empty()) return {};
  report::Table table(heads);
  for (auto& row : rows) table.add(std::move(row));
  return "per frame, of frames at once\n" + table.text() + "\n";
}

void print(const profile::Profile& profile, const std::vector<board::Precision>& precisions) {
  for (const profile::ProcessorProfile& p : profile.processors)
    if (std::find(precisions.begin(), precisions.end(), p.precision) != precisions.end()) {
      print(profile, p);
      fmt::print("{}", batches_text(profile, p));
    }
  if (const std::string loops = report::plain_loops_text(profile); !loops.empty())
    fmt::print("{}\n", printable(loops));
  if (profile.modelled)
    fmt::print("all times are modelled, from what the board file says\n");
  else
    fmt::print("an element that crosses between cores: {:.2f} ns to write, {:.2f} ns to read\n",
               profile.tokens.write_ns, profile.tokens.read_ns);
}

void print(const board::Board& board, const std::string& file) {
  report::Table table({{"device", report::Align::left},
                       {"kind of layer", report::Align::left},
                       {"precision", report::Align::left},
                       {"arithmetic"},
                       {"memory"}});
  for (const board::Device& device : board.devices)
    for (const board::Efficiency& each : device.efficiency)
      table.add({device.name, each.op, each.precision ? to_text(*each.precision) : "any",
                 fmt::format("{:.1f} %", 100 * each.arithmetic),
                 fmt::format("{:.1f} %", 100 * each.memory)});
  fmt::print("shares of the peaks of {}\n{}\nwritten: {}\n", board.name, table.text(),
             file);
}

void print_subnet(const api::ProfileResult& result, const std::string& range) {
  report::Table table(columns);
  for (const api::RangeTimes& each : result.subnet) table.add(cells(each.processor, each.times));
  fmt::print("{} ({} layers)\n{}", printable(range), result.subnet_layers, table.text());
}

int run(const ProfileOptions& options) {
  const api::ProfileRequest& request = options.request;
  for (const std::string& file : {request.output, request.fit.file})
    refuse_two_results(options.json, file);
  const api::ProfileResult result = profile_model(request);
  if (options.json) {
    fmt::print("{}", profile_json(result, request));
    return 0;
  }
  if (!result.subnet.empty()) print_subnet(result, request.subnet);
  if (result.profile) print(*result.profile, precisions_of(request.variants));
  if (result.fitted) print(*result.fitted, request.fit.file);
  return 0;
}

}  // namespace

void add_profile(CLI::App& app, int& exit_code) {
  add_verb<ProfileOptions>(
      app, exit_code,
      {{"profile", "Measure every layer on every processor", "millrace profile resnet18.onnx"},
       bind,
       run});
}

}  // namespace millrace::cli
