#include "present/text/measured.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/printable.h"
#include "present/text/table.h"
#include "profile/views/plain_loops.h"

namespace millrace::present {
namespace {

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
          known ? fmt::format("{:.1e}", *taken->error) : ""};
}

std::string layers_text(const profile::Profile& profile, const profile::ProcessorProfile& p) {
  auto more = layer_columns;
  more.insert(more.end(), {{"instead of"}, {"error"}, {"kernel", Align::left}});
  Table table(more);
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

std::string fit_text(const board::Board& board, const std::string& file) {
  Table table({{"device", Align::left},
               {"kind of layer", Align::left},
               {"precision", Align::left},
               {"arithmetic"},
               {"memory"}});
  for (const board::Device& device : board.devices)
    for (const board::Efficiency& each : device.efficiency)
      table.add({device.name, each.op, each.precision ? to_text(*each.precision) : "any",
                 fmt::format("{:.1f} %", 100 * each.arithmetic),
                 fmt::format("{:.1f} %", 100 * each.memory)});
  return fmt::format("shares of the peaks of {}\n{}\nwritten: {}\n", printable(board.name),
                     table.text(), printable(file));
}

std::string subnet_text(const product::ProfileResult& result, const std::string& range) {
  Table table(layer_columns);
  for (const product::RangeTimes& each : result.subnet)
    table.add(cells(each.processor, each.times));
  return fmt::format("{} ({} layers)\n{}", printable(range), result.subnet_layers, table.text());
}

std::string plans_text(const product::VerifyResult& result) {
  Table table({{"plan", Align::left},
               {"stages"},
               {"threads"},
               {"phases"},
               {"frames"},
               {"largest error"},
               {"verdict", Align::left}});
  for (const product::VerifiedPlan& plan : result.plans)
    table.add({plan.name, std::to_string(plan.stages), std::to_string(plan.replicas),
               std::to_string(plan.phases), std::to_string(plan.frames),
               fmt::format("{:.1e}", plan.error),
               plan.bit_equal          ? "bit-equal"
               : plan.within_tolerance ? "within tolerance"
               : plan.within_rounding  ? "within rounding"
               : plan.part_by_part     ? "part by part"
                                       : "DIFFERENT"});
  return table.text();
}

/// What "within rounding" means, of the first plan that is.
std::string rounding_text(const product::VerifyResult& result) {
  const auto found = std::ranges::find_if(result.plans, &product::VerifiedPlan::within_rounding);
  if (found == result.plans.end()) return {};
  return fmt::format(
      "within rounding: {} is {:.1e} from the network in float64; float32 may be {:.1e} from it by "
      "rounding\n",
      printable(found->name), found->from_float64->result, found->from_float64->float32);
}

/// What "part by part" means, if a plan has it.
std::string amplifiers_text(const product::VerifyResult& result) {
  std::set<std::string> amplifiers;
  bool any = false;
  for (const product::VerifiedPlan& plan : result.plans) {
    any = any || plan.part_by_part;
    amplifiers.insert(plan.amplifiers.begin(), plan.amplifiers.end());
  }
  if (!any) return {};
  std::string text =
      "part by part: the network makes small differences large; each part agrees on the numbers "
      "that the plan gives it";
  if (!amplifiers.empty()) text += fmt::format("; parted before {}", fmt::join(amplifiers, ", "));
  return printable(text) + "\n";
}

std::string ranges_text(const profile::CalibrationResult& result) {
  Table table({{"tensor", Align::left}, {"smallest"}, {"largest"}, {"low"}, {"high"}});
  const auto text = [](float value) { return fmt::format("{:.4g}", value); };
  for (const auto& [name, range] : result.table.calibration.ranges) {
    const network::Range& seen = result.seen.at(name);
    table.add({name, text(seen.low), text(seen.high), text(range.low), text(range.high)});
  }
  return table.text();
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

std::string calibration_text(const product::Calibrated& calibrated) {
  const profile::CalibrationResult& result = calibrated.result;
  const std::string equalised =
      calibrated.equalised.empty()
          ? ""
          : fmt::format("written: {}, {} channels have another size\n",
                        printable(calibrated.equalised), calibrated.equalised_channels);
  return fmt::format("{}: ranges of {} tensors on {} frames, {}\n\n{}\n{}written: {}\n",
                     printable(calibrated.network), result.table.calibration.ranges.size(),
                     result.table.frames, result.table.method, ranges_text(result), equalised,
                     printable(calibrated.output));
}

std::string run_text(const product::RunTotals& totals) {
  const double rate = static_cast<double>(totals.frames) / seconds(totals.elapsed);
  std::string stages = totals.stages == 1 ? "one stage" : fmt::format("{} stages", totals.stages);
  if (totals.replicas != totals.stages) stages += fmt::format(", {} replicas", totals.replicas);
  return fmt::format("{} frames in {}, {} frames/s, reading the inputs included; {}", totals.frames,
                     millrace::to_text(totals.elapsed), four_digits(rate), stages);
}

std::string verification_text(const product::VerifyResult& result, const std::string& against) {
  const std::string nan =
      result.nan_layer.empty()
          ? ""
          : fmt::format("warning: the layer {} makes what is not a number (NaN)\n",
                        printable(result.nan_layer));
  return fmt::format("{}{}{}{}{}{}{}: the pipeline and the {} engine {}\n", plans_text(result),
                     rounding_text(result), amplifiers_text(result), nan, result.why,
                     result.equal() ? "" : "\n", result.network, against,
                     result.equal() ? "agree" : "differ");
}

}  // namespace millrace::present
