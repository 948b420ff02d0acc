// millrace profile MODEL
#include <fmt/format.h>

#include <algorithm>

#include "api/fit.h"
#include "api/model.h"
#include "api/written_over.h"
#include "base/error.h"
#include "base/file.h"
#include "board/board_file.h"
#include "cli/options/between.h"
#include "cli/options/duration.h"
#include "cli/options/fit.h"
#include "cli/options/model.h"
#include "cli/verbs/verbs.h"
#include "engine/registry.h"
#include "profile/cost_model.h"
#include "profile/profile_file.h"
#include "report/table.h"

namespace millrace::cli {

using namespace api;

namespace {

using report::Align;

struct ProfileOptions {
  ModelOptions model;
  VariantOptions variants;
  FitOptions fit;
  std::string output, subnet;
  int repetitions = 10;
  double duration_s = 0.5;
  int warmup = 2;
  bool fresh = false, batches = false;
};

void bind(CLI::App& verb, ProfileOptions& options) {
  bind_model(verb, options.model);
  bind_processors(verb, options.model);
  bind_variants(verb, options.variants);
  verb.add_option("-o,--output", options.output, "Also write the profile here");
  verb.add_option("--subnet", options.subnet,
                  "Measure the layers FIRST:LAST (names) as one piece instead of each layer");
  verb.add_option("--iterations", options.repetitions, "Repetitions, at least")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  verb.add_option("--duration", options.duration_s, "Seconds per processor, at least")
      ->transform(in_seconds())
      ->check(between(0.0, 3600.0))
      ->capture_default_str();
  verb.add_option("--warmup", options.warmup, "Runs that do not count")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  bind_fit(verb, options.fit);
  verb.add_flag("--fresh", options.fresh, "Measure even if a stored profile fits");
  verb.add_flag("--batches", options.batches, "Also the last layers on 2 to 16 frames at once");
}

profile::MeasureOptions measure_options(const ProfileOptions& options) {
  profile::MeasureOptions measure;
  measure.warmup = options.warmup;
  measure.least = options.repetitions;
  measure.most = std::max(100, options.repetitions);
  measure.duration = time_from_seconds(options.duration_s);
  measure.seed = options.model.seed;
  measure.precisions = precisions_of(options.variants);
  measure.max_error = options.variants.max_error;
  return measure;
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
  if (profile.modelled)
    fmt::print("all times are modelled, from what the board file says\n");
  else
    fmt::print("an element that crosses between cores: {:.2f} ns to write, {:.2f} ns to read\n",
               profile.tokens.write_ns, profile.tokens.read_ns);
}

void write(const FitOptions& options, const board::Board& board) {
  board::write_board(options.file, board);
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
             options.file);
}

engine::SubnetRequest subnet_request(const network::Network& network, const std::string& range) {
  const std::size_t colon = range.find(':');
  if (colon == std::string::npos)
    throw InputError("--subnet " + range, "expected FIRST:LAST, the names of two layers");
  const LayerId first = layer_named(network, range.substr(0, colon), "--subnet");
  const LayerId last = layer_named(network, range.substr(colon + 1), "--subnet");
  if (last < first)
    throw InputError("--subnet " + range, "the first layer comes after the last; swap them");
  engine::SubnetRequest request;
  request.network = &network;
  for (std::size_t i = first.index; i <= last.index; ++i) request.layers.emplace_back(i);
  const engine::Border border = engine::border_of(network, request.layers);
  for (const TensorId input : border.inputs)
    request.inputs.push_back({input, engine::plain_layout(network[input])});
  request.outputs = border.outputs;
  request.plain.assign(border.outputs.size(), false);
  return request;
}

int run_subnet(const ProfileOptions& options, const network::Network& network,
               engine::Engine& engine) {
  report::Table table(columns);
  engine::SubnetRequest request = subnet_request(network, options.subnet);
  for (const board::Processor& processor : load_board(options.model).processors) {
    request.processor = processor;
    table.add(
        cells(processor.name, profile::measure_subnet(request, engine, measure_options(options))));
  }
  fmt::print("{} ({} layers)\n{}", printable(options.subnet), request.layers.size(), table.text());
  return 0;
}

/// Of a board that need not be at hand.
int run_modelled(const ProfileOptions& options, const network::Network& network) {
  const std::vector<board::Precision> precisions = precisions_of(options.variants);
  const profile::Profile profile =
      profile::modelled(network, load_board(options.model, options.fit.board), precisions);
  if (!options.output.empty()) profile::write_profile(options.output, profile);
  print(profile, precisions);
  return 0;
}

profile::Profile profile_of(const ProfileOptions& options, const network::Network& network,
                            engine::Engine& engine) {
  return load_profile(
      network, load_board(options.model), engine,
      {{}, options.fresh, measure_options(options), options.batches, options.model.cache});
}

void refuse_profile_over(const ProfileOptions& options) {
  FilesRead files;
  files.add(options.model);
  files.add("board file", options.fit.board);
  for (const std::string& model : options.fit.also) files.add("model", model);
  files.refuse(options.output);
  files.refuse(options.fit.file);
}

int run(const ProfileOptions& options) {
  refuse_profile_over(options);
  if (!options.output.empty()) check_writable(options.output);
  if (!options.fit.file.empty()) check_writable(options.fit.file);
  const network::Network network = load_network(options.model);
  if (!options.fit.board.empty() && options.fit.file.empty()) return run_modelled(options, network);
  if (!options.fit.totals.empty()) {
    const std::vector<board::Precision> precisions = precisions_of(options.variants);
    if (precisions.size() != 1)
      throw InputError("--precision", "a published time is of one precision; give one");
    write(options.fit, fit_to_totals(options.fit, network, precisions.front()));
    return 0;
  }
  const auto engine = engine::make_engine(options.model.engine);
  if (!options.subnet.empty()) return run_subnet(options, network, *engine);
  const profile::Profile profile = profile_of(options, network, *engine);
  if (!options.output.empty()) profile::write_profile(options.output, profile);
  print(profile, precisions_of(options.variants));
  if (options.fit.file.empty()) return 0;
  std::vector<MeasuredNetwork> measured{{network, profile}};
  for (const std::string& model : options.fit.also) {
    ModelOptions other = options.model;
    other.model = model;
    measured.push_back({load_network(other), {}});
    measured.back().profile = profile_of(options, measured.back().network, *engine);
  }
  write(options.fit, fit_to_profiles(options.fit, measured));
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
