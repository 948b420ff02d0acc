#include "present/results/analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "plan/steps.h"
#include "plan/tensor_names.h"
#include "present/description.h"
#include "present/results/energy.h"

namespace millrace::present {
namespace {

using product::Analysis;

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

std::string pace_text(const Analysis& analysis) {
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

Description<std::size_t> channel_fields(const Analysis& analysis,
                                        const plan::TensorNames& names) {
  const schedule::Schedule& schedule = analysis.proof.schedule;
  const auto channel = [&](std::size_t c) -> const schedule::Channel& {
    return schedule.channels[c];
  };
  const auto slot = [=, &analysis](std::size_t c) {
    return analysis.network()[channel(c).tensor].size();
  };
  const auto smallest = [&](std::size_t c) {
    const auto& found = analysis.proof.smallest;
    return found ? Value::count(found->capacities[c]) : Value::none();
  };
  const auto together = [=](std::size_t c) {
    const bool shared = c > 0 && channel(c - 1).tensor == channel(c).tensor &&
                        channel(c - 1).space == channel(c).space;
    return Value::word(shared ? "shared" : millrace::to_text(slot(c) * channel(c).slots()));
  };
  return Description<std::size_t>({
      {"tensor", "tensor", [=, &names](std::size_t c) { return names[channel(c).tensor]; }},
      {"from", "from",
       [=, &schedule](std::size_t c) { return analysis::name_of(schedule, channel(c).from); }},
      {"to", "to",
       [=, &schedule](std::size_t c) { return analysis::name_of(schedule, channel(c).to); }},
      {"capacity", "slots", [=](std::size_t c) { return channel(c).slots(); }},
      {"smallest_capacity", "smallest", smallest},
      {"slot_bytes", "a slot", slot},
      {"", "together", together},
  });
}

std::string channels_text(const Analysis& analysis) {
  constexpr std::size_t most_rows = 40;
  const std::size_t count = analysis.proof.schedule.channels.size();
  const plan::TensorNames names(analysis.network());
  return channel_fields(analysis, names)
             .text(numbers_below(std::min(most_rows, count))) +
         (count > most_rows ? fmt::format("and {} more; ⟨json⟩ has all\n", count - most_rows) : "");
}

/// A speed that was seen, and when, in JSON and for people.
struct Seen {
  Time period;
  const char *when, *text;
};

std::vector<Seen> seen_of(const Analysis& analysis) {
  std::vector<Seen> seen;
  if (analysis.evidence().period > Time{})
    seen.push_back(analysis.recorded
                       ? Seen{analysis.evidence().period, "recorded", "as recorded"}
                       : Seen{analysis.evidence().period, "planning", "when the plan was made"});
  if (analysis.now) seen.push_back({analysis.now->period(), "now", "now"});
  return seen;
}

/// ", 93.1 % of the proven throughput"
std::string share_text(Time measured, double bound_s) {
  const double share = bound_s / seconds(measured);
  return fmt::format(", {:.1f} % of the proven throughput{}", 100 * share,
                     share > 1.005 ? ": the phases took less than those times" : "");
}

std::string measured_text(const Analysis& analysis) {
  std::string text;
  const auto bound = shortest_period(analysis);
  for (const Seen& each : seen_of(analysis))
    text += fmt::format("{:<13}{} frames/s {}{}\n", text.empty() ? "measured" : "",
                        four_digits(1 / seconds(each.period)), each.text,
                        bound ? share_text(each.period, *bound) : "");
  if (analysis.now)
    for (const std::string& line : lines_of(*analysis.now))
      text += fmt::format("{:<13}{}\n", "", line);
  return text;
}

nlohmann::json measured_json(const Analysis& analysis) {
  nlohmann::json result = nlohmann::json::array();
  const auto bound = shortest_period(analysis);
  for (const Seen& each : seen_of(analysis))
    result.push_back(
        {{"when", each.when},
         {"throughput_fps", 1 / seconds(each.period)},
         {"share_of_bound",
          bound ? nlohmann::json(*bound / seconds(each.period)) : nlohmann::json()}});
  if (!analysis.now) return result;
  const runtime::MeasuredNow& now = *analysis.now;
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

nlohmann::json throughput_json(const Analysis& analysis) {
  const auto period = product::proven_period(analysis.proof);
  if (!period) return nullptr;
  return {{"bound_fps", 1 / *shortest_period(analysis)}, {"period_ns", period->text()}};
}

nlohmann::json critical_json(const analysis::Proof& proof) {
  nlohmann::json result = nlohmann::json::array();
  for (const analysis::CriticalPhase& phase : proof.critical)
    result.push_back(
        {{"phase", phase.name}, {"time_ms", milliseconds(phase.time)}, {"then", phase.then}});
  return result;
}

nlohmann::json buffers_json(const analysis::Proof& proof) {
  const auto& smallest = proof.smallest;
  return {{"bytes", proof.slots.count},
          {"smallest_bytes", smallest ? nlohmann::json(smallest->total.count) : nlohmann::json()},
          {"bound_bytes", smallest ? nlohmann::json(smallest->bound.count) : nlohmann::json()}};
}

}  // namespace

std::string analysis_text(const Analysis& analysis) {
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
  if (!analysis.energy.empty()) text += "\n" + energy_text(analysis.energy);
  return text;
}

std::string analysis_json(const Analysis& analysis) {
  const analysis::Proof& proof = analysis.proof;
  const plan::TensorNames names(analysis.network());
  nlohmann::json cycles = nlohmann::json::object();
  for (std::size_t a = 0; a < proof.cycles.size(); ++a)
    cycles[proof.graph.actors[a].name] = proof.cycles[a];
  return json_document(
      "analysis",
      {{"plan", analysis.file},
       {"network", analysis.plan().network_name},
       {"consistent", true},
       {"live", true},
       {"repetition_vector", cycles},
       {"throughput", throughput_json(analysis)},
       {"critical_cycle", critical_json(proof)},
       {"latency_ms", or_null(proof.latency)},
       {"buffers", buffers_json(proof)},
       {"channels", channel_fields(analysis, names).array(numbers_of(proof.schedule.channels))},
       {"measured", measured_json(analysis)},
       {"energy_per_frame", energy_json(analysis.energy)}});
}

std::vector<std::string> lines_of(const runtime::MeasuredNow& now) {
  const auto bound = now.bound();
  if (!bound) return {};
  const auto both = now.compare();
  return {
      fmt::format("estimate without waiting: {} frames/s, from the shortest time of each phase "
                  "(interleaved rounds)",
                  four_digits(1 / seconds(*bound))),
      fmt::format("the plan reaches {:.1f} % of this estimate; {:.1f} to {:.1f} % in the middle "
                  "half of {} rounds",
                  100 * now.reached(0.5), 100 * now.reached(0.25), 100 * now.reached(0.75),
                  now.turns()),
      fmt::format("the simulator, given the measured times of all firings, predicts {} times "
                  "the frames/s",
                  four_digits(both.simulated.throughput() / both.measured.throughput())),
      fmt::format("and {} times the 99th percentile of latency: {} instead of "
                  "{}",
                  four_digits(both.ratio_of_p99()),
                  to_text(both.simulated.latencies.percentile(0.99)),
                  to_text(both.measured.latencies.percentile(0.99)))};
}

nlohmann::json json_of(const runtime::MeasuredNow& now) {
  const auto bound = now.bound();
  if (!bound) return nlohmann::json::object();
  const auto both = now.compare();
  return {{"bound_by_phases_measured_now_fps", 1 / seconds(*bound)},
          {"share_of_that_bound",
           {{"median", now.reached(0.5)},
            {"lower_quartile", now.reached(0.25)},
            {"upper_quartile", now.reached(0.75)},
            {"turns", now.turns()}}},
          {"simulated",
           {{"throughput_fps", both.simulated.throughput()},
            {"p99_ms", milliseconds(both.simulated.latencies.percentile(0.99))},
            {"throughput_to_measured", both.simulated.throughput() / both.measured.throughput()},
            {"p99_to_measured", both.ratio_of_p99()}}}};
}

}  // namespace millrace::present
