#include "present/results/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "present/text/table.h"

namespace millrace::present {
namespace {

using profile::Rooflines;
using profile::StageRoofline;

std::string share_text(const StageRoofline& stage) {
  return stage.measured > Time{} ? fmt::format("{:.1f} %", 100 * share(stage)) : "-";
}

std::vector<std::string> cells(const StageRoofline& stage) {
  const profile::Roofline& r = stage.roofline;
  return {stage.stage,      count_text(static_cast<double>(r.operations)),
          to_text(r.bytes), to_text(r.arithmetic),
          to_text(r.limit), to_text(stage.measured),
          share_text(stage)};
}

std::string peak_text(const board::Peaks& peaks, board::Precision precision) {
  const auto found = peaks.operations.find(precision);
  return found == peaks.operations.end() ? "-" : count_text(found->second);
}

nlohmann::json to_json(const StageRoofline& stage) {
  return {{"name", stage.stage},
          {"operations", stage.roofline.operations},
          {"bytes", stage.roofline.bytes.count},
          {"arithmetic_ms", milliseconds(stage.roofline.arithmetic)},
          {"limit_ms", milliseconds(stage.roofline.limit)},
          {"measured_ms", milliseconds(stage.measured)},
          {"share", share(stage)}};
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
  Table table({{"stage", Align::left},
               {"operations"},
               {"bytes"},
               {"arithmetic"},
               {"limit"},
               {"in the pipeline"},
               {"of the limit"}});
  for (const StageRoofline& stage : rooflines.stages) table.add(cells(stage));
  table.add_rule();
  table.add(cells(total(rooflines)));
  const std::string tables =
      peaks_text(rooflines.processors, rooflines.peaks) + "\n" + table.text();
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
  nlohmann::json stages = nlohmann::json::array(), processors = nlohmann::json::array();
  for (const StageRoofline& stage : rooflines.stages) stages.push_back(to_json(stage));
  for (std::size_t i = 0; i < rooflines.processors.size(); ++i)
    processors.push_back(
        {{"name", rooflines.processors[i].name}, {"peaks", peaks_json(rooflines.peaks[i])}});
  return {{"processors", processors},
          {"stages", stages},
          {"total", to_json(total(rooflines))},
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
