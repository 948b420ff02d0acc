#include "api/text/bench.h"

#include <fmt/format.h>

#include "api/bench/summary.h"
#include "api/text/measured_now.h"
#include "base/printable.h"
#include "report/energy.h"
#include "report/roofline.h"
#include "report/table.h"

namespace millrace::api {

namespace {

using report::Align;
using report::Table;

std::string throughput_text(const BenchResult& result) {
  Table table(
      {{"", Align::left}, {"frames/s"}, {"middle half of rounds", Align::left}, {"the plan is"}});
  for (const BenchRow& row : result.rows) {
    const std::vector<double> sorted = rates(row);
    const bool is_plan = &row == &result.rows.back();
    table.add({row.name, four_digits(median_rate(row)),
               fmt::format("{} .. {}", four_digits(runtime::percentile(sorted, 0.25)),
                           four_digits(runtime::percentile(sorted, 0.75))),
               is_plan ? "" : fmt::format("{:.2f} x", speedup(result, row))});
  }
  return table.text();
}

std::string latency_text(const BenchResult& result) {
  std::vector<Table::Column> columns{{"latency", Align::left}, {"first"}, {"mean"}};
  for (const auto& [name, share] : latency_percentiles) columns.push_back({name});
  columns.push_back({"maximum"});
  Table table(columns);
  for (const BenchRow& row : result.rows) {
    const std::vector<Time> sorted = latencies(row);
    std::vector<std::string> cells{row.name, millrace::to_text(row.first),
                                   millrace::to_text(mean_of(sorted))};
    for (const auto& [name, share] : latency_percentiles)
      cells.push_back(millrace::to_text(runtime::percentile(sorted, share)));
    cells.push_back(millrace::to_text(sorted.back()));
    table.add(std::move(cells));
  }
  const std::string limit = result.in_flight > 0
                                ? fmt::format("at most {} frame{} in flight", result.in_flight,
                                              result.in_flight == 1 ? "" : "s")
                                : "as many frames as the pipeline holds";
  return table.text() + fmt::format("({}: {}; deployed in {})\n", result.rows.back().name, limit,
                                    millrace::to_text(result.rows.back().deployed));
}

std::string energy_text(const BenchResult& result) {
  if (!result.no_energy.empty())
    return fmt::format("energy per frame is not available: {}\n", result.no_energy);
  std::string text;
  for (const BenchRow& row : result.rows)
    if (const auto energy = millijoules(row))
      text += fmt::format("{} {} {:.0f} mJ", text.empty() ? "energy per frame:" : ",", row.name,
                          *energy);
  if (!result.energy.empty()) return "\n" + report::energy_text(result.energy);
  return text.empty() ? text : text + "\n";
}

std::string now_text(const BenchResult& result) {
  std::string text;
  if (result.now)
    for (const std::string& line : lines_of(*result.now)) text += line + "\n";
  return text;
}

std::string stages_text(const BenchResult& result) {
  Table table({{"stage", Align::left},
               {"alone"},
               {"in the pipeline"},
               {"busy"},
               {"arena"},
               {"unplanned"},
               {"weights"},
               {"moved"},
               {"moved unfused"},
               {"remark", Align::left}});
  const double rate = median_rate(result.rows.back());
  for (std::size_t s = 0; s < result.stages.size(); ++s) {
    const runtime::StageStatistics& stage = result.stages[s];
    table.add({stage.name, millrace::to_text(median_alone(result, s)),
               millrace::to_text(busy_per_frame(stage)),
               fmt::format("{:.1f} %", 100 * busy_share(result, s, rate)),
               millrace::to_text(stage.memory.arena), millrace::to_text(stage.memory.naive),
               millrace::to_text(stage.memory.weights), millrace::to_text(stage.memory.moved),
               millrace::to_text(stage.memory.moved_layer_by_layer),
               s == bottleneck(result) && !result.shared ? "bottleneck" : ""});
  }
  return table.text() +
         fmt::format("{} {} frames/s; the pipeline reaches {:.1f} % of it\n",
                     result.shared ? "all replicas, each alone, allow "
                                     "together"
                                   : "the slowest stage, alone, allows",
                     four_digits(runtime::median(rates_allowed(result))),
                     100 * share_of_allowed(result)) +
         now_text(result);
}

std::string cores_text(const board::Board& board) {
  std::size_t cores = 0;
  for (const board::Processor& processor : board.processors) cores += processor.cores.size();
  return counted(cores, "core");
}

}  // namespace

std::string bench_title(const Loaded& loaded) {
  if (loaded.simulated.engine == nullptr)
    return fmt::format("{} on {}", printable(loaded.network.name), cores_text(loaded.board));
  const std::string& board = loaded.origin.board_name;
  return fmt::format("{} on {}, simulated", printable(loaded.network.name),
                     board.empty() ? "a board" : board);
}

std::string bench_text(const BenchResult& result) {
  const std::string text = throughput_text(result) + "\n" + latency_text(result) +
                           energy_text(result) + "\n" + stages_text(result);
  if (result.rooflines.stages.empty()) return text;
  return text + "\n" + report::rooflines_text(rooflines_of(result));
}

}  // namespace millrace::api
