#include "present/results/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/json_text.h"
#include "base/printable.h"
#include "present/description.h"

namespace millrace::present {
namespace {

using product::Calibrated;
using product::VerifiedPlan;
using product::VerifyResult;

const char* verdict_of(const VerifiedPlan& plan) {
  if (plan.bit_equal) return "bit-equal";
  if (plan.within_tolerance) return "within tolerance";
  if (plan.within_rounding) return "within rounding";
  return plan.part_by_part ? "part by part" : "DIFFERENT";
}

const Description<VerifiedPlan>& verified_fields() {
  using Plan = VerifiedPlan;
  const auto far = [](double runtime::FromFloat64::*part) {
    return [part](const Plan& plan) {
      return plan.from_float64 ? Value::error((*plan.from_float64).*part) : Value::none();
    };
  };
  static const Description<Plan> fields({
      {"name", "plan", &Plan::name},
      {"", "stages", &Plan::stages},
      {"stages", "threads", &Plan::replicas},
      {"phases", "phases", &Plan::phases},
      {"frames", "frames", &Plan::frames},
      {"largest_error", "largest error", [](const Plan& p) { return Value::error(p.error); }},
      {"", "verdict", verdict_of},
      {"bit_equal", nullptr, &Plan::bit_equal},
      {"within_tolerance", nullptr, &Plan::within_tolerance},
      {"from_float64", nullptr, far(&runtime::FromFloat64::result)},
      {"rounding", nullptr, far(&runtime::FromFloat64::float32)},
      {"within_rounding", nullptr, &Plan::within_rounding},
      {"part_by_part", nullptr, &Plan::part_by_part},
      {"amplifiers", nullptr, [](const Plan& p) { return nlohmann::json(p.amplifiers); }},
  });
  return fields;
}

/// What "within rounding" means, of the first plan that is.
std::string rounding_text(const VerifyResult& result) {
  const auto found = std::ranges::find_if(result.plans, &VerifiedPlan::within_rounding);
  if (found == result.plans.end()) return {};
  return fmt::format(
      "within rounding: {} is {:.1e} from the network in float64; float32 may be {:.1e} from it by "
      "rounding\n",
      printable(found->name), found->from_float64->result, found->from_float64->float32);
}

/// What "part by part" means, if a plan has it.
std::string amplifiers_text(const VerifyResult& result) {
  if (std::ranges::none_of(result.plans, &VerifiedPlan::part_by_part)) return {};
  std::set<std::string> amplifiers;
  for (const VerifiedPlan& plan : result.plans)
    amplifiers.insert(plan.amplifiers.begin(), plan.amplifiers.end());
  std::string text =
      "part by part: the network makes small differences large; each part agrees on the numbers "
      "that the plan gives it";
  if (!amplifiers.empty()) text += fmt::format("; parted before {}", fmt::join(amplifiers, ", "));
  return printable(text) + "\n";
}

/// A tensor, what was seen in it, and the range that the table has of it.
struct RangeRow {
  std::string tensor;
  network::Range seen, range;
};

std::vector<RangeRow> ranges_of(const profile::CalibrationResult& result) {
  std::vector<RangeRow> rows;
  for (const auto& [name, range] : result.table.calibration.ranges)
    rows.push_back({name, result.seen.at(name), range});
  return rows;
}

const Description<RangeRow>& range_fields() {
  const auto number = [](network::Range RangeRow::*range, float network::Range::*end) {
    return [=](const RangeRow& row) {
      const float value = row.*range.*end;
      return Value{shortest(value), fmt::format("{:.4g}", value)};
    };
  };
  static const Description<RangeRow> fields({
      {"tensor", "tensor", &RangeRow::tensor},
      {"smallest", "smallest", number(&RangeRow::seen, &network::Range::low)},
      {"largest", "largest", number(&RangeRow::seen, &network::Range::high)},
      {"low", "low", number(&RangeRow::range, &network::Range::low)},
      {"high", "high", number(&RangeRow::range, &network::Range::high)},
  });
  return fields;
}

}  // namespace

std::string calibration_text(const Calibrated& calibrated) {
  const network::CalibrationTable& table = calibrated.result.table;
  const std::string equalised =
      calibrated.equalised.empty()
          ? ""
          : fmt::format("written: {}, {} channels have another size\n",
                        printable(calibrated.equalised), calibrated.equalised_channels);
  return fmt::format("{}: ranges of {} tensors on {} frames, {}\n\n{}\n{}written: {}\n",
                     printable(calibrated.network), table.calibration.ranges.size(), table.frames,
                     table.method, range_fields().text(ranges_of(calibrated.result)), equalised,
                     printable(calibrated.output));
}

std::string calibration_json(const Calibrated& calibrated) {
  const network::CalibrationTable& table = calibrated.result.table;
  nlohmann::json report{{"network", calibrated.network},
                        {"method", table.method},
                        {"frames", table.frames},
                        {"tensors", range_fields().array(ranges_of(calibrated.result))},
                        {"file", calibrated.output}};
  if (!calibrated.equalised.empty())
    report["equalised"] = {{"file", calibrated.equalised},
                           {"channels", calibrated.equalised_channels}};
  return json_document("calibration_report", std::move(report));
}

std::string verification_text(const VerifyResult& result, const std::string& against) {
  const std::string nan =
      result.nan_layer.empty()
          ? ""
          : fmt::format("warning: the layer {} makes what is not a number (NaN)\n",
                        printable(result.nan_layer));
  return fmt::format("{}{}{}{}{}{}{}: the pipeline and the {} engine {}\n",
                     verified_fields().text(result.plans), rounding_text(result),
                     amplifiers_text(result), nan, result.why, result.equal() ? "" : "\n",
                     result.network, against, result.equal() ? "agree" : "differ");
}

std::string verification_json(const VerifyResult& result, const std::string& against) {
  return json_document("verification", {{"network", result.network},
                                        {"against", against},
                                        {"equal", result.equal()},
                                        {"nan_layer", or_null(result.nan_layer)},
                                        {"first_difference", or_null(result.why)},
                                        {"plans", verified_fields().array(result.plans)}});
}

}  // namespace millrace::present
