#include "present/json/measured.h"

#include <algorithm>

#include "base/json_text.h"
#include "present/json/accuracy.h"
#include "application/bench/shares.h"
#include "profile/profile_file.h"

namespace millrace::present {
namespace {

std::string subnet_json(const product::ProfileResult& result, const std::string& range) {
  nlohmann::json processors = nlohmann::json::array();
  for (const product::RangeTimes& each : result.subnet)
    processors.push_back({{"processor", each.processor}, {"times", profile::to_json(each.times)}});
  return json_document(
      "subnet_profile",
      {{"subnet", range}, {"layers", result.subnet_layers}, {"processors", processors}});
}

std::string fit_json(const board::Board& board, const std::string& file) {
  nlohmann::json shares = nlohmann::json::array();
  for (const board::Device& device : board.devices)
    for (const board::Efficiency& each : device.efficiency)
      shares.push_back(
          {{"device", device.name},
           {"operator", each.op},
           {"precision",
            each.precision ? nlohmann::json(board::to_text(*each.precision)) : nlohmann::json()},
           {"arithmetic", each.arithmetic},
           {"memory", each.memory}});
  return json_document("board_fit", {{"board", board.name}, {"file", file}, {"shares", shares}});
}

double rate_of(std::int64_t frames, Time elapsed) {
  return static_cast<double>(frames) / std::max(1e-9, seconds(elapsed));
}

/// Null if the input was not live.
nlohmann::json name_or_null(const std::string& name) {
  return name.empty() ? nlohmann::json() : nlohmann::json(name);
}

nlohmann::json queue_of(const product::ApplicationTotals& run) {
  if (!run.is_live) return nullptr;
  const runtime::QueueCounts& queue = run.totals.queue;
  const application::Ages& ages = run.totals.ages;
  return {{"arrived", queue.put},
          {"dropped", queue.dropped},
          {"most_waiting", queue.most},
          {"gaps", run.totals.gaps.count},
          {"longest_gap_ms", milliseconds(run.totals.gaps.longest)},
          {"gaps_ms", milliseconds(run.totals.gaps.total)},
          {"longest_latency_ms", milliseconds(ages.longest)},
          {"last_latency_ms", milliseconds(ages.last)},
          {"longest_lag_ms", milliseconds(ages.longest_lag)},
          {"last_lag_ms", milliseconds(ages.last_lag)}};
}

/// Of several inputs.
nlohmann::json inputs_of(const product::ApplicationTotals& run) {
  nlohmann::json inputs = nlohmann::json::array();
  for (const application::InputTotals& each : run.totals.inputs) {
    inputs.push_back({{"name", each.name}, {"frames", each.frames}, {"live", nullptr}});
    if (!run.is_live) continue;
    inputs.back()["live"] = {{"arrived", each.queue.put},
                             {"dropped", each.queue.dropped},
                             {"most_waiting", each.queue.most},
                             {"gaps", each.gaps.count},
                             {"longest_gap_ms", milliseconds(each.gaps.longest)},
                             {"gaps_ms", milliseconds(each.gaps.total)}};
  }
  return inputs;
}

/// Null: the application has none.
nlohmann::json crops_of(const product::ApplicationTotals& run) {
  if (!run.has_crops) return nullptr;
  const application::CropTotals& crops = run.totals.crops;
  return {{"count", crops.crops},
          {"most", crops.most},
          {"too_many", crops.too_many},
          {"outside", crops.outside}};
}

}  // namespace

std::string profile_json(const product::ProfileResult& result,
                         const product::ProfileRequest& request) {
  if (!result.subnet.empty()) return subnet_json(result, request.subnet);
  if (result.fitted) return fit_json(*result.fitted, request.fit.file);
  return json_text(profile::to_json(*result.profile), 1) + "\n";
}

std::string system_profile_json(const explore::SystemProfile& profile) {
  return json_text(to_json(profile), 1) + "\n";
}

std::string calibration_json(const product::Calibrated& calibrated) {
  const network::CalibrationTable& table = calibrated.result.table;
  nlohmann::json tensors = nlohmann::json::array();
  for (const auto& [name, range] : table.calibration.ranges) {
    const network::Range& seen = calibrated.result.seen.at(name);
    tensors.push_back({{"tensor", name},
                       {"smallest", shortest(seen.low)},
                       {"largest", shortest(seen.high)},
                       {"low", shortest(range.low)},
                       {"high", shortest(range.high)}});
  }
  nlohmann::ordered_json report{{"network", calibrated.network},
                                {"method", table.method},
                                {"frames", table.frames},
                                {"tensors", tensors},
                                {"file", calibrated.output}};
  if (!calibrated.equalised.empty())
    report["equalised"] = {{"file", calibrated.equalised},
                           {"channels", calibrated.equalised_channels}};
  return json_document("calibration_report", report);
}

std::string verification_json(const product::VerifyResult& result, const std::string& against) {
  nlohmann::json plans = nlohmann::json::array();
  for (const product::VerifiedPlan& plan : result.plans) {
    const auto& far = plan.from_float64;
    plans.push_back({{"name", plan.name},
                     {"stages", plan.replicas},
                     {"phases", plan.phases},
                     {"frames", plan.frames},
                     {"largest_error", plan.error},
                     {"bit_equal", plan.bit_equal},
                     {"within_tolerance", plan.within_tolerance},
                     {"from_float64", far ? nlohmann::json(far->result) : nlohmann::json()},
                     {"rounding", far ? nlohmann::json(far->float32) : nlohmann::json()},
                     {"within_rounding", plan.within_rounding},
                     {"part_by_part", plan.part_by_part},
                     {"amplifiers", plan.amplifiers}});
  }
  return json_document(
      "verification",
      {{"network", result.network},
       {"against", against},
       {"equal", result.equal()},
       {"nan_layer", name_or_null(result.nan_layer)},
       {"first_difference", result.equal() ? nlohmann::json() : nlohmann::json(result.why)},
       {"plans", plans}});
}

std::string run_json(const product::RunTotals& totals) {
  return json_document("run",
                       {{"frames", totals.frames},
                        {"elapsed_ms", milliseconds(totals.elapsed)},
                        {"throughput_fps", rate_of(totals.frames, totals.elapsed)},
                        {"stages", totals.replicas},
                        {"inputs_are_finite", totals.not_finite_input.empty()},
                        {"outputs_are_finite", totals.finite},
                        {"nan_layer", name_or_null(totals.nan_layer)},
                        {"right", totals.right ? nlohmann::json(*totals.right) : nlohmann::json()}},
                       -1);
}

std::string run_json(const product::ApplicationTotals& run) {
  const application::Totals& totals = run.totals;
  const application::StepTimes& times = totals.times;
  const auto each = [&](Time sum) { return milliseconds(application::per_frame(totals, sum)); };
  nlohmann::json per_frame_ms = {{"reading_ms", each(times.reading)},
                                 {"pre_processing_ms", each(times.before)},
                                 {"stages_ms", each(times.pipeline)},
                                 {"post_processing_ms", each(times.after)},
                                 {"waiting_ms", each(times.waiting())}};
  if (run.has_crops) per_frame_ms["crops_ms"] = each(times.crops);
  return json_document("application_run",
                       {{"frames", totals.frames},
                        {"skipped", run.skipped},
                        {"elapsed_ms", milliseconds(totals.elapsed)},
                        {"throughput_fps", rate_of(totals.frames, totals.elapsed)},
                        {"per_frame", per_frame_ms},
                        {"crops", crops_of(run)},
                        {"inputs_are_finite", totals.not_finite_input.empty()},
                        {"outputs_are_finite", totals.finite},
                        {"nan_layer", name_or_null(run.nan_layer)},
                        {"live", queue_of(run)},
                        {"inputs", inputs_of(run)},
                        {"accuracy", accuracy_json(run.accuracy)}},
                       -1);
}

}  // namespace millrace::present
