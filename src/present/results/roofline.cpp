#include "present/results/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "present/description.h"

namespace millrace::present {
namespace {

using profile::Rooflines;
using profile::StageRoofline;

const Description<StageRoofline>& stage_fields() {
  using Stage = StageRoofline;
  static const Description<Stage> fields({
      {"name", "stage", &Stage::stage},
      {"operations", "operations",
       [](const Stage& stage) { return Value::operations(stage.roofline.operations); }},
      {"bytes", "bytes", [](const Stage& stage) { return stage.roofline.bytes; }},
      {"arithmetic_ms", "arithmetic",
       [](const Stage& stage) { return stage.roofline.arithmetic; }},
      {"limit_ms", "limit", [](const Stage& stage) { return stage.roofline.limit; }},
      {"measured_ms", "in the pipeline", &Stage::measured},
      {"share", "of the limit",
       [](const Stage& stage) {
         const Value value = Value::share(share(stage));
         return stage.measured > Time{} ? value : Value{value.json, "-"};
       }},
  });
  return fields;
}

std::string peak_text(const board::Peaks& peaks, board::Precision precision) {
  const auto found = peaks.operations.find(precision);
  return found == peaks.operations.end() ? "-" : count_text(found->second);
}

constexpr const char* fewer_operations =
    "; more than 100 % is possible, since some kernels need fewer operations than are counted";

}  // namespace

std::string peaks_text(const std::vector<board::Processor>& processors,
                       const std::vector<board::Peaks>& peaks) {
  using board::Precision;
  std::vector<Precision> precisions{Precision::f32, Precision::f16, Precision::bf16,
                                    Precision::int8};
  const auto known = [](const board::Peaks& of) { return of.operations.contains(Precision::f16); };
  if (std::none_of(peaks.begin(), peaks.end(), known)) std::erase(precisions, Precision::f16);
  std::vector<Table::Column> columns{{"operations per second", Align::left}};
  for (const Precision precision : precisions) columns.push_back({board::to_text(precision)});
  columns.push_back({"memory per second"});
  Table table(columns);
  for (std::size_t i = 0; i < processors.size(); ++i) {
    std::vector<std::string> row{processors[i].name};
    for (const Precision precision : precisions) row.push_back(peak_text(peaks[i], precision));
    row.push_back(to_text(Bytes{static_cast<std::int64_t>(peaks[i].bytes)}));
    table.add(std::move(row));
  }
  return table.text();
}

std::string rooflines_text(const Rooflines& rooflines) {
  const std::string tables = peaks_text(rooflines.processors, rooflines.peaks) + "\n" +
                             stage_fields().text(rooflines.stages, total(rooflines));
  if (total(rooflines).roofline.limit == Time{}) return tables;
  const double limit = limit_fps(rooflines);
  return tables + fmt::format(
                      "at the limit {} processor{} would pass {} frames/s; the pipeline reaches "
                      "{:.1f} % of that{}\n",
                      rooflines.processors.size(), rooflines.processors.size() == 1 ? "" : "s",
                      four_digits(limit), 100 * rooflines.measured_fps / limit,
                      rooflines.measured_fps > limit ? fewer_operations : "");
}

nlohmann::json rooflines_json(const Rooflines& rooflines) {
  nlohmann::json processors = nlohmann::json::array();
  for (std::size_t i = 0; i < rooflines.processors.size(); ++i)
    processors.push_back(
        {{"name", rooflines.processors[i].name}, {"peaks", peaks_json(rooflines.peaks[i])}});
  return {{"processors", processors},
          {"stages", stage_fields().array(rooflines.stages)},
          {"total", stage_fields().json(total(rooflines))},
          {"limit_fps", limit_fps(rooflines)},
          {"throughput_fps", rooflines.measured_fps}};
}

nlohmann::json peaks_json(const board::Peaks& peaks) {
  nlohmann::json result = {{"memory_bytes_per_s", std::llround(peaks.bytes)}};
  for (const auto& [precision, operations] : peaks.operations)
    result["operations_per_s"][board::to_text(precision)] = std::llround(operations);
  return result;
}

}  // namespace millrace::present
