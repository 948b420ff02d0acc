#include "present/results/application.h"

#include <fmt/format.h>

#include <algorithm>

#include "application/bench/shares.h"
#include "base/json_text.h"
#include "present/description.h"
#include "present/results/accuracy.h"

namespace millrace::present {
namespace {

using application::ApplicationResult;
using application::ApplicationRow;
using application::StepTimes;
using application::Totals;

/// What a frame spends its time with: the sums of all frames, each with its title and its name in
/// sentences.
struct Step {
  const char *key, *title, *sentence;
  Time (*sum)(const StepTimes&);
};

constexpr Step steps[] = {
    {"reading_ms", "reading", "reading", [](const StepTimes& t) { return t.reading; }},
    {"pre_processing_ms", "pre-processing", "pre-processing",
     [](const StepTimes& t) { return t.before; }},
    {"stages_ms", "stages", "in the stages", [](const StepTimes& t) { return t.pipeline; }},
    {"post_processing_ms", "post-processing", "post-processing",
     [](const StepTimes& t) { return t.after; }},
    {"waiting_ms", "waiting", "waiting between these",
     [](const StepTimes& t) { return t.waiting(); }}};

Description<ApplicationRow> row_fields() {
  const auto each = [](auto sum) {
    return [sum](const ApplicationRow& row) {
      const Totals& totals = row.median().totals;
      return application::per_frame(totals, sum(totals.times));
    };
  };
  std::vector<RowField<ApplicationRow>> fields{
      {"name", "", &ApplicationRow::name},
      {"first_ms", "first frame", [](const ApplicationRow& row) { return row.median().first; }},
      {"latency_ms", "latency", each([](const StepTimes& times) { return times.total; })}};
  for (const Step& step : steps) fields.push_back({step.key, step.title, each(step.sum)});
  const auto energy = [](const ApplicationRow& row) {
    const auto one = millijoules(row.median());
    return one ? Value{*one, fmt::format("{:.0f} mJ", *one)} : Value{nullptr, "not available"};
  };
  const auto crops = [](const ApplicationRow& row) {
    const Totals& totals = row.median().totals;
    return totals.crops.crops > 0
               ? Value::time(application::per_frame(totals, totals.times.crops))
               : Value::absent();
  };
  using Json = nlohmann::json;
  fields.insert(
      fields.end(),
      {{"energy_mj", "energy", energy},
       {"frames", nullptr, [](const auto& row) { return row.median().totals.frames; }},
       {"throughput_fps", nullptr, [](const auto& row) { return row.median().rate(); }},
       {"rounds_fps", nullptr, [](const auto& row) { return Json(row.rates()); }},
       {"variation", nullptr, &ApplicationRow::variation},
       {"frames_that_differ", nullptr, [](const auto& row) { return Json(row.differing); }},
       {"crops_ms", nullptr, crops}});
  return Description<ApplicationRow>(std::move(fields));
}

Description<std::size_t> share_fields(const std::vector<application::Share>& shares) {
  return Description<std::size_t>({
      {"name", "in the last step", [&](std::size_t i) { return shares[i].who; }},
      {"on", "on", [&](std::size_t i) { return shares[i].where; }},
      {"busy", "busy", [&](std::size_t i) { return Value::share(shares[i].busy); }},
      {"", "", [&](std::size_t i) { return i == busiest_of(shares) ? "bottleneck" : ""; }},
  });
}

const Description<analysis::ChannelWait>& wait_fields() {
  using Wait = analysis::ChannelWait;
  static const Description<Wait> fields({
      {"from", "waiting from", &Wait::from},
      {"to", "to", &Wait::to},
      {"mean_ms", "mean", &Wait::mean},
      {"longest_ms", "longest", &Wait::longest},
  });
  return fields;
}

std::string times_text(const ApplicationResult& result) {
  const std::string why = result.no_energy.empty()
                              ? ""
                              : fmt::format("energy is not available: {}\n", result.no_energy);
  return row_fields().text(result.rows) + why;
}

std::string shares_text(const ApplicationResult& result) {
  const std::vector<application::Share> shares = shares_of(result);
  const std::string text = share_fields(shares).text(numbers_of(shares));
  constexpr double much = 0.5;
  if (shares[busiest_of(shares)].busy >= much) return text;
  return text +
         "no thread is busy half of the time: passing frames on takes longer than the work\n";
}

/// The caller's ends are waits of the pools: before the pipeline, behind it, and for their turn.
std::string waits_text(const ApplicationResult& result) {
  const Totals& totals = result.rows.back().median().totals;
  const auto text = [&](Time sum) {
    return millrace::to_text(application::per_frame(totals, sum));
  };
  Table table = wait_fields().table(std::vector<analysis::ChannelWait>{});
  table.add({"pre-processing", "input", text(totals.times.entry), ""});
  for (const analysis::ChannelWait& wait : result.waits) wait_fields().add(table, wait);
  table.add({"output", "post-processing", text(totals.times.exit), ""});
  table.add({"post-processing", "its turn", text(totals.times.turn), ""});
  return table.text();
}

std::string findings_text(const ApplicationResult& result) {
  std::string text;
  for (const ApplicationRow& row : result.rows)
    if (!row.differing.empty())
      text += fmt::format("{}: the findings of {} of {} frames differ, first those of frame {}\n",
                          row.name, row.differing.size(), result.frames, row.differing.front());
  if (!text.empty()) return text;
  return fmt::format("the findings of all {} frames are equal in all {} steps\n", result.frames,
                     result.rows.size());
}

/// What frames spent their time with, in one line.
std::string steps_text(const Totals& totals) {
  std::string text = "per frame:";
  for (const Step& step : steps)
    text += fmt::format("{} {} {}", &step == steps ? "" : ",",
                        millrace::to_text(application::per_frame(totals, step.sum(totals.times))),
                        step.sentence);
  return text;
}

nlohmann::json steps_json(const product::ApplicationTotals& run) {
  const auto each = [&](Time sum) {
    return milliseconds(application::per_frame(run.totals, sum));
  };
  nlohmann::json json = nlohmann::json::object();
  for (const Step& step : steps) json[step.key] = each(step.sum(run.totals.times));
  if (run.has_crops) json["crops_ms"] = each(run.totals.times.crops);
  return json;
}

std::string crops_text(const Totals& totals) {
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

/// Null: the application has none.
nlohmann::json crops_json(const product::ApplicationTotals& run) {
  if (!run.has_crops) return nullptr;
  const application::CropTotals& crops = run.totals.crops;
  return {{"count", crops.crops},
          {"most", crops.most},
          {"too_many", crops.too_many},
          {"outside", crops.outside}};
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

nlohmann::json live_json(const runtime::QueueCounts& queue, const application::Gaps& gaps) {
  return {{"arrived", queue.put},
          {"dropped", queue.dropped},
          {"most_waiting", queue.most},
          {"gaps", gaps.count},
          {"longest_gap_ms", milliseconds(gaps.longest)},
          {"gaps_ms", milliseconds(gaps.total)}};
}

std::string ages_text(const application::Ages& ages) {
  return fmt::format(
      "from capture to findings: {} at most, {} for the last frame; of that before "
      "it came from the source: {} at most, {} for the last",
      millrace::to_text(ages.longest), millrace::to_text(ages.last),
      millrace::to_text(ages.longest_lag), millrace::to_text(ages.last_lag));
}

/// Null if the input was not live.
nlohmann::json queue_json(const product::ApplicationTotals& run) {
  if (!run.is_live) return nullptr;
  nlohmann::json json = live_json(run.totals.queue, run.totals.gaps);
  const application::Ages& ages = run.totals.ages;
  json.update({{"longest_latency_ms", milliseconds(ages.longest)},
               {"last_latency_ms", milliseconds(ages.last)},
               {"longest_lag_ms", milliseconds(ages.longest_lag)},
               {"last_lag_ms", milliseconds(ages.last_lag)}});
  return json;
}

/// Totals of the inputs, if there are several.
nlohmann::json inputs_json(const product::ApplicationTotals& run) {
  nlohmann::json inputs = nlohmann::json::array();
  for (const application::InputTotals& each : run.totals.inputs)
    inputs.push_back({{"name", each.name},
                      {"frames", each.frames},
                      {"live", run.is_live ? live_json(each.queue, each.gaps) : nullptr}});
  return inputs;
}

template <class Run>
double rate_of(const Run& run) {
  return static_cast<double>(run.frames) / std::max(1e-9, seconds(run.elapsed));
}

/// What both kinds of run say.
template <class Run>
nlohmann::json run_fields(const Run& run, const std::string& nan_layer) {
  return {{"frames", run.frames},
          {"elapsed_ms", milliseconds(run.elapsed)},
          {"throughput_fps", rate_of(run)},
          {"inputs_are_finite", run.not_finite_input.empty()},
          {"outputs_are_finite", run.finite},
          {"nan_layer", or_null(nan_layer)}};
}

}  // namespace

std::string application_text(const ApplicationResult& result) {
  const std::vector<WaterfallStep> waterfall = waterfall_of(result);
  return fmt::format(
             "{}: {} frames, median of {} rounds; times per frame\n\n{}\n{}\n{}\n{}\n"
             "{:.2f} times the rate of all steps one after the other on one core; {}",
             result.application, result.frames, result.rows.front().rounds.size(),
             waterfall_text(waterfall), times_text(result), shares_text(result),
             waits_text(result), times(waterfall.back(), waterfall.front()),
             findings_text(result)) +
         (result.accuracy ? "\n" + accuracy_text(*result.accuracy) : "");
}

std::string application_json(const ApplicationResult& result) {
  const std::vector<application::Share> shares = shares_of(result);
  return json_document("application_bench",
                       {{"rows", row_fields().array(result.rows)},
                        {"busy", share_fields(shares).array(numbers_of(shares))},
                        {"bottleneck", shares[busiest_of(shares)].who},
                        {"waiting", wait_fields().array(result.waits)},
                        {"accuracy", accuracy_json(result.accuracy)},
                        {"frames_that_differ", result.rows.back().differing}});
}

std::vector<WaterfallStep> waterfall_of(const ApplicationResult& result) {
  std::vector<WaterfallStep> waterfall;
  for (const ApplicationRow& row : result.rows) waterfall.push_back({row.name, row.rates()});
  return waterfall;
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

std::string run_text(const product::RunTotals& totals) {
  const double rate = static_cast<double>(totals.frames) / seconds(totals.elapsed);
  std::string stages = totals.stages == 1 ? "one stage" : fmt::format("{} stages", totals.stages);
  if (totals.replicas != totals.stages) stages += fmt::format(", {} replicas", totals.replicas);
  return fmt::format("{} frames in {}, {} frames/s, reading the inputs included; {}", totals.frames,
                     millrace::to_text(totals.elapsed), four_digits(rate), stages);
}

std::vector<std::string> summary_of(const product::ApplicationTotals& run) {
  const Totals& totals = run.totals;
  std::vector<std::string> lines{fmt::format("{} frames in {}, {} frames/s; {}", totals.frames,
                                             millrace::to_text(totals.elapsed),
                                             four_digits(rate_of(totals)), steps_text(totals))};
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

std::string run_json(const product::RunTotals& totals) {
  nlohmann::json fields = run_fields(totals, totals.nan_layer);
  fields["stages"] = totals.replicas;
  fields["right"] = or_null(totals.right);
  return json_document("run", std::move(fields), -1);
}

std::string run_json(const product::ApplicationTotals& run) {
  nlohmann::json fields = run_fields(run.totals, run.nan_layer);
  fields.update({{"skipped", run.skipped},
                 {"per_frame", steps_json(run)},
                 {"crops", crops_json(run)},
                 {"live", queue_json(run)},
                 {"inputs", inputs_json(run)},
                 {"accuracy", accuracy_json(run.accuracy)}});
  return json_document("application_run", std::move(fields), -1);
}

}  // namespace millrace::present
