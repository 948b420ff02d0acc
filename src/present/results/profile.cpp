#include "present/results/profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "base/printable.h"
#include "present/description.h"
#include "profile/profile_file.h"
#include "profile/views/plain_loops.h"

namespace millrace::present {
namespace {

using profile::Statistics;

std::string runs_text(const Statistics& s) {
  return std::to_string(s.count) + (s.stable ? "" : " unstable");
}

std::vector<std::string> cells(const std::string& name, const Statistics& s) {
  std::vector<std::string> cells{name};
  for (const Time time : {s.median, s.mean, s.deviation, s.maximum, s.worst_case})
    cells.push_back(millrace::to_text(time));
  cells.push_back(runs_text(s));
  return cells;
}

const std::vector<Table::Column> layer_columns{
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
          known ? Value::error(*taken->error).text : ""};
}

std::string layers_text(const profile::Profile& profile, const profile::ProcessorProfile& p) {
  auto more = layer_columns;
  more.insert(more.end(), {{"instead of"}, {"error"}, {"kernel", Align::left}});
  Table table(more);
  for (std::size_t i = 0; i < p.layers.size(); ++i) {
    const profile::LayerTimes& layer = p.layers[i];
    if (layer.fused_into || !layer.refusal.empty()) {
      std::vector<std::string> row(more.size());
      row.front() = profile.layer_names[i];
      row.back() = layer.fused_into ? "in " + profile.layer_names[layer.fused_into->index]
                                    : layer.refusal;
      table.add(std::move(row));
      continue;
    }
    auto row = cells(profile.layer_names[i], layer.together);
    const auto other = instead_of(layer);
    row.insert(row.end(), other.begin(), other.end());
    row.push_back(layer.kernel);
    table.add(std::move(row));
  }
  const bool runs_any = std::ranges::any_of(
      p.layers, [](const profile::LayerTimes& layer) { return layer.refusal.empty(); });
  if (!p.layers.empty() && !runs_any)
    return fmt::format("{} in {}: {}\n", p.processor.name, to_text(p.precision),
                       p.layers.front().refusal);
  table.add_rule();
  table.add(cells("whole network", p.whole));
  return fmt::format("{} in {} with {} {}\n{}\n", p.processor.name, to_text(p.precision), p.engine,
                     p.engine_version, table.text());
}

/// What a frame takes in layers that were measured on several at once; empty: there is none.
std::string batches_text(const profile::Profile& profile, const profile::ProcessorProfile& p) {
  std::vector<Table::Column> heads{{"layer", Align::left}};
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
  Table table(heads);
  for (auto& row : rows) table.add(std::move(row));
  return "per frame, of frames at once\n" + table.text() + "\n";
}

std::string times_text(const profile::Profile& profile,
                       const std::vector<board::Precision>& precisions) {
  std::string text;
  for (const profile::ProcessorProfile& p : profile.processors)
    if (std::find(precisions.begin(), precisions.end(), p.precision) != precisions.end())
      text += layers_text(profile, p) + batches_text(profile, p);
  if (const std::string loops = plain_loops_text(profile); !loops.empty())
    text += printable(loops) + "\n";
  if (profile.modelled) return text + "all times are modelled, from what the board file says\n";
  return text + fmt::format(
                    "an element that crosses between cores: {:.2f} ns to write, {:.2f} ns "
                    "to read\n",
                    profile.tokens.write_ns, profile.tokens.read_ns);
}

/// What a device reaches of its peaks in a kind of layer.
struct Fit {
  std::string device;
  const board::Efficiency& shares;
};

std::vector<Fit> fits_of(const board::Board& board) {
  std::vector<Fit> fits;
  for (const board::Device& device : board.devices)
    for (const board::Efficiency& each : device.efficiency) fits.push_back({device.name, each});
  return fits;
}

const Description<Fit>& fit_fields() {
  const auto precision = [](const Fit& fit) {
    return fit.shares.precision ? Value::word(to_text(*fit.shares.precision))
                                : Value{nullptr, "any"};
  };
  static const Description<Fit> fields({
      {"device", "device", &Fit::device},
      {"operator", "kind of layer", [](const Fit& fit) { return fit.shares.op; }},
      {"precision", "precision", precision, Align::left},
      {"arithmetic", "arithmetic",
       [](const Fit& fit) { return Value::share(fit.shares.arithmetic); }},
      {"memory", "memory", [](const Fit& fit) { return Value::share(fit.shares.memory); }},
  });
  return fields;
}

std::string fit_text(const board::Board& board, const std::string& file) {
  return fmt::format("shares of the peaks of {}\n{}\nwritten: {}\n", printable(board.name),
                     fit_fields().text(fits_of(board)), printable(file));
}

std::string subnet_text(const product::ProfileResult& result, const std::string& range) {
  Table table(layer_columns);
  for (const product::RangeTimes& each : result.subnet)
    table.add(cells(each.processor, each.times));
  return fmt::format("{} ({} layers)\n{}", printable(range), result.subnet_layers, table.text());
}

std::string subnet_json(const product::ProfileResult& result, const std::string& range) {
  nlohmann::json processors = nlohmann::json::array();
  for (const product::RangeTimes& each : result.subnet)
    processors.push_back({{"processor", each.processor}, {"times", profile::to_json(each.times)}});
  return json_document(
      "subnet_profile",
      {{"subnet", range}, {"layers", result.subnet_layers}, {"processors", processors}});
}

/// Names on the left of a row of times.
struct TimesRow {
  std::vector<std::string> names;
  const Statistics& times;
  Time best{};
};

std::string rows_text(const std::vector<const char*>& titles, const std::vector<TimesRow>& rows,
                      bool has_best) {
  if (rows.empty()) return {};
  std::vector<RowField<TimesRow>> fields;
  for (std::size_t n = 0; n < titles.size(); ++n)
    fields.push_back({"", titles[n], [n](const TimesRow& row) { return row.names[n]; }});
  if (has_best) fields.push_back({"", "best", &TimesRow::best});
  for (const auto& [title, time] : {std::pair("mean", &Statistics::mean),
                                    std::pair("deviation", &Statistics::deviation),
                                    std::pair("maximum", &Statistics::maximum),
                                    std::pair("worst case", &Statistics::worst_case)})
    fields.push_back({"", title, [part = time](const TimesRow& row) { return row.times.*part; }});
  fields.push_back(
      {"", "runs", [](const TimesRow& row) { return runs_text(row.times); }, Align::right});
  return Description<TimesRow>(std::move(fields)).text(rows);
}

std::string steps_text(const explore::SystemProfile& profile) {
  using explore::StepsProfile;
  if (profile.steps.empty()) return {};
  const Description<StepsProfile> fields({
      {"", "group", &StepsProfile::group},
      {"", "worst before the network", [](const auto& each) { return each.worst.preprocess; }},
      {"", "worst after", [](const auto& each) { return each.worst.postprocess; }},
  });
  return "\n" + fields.text(profile.steps);
}

}  // namespace

