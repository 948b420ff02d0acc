#include "api/text/tiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "report/table.h"

namespace millrace::api {
namespace {

/// How a time is spent.
std::vector<std::string> row_of(const TilesRun& run) {
  const auto share = [&](Time part) {
    return fmt::format("{:.1f} %", 100 * seconds(part) / std::max(1e-9, seconds(run.total)));
  };
  return {run.name,
          fmt::format("{:.1e}", run.difference),
          millrace::to_text(run.total),
          share(run.kernels),
          share(run.transfers),
          share(run.interpreting())};
}

}  // namespace

std::string tiles_text(const std::vector<TilesRun>& runs) {
  report::Table table({{"workload", report::Align::left},
                       {"difference"},
                       {"time"},
                       {"kernels"},
                       {"transfers"},
                       {"interpreter"}});
  TilesRun all{"total", largest_difference(runs)};
  for (const TilesRun& run : runs) {
    table.add(row_of(run));
    all.total += run.total;
    all.kernels += run.kernels;
    all.transfers += run.transfers;
  }
  table.add_rule();
  table.add(row_of(all));
  return table.text();
}

std::string findings_text(const std::vector<std::string>& findings, const std::string& right) {
  std::string text = findings.empty() ? right : "";
  for (const std::string& finding : findings) text += printable(finding) + "\n";
  return text;
}

}  // namespace millrace::api
