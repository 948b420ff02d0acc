#include "cli/print/analysis_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/rate.h"
#include "base/json_text.h"
#include "cli/print/measured_now.h"
#include "plan/steps.h"
#include "plan/tensor_names.h"
#include "report/table.h"

namespace millrace::cli {
namespace {

using api::Analysis;
using report::Align;

/// Nothing if it is unknown or unlimited.
std::optional<dataflow::Fraction> period_of(const analysis::Proof& proof) {
  if (!proof.throughput || proof.throughput->is_unlimited()) return std::nullopt;
  return proof.throughput->period();
}

/// The shortest time between two frames that may be seen, in seconds. Nothing as above.
std::optional<double> shortest_of(const Analysis& analysis) {
  const auto period = period_of(analysis.proof);
  if (!period) return std::nullopt;
  if (!plan::is_first_free(analysis.plan())) return period->value() * 1e-9;
  const auto times = plan::predicted_times(analysis.plan(), analysis.evidence());
  return seconds(analysis::shortest_period(analysis.plan(), analysis.network(), times).value());
}

std::string nanoseconds_text(const dataflow::Fraction& period) {
  return period.under() == 1 ? fmt::to_string(period.over()) : period.text();
}

std::string cycles_text(const analysis::Proof& proof) {
  const std::string unit = proof.frames == 1 ? "frame" : fmt::format("{} frames", proof.frames);
  const bool once = std::all_of(proof.cycles.begin(), proof.cycles.end(),
                                [](std::int64_t cycles) { return cycles == 1; });
  if (once) return fmt::format("each of the {} actors once per {}", proof.cycles.size(), unit);
  std::string text;
  for (std::size_t a = 0; a < proof.cycles.size(); ++a)
    text +=
        fmt::format("{}{} of {}", a > 0 ? ", " : "", proof.cycles[a], proof.graph.actors[a].name);
  return text + " per " + unit;
}

std::string critical_text(const analysis::Proof& proof) {
  constexpr std::size_t most_lines = 40;
  std::string text;
  for (std::size_t i = 0; i < std::min(most_lines, proof.critical.size()); ++i) {
    const analysis::CriticalPhase& phase = proof.critical[i];
    text += fmt::format("{:<13}{} ({}){}\n", i == 0 ? "critical" : "", phase.name,
                        millrace::to_text(phase.time),
                        phase.then.empty() ? "" : fmt::format(", which {}", phase.then));
  }
  if (proof.critical.size() > most_lines)
    text +=
        fmt::format("{:<13}and {} more; --json has all\n", "", proof.critical.size() - most_lines);
  return text;
}

std::string pace_text(const Analysis& analysis) {
  const analysis::Proof& proof = analysis.proof;
  if (!proof.throughput)
    return "throughput   unknown: the plan has no times of its phases; make it again with "
           "'millrace plan'\n";
  const auto period = period_of(proof);
  if (!period) return "throughput   unlimited: no phase takes time\n";
  const std::string turns =
      plan::is_first_free(analysis.plan())
          ? fmt::format("the first free replica takes the next frame\n{:<13}round robin "
                        "{:.1f}: ", "",
                        1e9 / period->value())
          : "";
  return fmt::format(
      "throughput   at most {:.1f} frames/s: {}one every {} ns\n{}latency      {} for a "
      "frame alone\n",
      1 / *shortest_of(analysis), turns, nanoseconds_text(*period), critical_text(proof),
      millrace::to_text(*proof.latency));
}

std::string buffers_text(const analysis::Proof& proof) {
  std::string text = fmt::format("buffers      {}", millrace::to_text(proof.slots));
  if (proof.smallest)
    text += fmt::format(
        "; {} are enough at these times, {}", millrace::to_text(proof.smallest->total),
        proof.smallest->is_smallest()
            ? "the smallest"
            : fmt::format("the lower bound is {}", millrace::to_text(proof.smallest->bound)));
  return text + "\n";
}

std::string channels_text(const Analysis& analysis) {
  report::Table table({{"tensor", Align::left},
                       {"from", Align::left},
                       {"to", Align::left},
                       {"slots"},
                       {"smallest"},
                       {"a slot"},
                       {"together"}});
  constexpr std::size_t most_rows = 40;
  const auto& channels = analysis.proof.schedule.channels;
  const plan::TensorNames names(analysis.network());
  for (std::size_t c = 0; c < std::min(most_rows, channels.size()); ++c) {
    const schedule::Channel& channel = channels[c];
    const bool shared = c > 0 && channels[c - 1].tensor == channel.tensor;
    const Bytes slot = analysis.network()[channel.tensor].size();
    const auto& smallest = analysis.proof.smallest;
    table.add({names[channel.tensor], analysis::name_of(analysis.proof.schedule, channel.from),
               analysis::name_of(analysis.proof.schedule, channel.to),
               fmt::to_string(channel.slots()),
               smallest ? fmt::to_string(smallest->capacities[c]) : "-", millrace::to_text(slot),
               shared ? "shared" : millrace::to_text(slot * channel.slots())});
  }
  return table.text() + (channels.size() > most_rows ? fmt::format("and {} more; --json has all\n",
                                                                   channels.size() - most_rows)
                                                     : "");
}

/// ", 93.1 % of the bound"
std::string share_text(Time measured, double bound_s) {
  return fmt::format(", {:.1f} % of the proven throughput", 100 * bound_s / seconds(measured));
}

std::string measured_text(const Analysis& analysis) {
  std::string text;
  const auto bound = shortest_of(analysis);
  const auto add = [&](Time measured, const char* when) {
    text += fmt::format("{:<13}{:.1f} frames/s {}{}\n", text.empty() ? "measured" : "",
                        1 / seconds(measured), when, bound ? share_text(measured, *bound) : "");
  };
  if (analysis.evidence().period > Time{})
    add(analysis.evidence().period, analysis.recorded ? "as recorded" : "when the plan was made");
  if (!analysis.now) return text;
  add(analysis.now->period(), "now");
  for (const std::string& line : lines_of(*analysis.now))
    text += fmt::format("{:<13}{}\n", "", line);
  return text;
}

nlohmann::json pace_json(const Analysis& analysis) {
  const auto period = period_of(analysis.proof);
  if (!period) return nullptr;
  return {{"bound_fps", 1 / *shortest_of(analysis)}, {"period_ns", period->text()}};
}

nlohmann::json critical_json(const analysis::Proof& proof) {
  nlohmann::json result = nlohmann::json::array();
  for (const analysis::CriticalPhase& phase : proof.critical)
    result.push_back(
        {{"phase", phase.name}, {"time_ms", milliseconds(phase.time)}, {"then", phase.then}});
  return result;
}

nlohmann::json channels_json(const Analysis& analysis) {
  const plan::TensorNames names(analysis.network());
  nlohmann::json result = nlohmann::json::array();
  const auto& channels = analysis.proof.schedule.channels;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const schedule::Channel& channel = channels[c];
    const auto& smallest = analysis.proof.smallest;
    result.push_back(
        {{"tensor", names[channel.tensor]},
         {"from", analysis::name_of(analysis.proof.schedule, channel.from)},
         {"to", analysis::name_of(analysis.proof.schedule, channel.to)},
         {"capacity", channel.slots()},
         {"smallest_capacity", smallest ? nlohmann::json(smallest->capacities[c]) : nullptr},
         {"slot_bytes", analysis.network()[channel.tensor].size().count}});
  }
  return result;
}

nlohmann::json measured_json(const Analysis& analysis) {
  nlohmann::json result = nlohmann::json::array();
  const auto bound = shortest_of(analysis);
  const auto add = [&](Time measured, const char* when) {
    result.push_back({{"when", when}, {"throughput_fps", 1 / seconds(measured)}});
    result.back()["share_of_bound"] =
        bound ? nlohmann::json(*bound / seconds(measured)) : nlohmann::json();
  };
  if (analysis.evidence().period > Time{})
    add(analysis.evidence().period, analysis.recorded ? "recorded" : "planning");
  if (!analysis.now) return result;
  const api::MeasuredNow& now = *analysis.now;
  add(now.period(), "now");
  nlohmann::json phases = nlohmann::json::array(), busy = nlohmann::json::array();
  const auto& actors = analysis.proof.schedule.actors;
  for (std::size_t a = 0; a < actors.size(); ++a) {
    phases.push_back(nlohmann::json::array());
    for (std::size_t p = 0; p < actors[a].phases.size(); ++p)
      phases.back().push_back(milliseconds(now.phase(a, p)));
    busy.push_back(now.busy_to_phases(a));
  }
  result.back().update({{"phases_ms", phases}, {"busy_to_phases", busy}});
  result.back().update(json_of(now));
  return result;
}

}  // namespace

