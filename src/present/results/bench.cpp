#include "present/results/bench.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "present/description.h"
#include "present/results/analysis.h"
#include "present/results/energy.h"
#include "present/results/roofline.h"
#include "runtime/bench/summary.h"
#include "schedule/schedule.h"

namespace millrace::present {
namespace {

using product::BenchResult;
using product::BenchRow;

Description<BenchRow> throughput_fields(const BenchResult& result) {
  const auto middle = [](const BenchRow& row) {
    const std::vector<double> sorted = rates(row);
    return fmt::format("{} .. {}", four_digits(runtime::percentile(sorted, 0.25)),
                       four_digits(runtime::percentile(sorted, 0.75)));
  };
  const auto plan_is = [&](const BenchRow& row) {
    const double times = speedup(result, row);
    const bool is_plan = &row == &result.rows.back();
    return Value{times, is_plan ? "" : fmt::format("{:.2f} x", times)};
  };
  return Description<BenchRow>({
      {"name", "", &BenchRow::name},
      {"throughput_fps", "frames/s", runtime::median_rate},
      {"", "middle half of rounds", middle},
      {"plan_is", "the plan is", plan_is},
      {"rounds_fps", nullptr, [](const BenchRow& row) { return nlohmann::json(rates(row)); }},
      {"deployed_ms", nullptr, &BenchRow::deployed},
      {"energy_mj", nullptr, [](const BenchRow& row) { return millijoules(row); }},
  });
}

/// A row with its latencies, sorted.
struct RowLatencies {
  const BenchRow& row;
  std::vector<Time> sorted = latencies(row);
};

Description<RowLatencies> latency_fields() {
  std::vector<RowField<RowLatencies>> fields{
      {"", "latency", [](const RowLatencies& of) { return of.row.name; }},
      {"first_ms", "first", [](const RowLatencies& of) { return of.row.first; }},
      {"mean_ms", "mean", [](const RowLatencies& of) { return runtime::mean_of(of.sorted); }}};
  for (const auto& [name, part] : runtime::latency_percentiles)
    fields.push_back(
        {fmt::format("{}_ms", name), name,
         [share = part](const RowLatencies& of) { return runtime::percentile(of.sorted, share); }});
  fields.push_back(
      {"maximum_ms", "maximum", [](const RowLatencies& of) { return of.sorted.back(); }});
  return Description<RowLatencies>(std::move(fields));
}

Description<std::size_t> stage_fields(const BenchResult& result) {
  using engine::Memory;
  const auto stage = [&](std::size_t s) -> const runtime::StageStatistics& {
    return result.stages[s];
  };
  const auto memory = [=](Bytes Memory::*part) {
    return [=](std::size_t s) { return stage(s).memory.*part; };
  };
  const auto busy = [&](std::size_t s) {
    return Value::share(busy_share(result, s, median_rate(result.rows.back())));
  };
  const auto remark = [&](std::size_t s) {
    return s == bottleneck(result) && !result.shared ? "bottleneck" : "";
  };
  return Description<std::size_t>({
      {"name", "stage", [=](std::size_t s) { return stage(s).name; }},
      {"alone_ms", "alone", [&](std::size_t s) { return median_alone(result, s); }},
      {"", "in the pipeline", [=](std::size_t s) { return runtime::busy_per_frame(stage(s)); }},
      {"", "busy", busy},
      {"arena_bytes", "arena", memory(&Memory::arena)},
      {"naive_bytes", "unplanned", memory(&Memory::naive)},
      {"weights_bytes", "weights", memory(&Memory::weights)},
      {"moved_bytes", "moved", memory(&Memory::moved)},
      {"layer_by_layer_bytes", "moved unfused", memory(&Memory::moved_layer_by_layer)},
      {"", "remark", remark},
      {"busy_ms", nullptr, [=](std::size_t s) { return stage(s).busy; }},
      {"waiting_ms", nullptr, [=](std::size_t s) { return stage(s).waiting; }},
      {"frames", nullptr, [=](std::size_t s) { return stage(s).frames; }},
  });
}

std::string in_flight_text(const BenchResult& result) {
  if (result.in_flight == 0) return "as many frames as the pipeline holds";
  return fmt::format("at most {} in flight",
                     counted(static_cast<std::size_t>(result.in_flight), "frame"));
}

std::string latency_text(const BenchResult& result) {
  std::vector<RowLatencies> rows;
  for (const BenchRow& row : result.rows) rows.push_back({row});
  return latency_fields().table(rows).text() +
         fmt::format("({}: {}; deployed in {})\n", result.rows.back().name, in_flight_text(result),
                     millrace::to_text(result.rows.back().deployed));
}

std::string energy_part(const BenchResult& result) {
  if (!result.no_energy.empty())
    return fmt::format("energy per frame is not available: {}\n", result.no_energy);
  std::string text;
  for (const BenchRow& row : result.rows)
    if (const auto energy = millijoules(row))
      text += fmt::format("{} {} {:.0f} mJ", text.empty() ? "energy per frame:" : ",", row.name,
                          *energy);
  if (!result.energy.empty()) return "\n" + present::energy_text(result.energy);
  return text.empty() ? text : text + "\n";
}

std::string now_text(const BenchResult& result) {
  std::string text;
  if (result.now)
    for (const std::string& line : lines_of(*result.now)) text += line + "\n";
  return text;
}

std::string stages_text(const BenchResult& result) {
  return stage_fields(result).table(numbers_of(result.stages)).text() +
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

/// "resnet18 on 2 cores".
std::string title_of(const product::Loaded& loaded) {
  if (loaded.simulated.engine == nullptr)
    return fmt::format("{} on {}", printable(loaded.network.name), cores_text(loaded.board));
  const std::string& board = loaded.origin.board_name;
  return fmt::format("{} on {}, simulated", printable(loaded.network.name),
                     board.empty() ? "a board" : board);
}

/// The row that the plan is slowest beside; nothing if there is no other one.
const BenchRow* hardest_row(const BenchResult& result) {
  const BenchRow* hardest = nullptr;
  for (std::size_t r = 0; r + 1 < result.rows.size(); ++r)
    if (hardest == nullptr || speedup(result, result.rows[r]) < speedup(result, *hardest))
      hardest = &result.rows[r];
  return hardest;
}

std::string verdict_text(const product::Loaded& loaded, const BenchResult& result) {
  constexpr double clearly = 0.97;  // less than that is no noise
  std::string text = fmt::format("{}: {} frames/s", title_of(loaded),
                                 four_digits(median_rate(result.rows.back())));
  const BenchRow* const hardest = hardest_row(result);
  for (std::size_t r = 0; r + 1 < result.rows.size(); ++r)
    text += fmt::format("{}{:.2f} times {}", r == 0 ? "; " : ", ", speedup(result, result.rows[r]),
                        result.rows[r].name);
  text += "\n";
  if (hardest != nullptr && speedup(result, *hardest) < clearly)
    text += fmt::format("{} is faster here: plan again when the machine is as busy as it will be\n",
                        hardest->name);
  return text;
}

/// Median and maximum of the plan's latencies.
std::string brief_latency_text(const BenchResult& result) {
  const std::vector<Time> sorted = latencies(result.rows.back());
  return fmt::format("latency: {} for half of the frames, at most {} for 99 %; {}\n",
                     millrace::to_text(runtime::percentile(sorted, 0.5)),
                     millrace::to_text(runtime::percentile(sorted, 0.99)), in_flight_text(result));
}

/// What limits the plan; of replicas that share frames, and of one stage alone, there is no choice.
std::string limit_text(const product::Loaded& loaded, const BenchResult& result) {
  const std::size_t slowest = bottleneck(result);
  const double share = 100 * busy_share(result, slowest, median_rate(result.rows.back()));
  if (result.shared)
    return fmt::format(
        "each of {} replicas computes whole frames; {} is busy {:.0f} % of the time\n",
        result.stages.size(), result.stages[slowest].name, share);
  return fmt::format("limited by {} on {}, busy {:.0f} % of the time\n",
                     result.stages[slowest].name,
                     schedule::compile(loaded.plan).actors[slowest].processor.name, share);
}

}  // namespace

std::string bench_text(const product::Loaded& loaded, const BenchResult& result) {
  const std::string text =
      fmt::format("{}, {}\n\n", title_of(loaded), counted(result.alone.size(), "round")) +
      throughput_fields(result).table(result.rows).text() + "\n" + latency_text(result) +
      energy_part(result) + "\n" + stages_text(result);
  if (result.rooflines.stages.empty()) return text;
  return text + "\n" + rooflines_text(rooflines_of(result));
}

std::string bench_answer(const product::Loaded& loaded, const BenchResult& result,
                         const std::string& file) {
  std::string text =
      verdict_text(loaded, result) + brief_latency_text(result) + limit_text(loaded, result);
  if (result.no_energy.empty()) text += energy_part(result);
  const std::string word = shell_word(file);
  return text +
         (product::is_plan_file(file) ? fmt::format("next: millrace run {} ⟨input⟩ FILES\n", word)
                                      : fmt::format("next: millrace plan {}\n", word)) +
         "-v shows spread, stages and limits\n";
}

std::string bench_json(const BenchResult& result) {
  const auto none = nlohmann::json(), empty = nlohmann::json::array();
  nlohmann::json fields = {{"rows", empty},
                           {"stages", stage_fields(result).array(numbers_of(result.stages))},
                           {"bottleneck", none},
                           {"share_of_stages_alone", none},
                           {"promised", none},
                           {"roofline", none},
                           {"energy_per_frame", energy_json(result.energy)}};
  for (const BenchRow& row : result.rows) {
    fields["rows"].push_back(throughput_fields(result).json(row));
    fields["rows"].back()["latency"] = latency_fields().json({row});
  }
  if (!result.stages.empty()) {
    fields["bottleneck"] = bottleneck(result);
    fields["share_of_stages_alone"] = share_of_allowed(result);
  }
  if (result.now) fields["promised"] = json_of(*result.now);
  if (!result.rooflines.stages.empty()) fields["roofline"] = rooflines_json(rooflines_of(result));
  return json_document("bench", std::move(fields));
}

std::string ready_line(Time first) {
  return json_document("bench_slices", {{"ready", true}, {"first_ms", milliseconds(first)}}, -1);
}

std::string slice_line(const runtime::Load& load) {
  nlohmann::json latencies = nlohmann::json::array();
  for (const Time latency : load.latencies) latencies.push_back(milliseconds(latency));
  const nlohmann::json line = {
      {"frames", load.frames}, {"elapsed_s", seconds(load.elapsed)}, {"latencies_ms", latencies}};
  return json_text(line, -1) + "\n";
}

}  // namespace millrace::present