std::string profile_text(const product::ProfileResult& result,
                         const product::ProfileRequest& request) {
  std::string text;
  if (!result.subnet.empty()) text += subnet_text(result, request.subnet);
  if (result.profile) text += times_text(*result.profile, precisions_of(request.variants));
  if (result.fitted) text += fit_text(*result.fitted, request.fit.file);
  return text;
}

std::string profile_json(const product::ProfileResult& result,
                         const product::ProfileRequest& request) {
  if (!result.subnet.empty()) return subnet_json(result, request.subnet);
  if (!result.fitted) return json_text(profile::to_json(*result.profile), 1) + "\n";
  return json_document("board_fit", {{"board", result.fitted->name},
                                     {"file", request.fit.file},
                                     {"shares", fit_fields().array(fits_of(*result.fitted))}});
}

std::string system_profile_text(const explore::SystemProfile& profile) {
  std::vector<TimesRow> tasks, networks;
  for (const explore::TaskProfile& each : profile.tasks)
    tasks.push_back({{each.group, each.task, each.processor}, each.times, each.best});
  for (const profile::Profile& network : profile.networks)
    for (const profile::ProcessorProfile& on : network.processors)
      networks.push_back(
          {{network.network_name, on.processor.name, to_text(on.precision)}, on.whole});
  const std::string text =
      tasks.empty() ? "no group has a task graph, so only networks are measured\n"
                    : rows_text({"group", "task", "processor"}, tasks, true);
  const std::string rest = rows_text({"network", "processor", "precision"}, networks, false);
  return text + steps_text(profile) + (rest.empty() ? "" : "\n" + rest);
}

std::string system_profile_json(const explore::SystemProfile& profile) {
  return json_text(to_json(profile), 1) + "\n";
}

}  // namespace millrace::present
