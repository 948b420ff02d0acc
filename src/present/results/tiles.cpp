#include "present/results/tiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "base/printable.h"
#include "present/description.h"

namespace millrace::present {
namespace {

using workload::TilesRun;

/// In JSON nanoseconds, for people its share of the run.
Value part_of(const TilesRun& run, Time part) {
  return {part.count(), Value::share(seconds(part) / std::max(1e-9, seconds(run.total))).text};
}

Description<TilesRun> tiles_fields() {
  return Description<TilesRun>({
      {"name", "workload", &TilesRun::name},
      {"largest_error", "difference", [](const auto& run) { return Value::error(run.difference); }},
      {"time_ns", "time",
       [](const auto& run) { return Value{run.total.count(), millrace::to_text(run.total)}; }},
      {"kernels_ns", "kernels", [](const TilesRun& run) { return part_of(run, run.kernels); }},
      {"transfers_ns", "transfers",
       [](const TilesRun& run) { return part_of(run, run.transfers); }},
      {"", "interpreter",
       [](const TilesRun& run) { return part_of(run, run.interpreting()); }},
  });
}

}  // namespace

std::string tiles_text(const std::vector<TilesRun>& runs) {
  TilesRun all{"total", largest_difference(runs)};
  for (const TilesRun& run : runs) {
    all.total += run.total;
    all.kernels += run.kernels;
    all.transfers += run.transfers;
  }
  return tiles_fields().text(runs, all);
}

std::string tiles_json(const workload::Program& program, const std::vector<TilesRun>& runs) {
  const double largest = largest_difference(runs);
  return json_document("workload_run", {{"network", program.network},
                                        {"largest_error", largest},
                                        {"within_tolerance", largest <= workload::tiles_tolerance},
                                        {"workloads", tiles_fields().array(runs)}});
}

std::string findings_text(const std::vector<std::string>& findings, const std::string& right) {
  std::string text = findings.empty() ? right : "";
  for (const std::string& finding : findings) text += printable(finding) + "\n";
  return text;
}

std::string findings_json(const std::string& file, const std::vector<std::string>& findings) {
  return json_document("workload_findings", {{"file", file}, {"findings", findings}});
}

}  // namespace millrace::present