std::string analysis_text(const Analysis& analysis) {
  const plan::Plan& plan = analysis.plan();
  std::string text = fmt::format("{}: {} stages, {} phases, {} channels\n\n", plan.network_name,
                                 plan::actors_in(plan), plan::phases_in(plan),
                                 analysis.proof.schedule.channels.size());
  text += fmt::format("consistent   yes: {}\nlive         yes\n", cycles_text(analysis.proof));
  text += pace_text(analysis) + buffers_text(analysis.proof) + measured_text(analysis);
  return text + "\n" + channels_text(analysis);
}

std::string analysis_json(const Analysis& analysis) {
  const analysis::Proof& proof = analysis.proof;
  nlohmann::json cycles = nlohmann::json::object(), buffers = {{"bytes", proof.slots.count}};
  for (std::size_t a = 0; a < proof.cycles.size(); ++a)
    cycles[proof.graph.actors[a].name] = proof.cycles[a];
  const auto& smallest = proof.smallest;
  buffers["smallest_bytes"] = smallest ? nlohmann::json(smallest->total.count) : nlohmann::json();
  buffers["bound_bytes"] = smallest ? nlohmann::json(smallest->bound.count) : nlohmann::json();
  const nlohmann::json json = {
      {"format", 1},
      {"plan", analysis.file},
      {"network", analysis.plan().network_name},
      {"consistent", true},
      {"live", true},
      {"repetition_vector", cycles},
      {"throughput", pace_json(analysis)},
      {"critical_cycle", critical_json(proof)},
      {"latency_ms",
       proof.latency ? nlohmann::json(milliseconds(*proof.latency)) : nlohmann::json()},
      {"buffers", buffers},
      {"channels", channels_json(analysis)},
      {"measured", measured_json(analysis)}};
  return json_text(json, 1) + "\n";
}

}  // namespace millrace::cli
