#include "present/text/analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/steps.h"
#include "plan/tensor_names.h"
#include "present/results/energy.h"
#include "present/text/measured_now.h"
#include "present/text/table.h"

namespace millrace::present {
namespace {

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
        fmt::format("{:<13}and {} more; ⟨json⟩ has all\n", "", proof.critical.size() - most_lines);
  return text;
}

std::string pace_text(const product::Analysis& analysis) {
  const analysis::Proof& proof = analysis.proof;
  if (!proof.throughput)
    return "throughput   unknown: the plan has no times of its phases; make it again with "
           "'millrace plan'\n";
  const auto period = product::proven_period(proof);
  if (!period) return "throughput   unlimited: no phase takes time\n";
  const std::string turns =
      plan::is_first_free(analysis.plan())
          ? fmt::format(
                "the first free replica takes the next frame\n{:<13}round robin "
                "{}: ",
                "", four_digits(1e9 / period->value()))
          : "";
  return fmt::format(
      "throughput   at most {} frames/s at the {} times: {}one every {} ns\n{}latency      {} for "
      "a "
      "frame alone\n",
      four_digits(1 / *shortest_period(analysis)), analysis.recorded ? "recorded" : "predicted",
      turns, nanoseconds_text(*period), critical_text(proof), millrace::to_text(*proof.latency));
}

std::string notes_text(std::string_view title, const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes)
    text += fmt::format("{:<13}{}\n", text.empty() ? title : "", note);
  return text;
}

std::string buffers_text(const analysis::Proof& proof) {
  std::string text = fmt::format("buffers      {}", millrace::to_text(proof.slots));
  if (proof.smallest)
    text += fmt::format(
        "; {} are enough at these times, {}", millrace::to_text(proof.smallest->total),
        proof.smallest->is_smallest()
            ? "less is not"
            : fmt::format("less than {} is not", millrace::to_text(proof.smallest->bound)));
  return text + "\n";
}

std::string channels_text(const product::Analysis& analysis) {
  Table table({{"tensor", Align::left},
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
  return table.text() + (channels.size() > most_rows ? fmt::format("and {} more; ⟨json⟩ has all\n",
                                                                   channels.size() - most_rows)
                                                     : "");
}

/// ", 93.1 % of the proven throughput"
std::string share_text(Time measured, double bound_s) {
  const double share = bound_s / seconds(measured);
  return fmt::format(", {:.1f} % of the proven throughput{}", 100 * share,
                     share > 1.005 ? ": the phases took less than those times" : "");
}

std::string measured_text(const product::Analysis& analysis) {
  std::string text;
  const auto bound = shortest_period(analysis);
  const auto add = [&](Time measured, const char* when) {
    text += fmt::format("{:<13}{} frames/s {}{}\n", text.empty() ? "measured" : "",
                        four_digits(1 / seconds(measured)), when,
                        bound ? share_text(measured, *bound) : "");
  };
  if (analysis.evidence().period > Time{})
    add(analysis.evidence().period, analysis.recorded ? "as recorded" : "when the plan was made");
  if (!analysis.now) return text;
  add(analysis.now->period(), "now");
  for (const std::string& line : lines_of(*analysis.now))
    text += fmt::format("{:<13}{}\n", "", line);
  return text;
}

}  // namespace

std::string analysis_text(const product::Analysis& analysis) {
  const plan::Plan& plan = analysis.plan();
  std::string text =
      fmt::format("{}: {}, {}, {}\n\n", plan.network_name, counted(plan::actors_in(plan), "thread"),
                  counted(plan::phases_in(plan), "phase"),
                  counted(analysis.proof.schedule.channels.size(), "channel"));
  text += fmt::format("consistent   yes: {}\nlive         yes\n", cycles_text(analysis.proof));
  text += pace_text(analysis) +
          notes_text("borders", plan::border_notes(plan, analysis.evidence())) +
          notes_text("feeding", plan::feeding_notes(plan, analysis.evidence())) +
          buffers_text(analysis.proof) + measured_text(analysis);
  text += "\n" + channels_text(analysis);
  if (!analysis.energy.empty()) text += "\n" + present::energy_text(analysis.energy);
  return text;
}

}  // namespace millrace::present
