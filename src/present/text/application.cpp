#include "present/text/application.h"

#include <fmt/format.h>

#include <algorithm>

#include "present/text/accuracy.h"
#include "present/text/table.h"
#include "application/bench/shares.h"

namespace millrace::present {
namespace {

std::string energy_text(const application::ApplicationRound& round) {
  const auto energy = millijoules(round);
  return energy ? fmt::format("{:.0f} mJ", *energy) : "not available";
}

std::string times_text(const application::ApplicationResult& result) {
  Table table({{"", Align::left},
               {"first frame"},
               {"latency"},
               {"reading"},
               {"pre-processing"},
               {"stages"},
               {"post-processing"},
               {"waiting"},
               {"energy"}});
  for (const application::ApplicationRow& row : result.rows) {
    const application::ApplicationRound& round = row.median();
    const application::StepTimes& times = round.totals.times;
    const auto text = [&](Time sum) {
      return millrace::to_text(application::per_frame(round.totals, sum));
    };
    table.add({row.name, millrace::to_text(round.first), text(times.total), text(times.reading),
               text(times.before), text(times.pipeline), text(times.after), text(times.waiting()),
               energy_text(round)});
  }
  const std::string why = result.no_energy.empty()
                              ? ""
                              : fmt::format("energy is not available: {}\n", result.no_energy);
  return table.text() + why;
}

std::string shares_text(const application::ApplicationResult& result) {
  Table table(
      {{"in the last step", Align::left}, {"on", Align::left}, {"busy"}, {"", Align::left}});
  const std::vector<application::Share> shares = shares_of(result);
  for (std::size_t i = 0; i < shares.size(); ++i)
    table.add({shares[i].who, shares[i].where, fmt::format("{:.1f} %", 100 * shares[i].busy),
               i == busiest_of(shares) ? "bottleneck" : ""});
  constexpr double much = 0.5;
  if (shares[busiest_of(shares)].busy >= much) return table.text();
  return table.text() +
         "no thread is busy half of the time: passing frames on takes longer than the work\n";
}

/// The caller's ends are waits of the pools: before the pipeline, behind it, and for their turn.
std::string waits_text(const application::ApplicationResult& result) {
  Table table({{"waiting from", Align::left}, {"to", Align::left}, {"mean"}, {"longest"}});
  const application::ApplicationRound& round = result.rows.back().median();
  const application::StepTimes& times = round.totals.times;
  const auto text = [&](Time sum) {
    return millrace::to_text(application::per_frame(round.totals, sum));
  };
  table.add({"pre-processing", "input", text(times.entry), ""});
  for (const analysis::ChannelWait& wait : result.waits)
    table.add({wait.from, wait.to, millrace::to_text(wait.mean), millrace::to_text(wait.longest)});
  table.add({"output", "post-processing", text(times.exit), ""});
  table.add({"post-processing", "its turn", text(times.turn), ""});
  return table.text();
}

std::string findings_text(const application::ApplicationResult& result) {
  std::string text;
  for (const application::ApplicationRow& row : result.rows)
    if (!row.differing.empty())
      text += fmt::format("{}: the findings of {} of {} frames differ, first those of frame {}\n",
                          row.name, row.differing.size(), result.frames, row.differing.front());
  if (!text.empty()) return text;
  return fmt::format("the findings of all {} frames are equal in all {} steps\n", result.frames,
                     result.rows.size());
}

/// What frames spent their time with, in one line.
std::string steps_text(const application::Totals& totals) {
  const application::StepTimes& times = totals.times;
  const auto each = [&](Time time) {
    return millrace::to_text(application::per_frame(totals, time));
  };
  return fmt::format(
      "per frame: {} reading, {} pre-processing, {} in the stages, {} post-processing, {} waiting "
      "between these",
      each(times.reading), each(times.before), each(times.pipeline), each(times.after),
      each(times.waiting()));
}

std::string crops_text(const application::Totals& totals) {
  const application::CropTotals& crops = totals.crops;
  const Time each = application::per_frame(totals, totals.times.crops);
  std::string text =
      fmt::format("{} crops, at most {} of a frame; {} per frame from the boxes to their findings",
                  crops.crops, crops.most, millrace::to_text(each));
  if (crops.too_many > 0)
    text += fmt::format("; {} boxes were above 'at_most' and got no crop", crops.too_many);
  if (crops.outside > 0)
    text += fmt::format("; {} boxes have no pixel in their picture and got no crop", crops.outside);
  return text;
}

std::string live_text(const runtime::QueueCounts& queue, const char* what) {
  return fmt::format("{}{} arrived, {} of them were dropped; at most {} waited", queue.put, what,
                     queue.dropped, queue.most);
}

std::string gaps_text(const application::Gaps& gaps) {
  return fmt::format("{} without pictures and connected again; the longest gap was {}, all of them "
                     "{}",
                     gaps.count == 1 ? "once" : fmt::format("{} times", gaps.count),
                     millrace::to_text(gaps.longest), millrace::to_text(gaps.total));
}

std::string ages_text(const application::Ages& ages) {
  return fmt::format(
      "from capture to findings: {} at most, {} for the last frame; of that before "
      "it came from the source: {} at most, {} for the last",
      millrace::to_text(ages.longest), millrace::to_text(ages.last),
      millrace::to_text(ages.longest_lag), millrace::to_text(ages.last_lag));
}

}  // namespace

std::string application_text(const application::ApplicationResult& result) {
  const std::vector<WaterfallStep> steps = waterfall_of(result);
  return fmt::format(
             "{}: {} frames, median of {} rounds; times per frame\n\n{}\n{}\n{}\n{}\n"
             "{:.2f} times the rate of all steps one after the other on one core; {}",
             result.application, result.frames, result.rows.front().rounds.size(),
             waterfall_text(steps), times_text(result), shares_text(result), waits_text(result),
             times(steps.back(), steps.front()), findings_text(result)) +
         (result.accuracy ? "\n" + accuracy_text(*result.accuracy) : "");
}

std::vector<WaterfallStep> waterfall_of(const application::ApplicationResult& result) {
  std::vector<WaterfallStep> steps;
  for (const application::ApplicationRow& row : result.rows)
    steps.push_back({row.name, row.rates()});
  return steps;
}

std::vector<std::string> not_finite_text(const std::string& frame, const std::string& layer,
                                         bool outputs_are_finite) {
  std::vector<std::string> lines;
  if (!frame.empty())
    lines.push_back("warning: some inputs are infinite or not a number, first in " + frame +
                    "; not every engine passes that on to the outputs, so do not trust these");
  if (!layer.empty())
    lines.push_back("warning: the layer " + layer +
                    " makes what is not a number (NaN); do not trust outputs");
  if (!outputs_are_finite)
    lines.emplace_back("warning: some outputs are infinite or not a number");
  return lines;
}

std::vector<std::string> summary_of(const product::ApplicationTotals& run) {
  const application::Totals& totals = run.totals;
  const double rate = static_cast<double>(totals.frames) / std::max(1e-9, seconds(totals.elapsed));
  std::vector<std::string> lines{fmt::format("{} frames in {}, {} frames/s; {}", totals.frames,
                                             millrace::to_text(totals.elapsed), four_digits(rate),
                                             steps_text(totals))};
  if (run.has_crops) lines.push_back(crops_text(totals));
  for (const application::InputTotals& each : totals.inputs)
    lines.push_back(fmt::format("{}: {} frames{}", each.name, each.frames,
                                run.is_live ? "; " + live_text(each.queue, "") : ""));
  for (const application::InputTotals& each : totals.inputs)
    if (each.gaps.count > 0) lines.push_back(each.name + ": " + gaps_text(each.gaps));
  if (totals.inputs.empty() && totals.gaps.count > 0)
    lines.push_back("the camera was " + gaps_text(totals.gaps));
  if (run.is_live) {
    lines.push_back(live_text(totals.queue, " frames"));
    lines.push_back(ages_text(totals.ages));
  }
  for (std::string& line : not_finite_text(totals.not_finite_input, run.nan_layer, totals.finite))
    lines.push_back(std::move(line));
  if (run.skipped > 0)
    lines.push_back(fmt::format("{} of {} pictures were skipped, as they cannot be decoded",
                                run.skipped, totals.frames + run.skipped));
  return lines;
}

}  // namespace millrace::present
