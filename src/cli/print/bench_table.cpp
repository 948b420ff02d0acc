#include "cli/print/bench_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/json_text.h"
#include "base/printable.h"
#include "cli/print/measured_now.h"
#include "report/roofline.h"
#include "report/table.h"

namespace millrace::cli {

namespace {

using report::Align;
using report::Table;

constexpr std::array<std::pair<const char*, double>, 4> latency_percentiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}}};

double rate_of(const runtime::Load& load) {
  return static_cast<double>(load.frames) / seconds(load.elapsed);
}

double median_rate(const api::BenchRow& row) { return runtime::median(rates(row)); }

/// How many times as fast as the row the plan is: the median of the rounds, in each of which both
/// were measured.
double speedup(const api::BenchResult& result, const api::BenchRow& row) {
  std::vector<double> ratios;
  for (std::size_t r = 0; r < row.rounds.size(); ++r)
    ratios.push_back(rate_of(result.rows.back().rounds[r]) / rate_of(row.rounds[r]));
  return runtime::median(ratios);
}

Time mean(const std::vector<Time>& times) {
  return std::accumulate(times.begin(), times.end(), Time{}) /
         static_cast<std::int64_t>(times.size());
}

std::string throughput_text(const api::BenchResult& result) {
  Table table(
      {{"", Align::left}, {"frames/s"}, {"middle half of rounds", Align::left}, {"the plan is"}});
  for (const api::BenchRow& row : result.rows) {
    const std::vector<double> sorted = rates(row);
    const bool is_plan = &row == &result.rows.back();
    table.add({row.name, fmt::format("{:.1f}", median_rate(row)),
               fmt::format("{:.1f} .. {:.1f}", runtime::percentile(sorted, 0.25),
                           runtime::percentile(sorted, 0.75)),
               is_plan ? "" : fmt::format("{:.2f} x", speedup(result, row))});
  }
  return table.text();
}

std::string latency_text(const api::BenchResult& result) {
  std::vector<Table::Column> columns{{"latency", Align::left}, {"first"}, {"mean"}};
  for (const auto& [name, share] : latency_percentiles) columns.push_back({name});
  columns.push_back({"maximum"});
  Table table(columns);
  for (const api::BenchRow& row : result.rows) {
    const std::vector<Time> sorted = latencies(row);
    std::vector<std::string> cells{row.name, millrace::to_text(row.first),
                                   millrace::to_text(mean(sorted))};
    for (const auto& [name, share] : latency_percentiles)
      cells.push_back(millrace::to_text(runtime::percentile(sorted, share)));
    cells.push_back(millrace::to_text(sorted.back()));
    table.add(std::move(cells));
  }
  const std::string limit = result.in_flight > 0
                                ? fmt::format("at most {} frame{} in flight", result.in_flight,
                                              result.in_flight == 1 ? "" : "s")
                                : "as many frames as the pipeline holds";
  return table.text() + fmt::format("({}: {}; deployed in {})\n",
                                    result.rows.back().name, limit,
                                    millrace::to_text(result.rows.back().deployed));
}

/// Nothing if it was not measured.
std::optional<double> millijoules(const api::BenchRow& row) {
  std::int64_t frames = 0;
  for (const runtime::Load& load : row.rounds) frames += load.frames;
  if (!row.joules || frames == 0) return std::nullopt;
  return 1e3 * *row.joules / static_cast<double>(frames);
}

std::string energy_text(const api::BenchResult& result) {
  if (!result.no_energy.empty())
    return fmt::format("energy per frame: not available, {}\n", result.no_energy);
  std::string text;
  for (const api::BenchRow& row : result.rows)
    if (const auto energy = millijoules(row))
      text += fmt::format("{} {} {:.0f} mJ", text.empty() ? "energy per frame:" : ",", row.name,
                          *energy);
  return text.empty() ? text : text + "\n";
}

Time median_alone(const api::BenchResult& result, std::size_t stage) {
  std::vector<Time> times;
  for (const std::vector<Time>& round : result.alone) times.push_back(round[stage]);
  return runtime::median(times);
}

/// Frames per second that a stage, with its replicas, would pass alone.
double rate_alone(const api::BenchResult& result, std::size_t stage, Time alone) {
  return static_cast<double>(result.stages[stage].replicas) / seconds(alone);
}

std::size_t bottleneck(const api::BenchResult& result) {
  const auto rate = [&](std::size_t s) { return rate_alone(result, s, median_alone(result, s)); };
  std::size_t slowest = 0;
  for (std::size_t s = 1; s < result.stages.size(); ++s)
    if (rate(s) < rate(slowest)) slowest = s;
  return slowest;
}

Time busy_per_frame(const runtime::StageStatistics& stage) {
  return stage.frames > 0 ? stage.busy / stage.frames : Time{};
}

/// What the stages allow, each by itself, in frames per second, in each round.
std::vector<double> rates_allowed(const api::BenchResult& result) {
  std::vector<double> rates;
  for (const std::vector<Time>& alone : result.alone) {
    double sum = 0, least = std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s < alone.size(); ++s) {
      sum += 1 / seconds(alone[s]);
      least = std::min(least, rate_alone(result, s, alone[s]));
    }
    rates.push_back(result.shared ? sum : least);
  }
  return rates;
}

/// The median of the rounds' shares of that.
double share_of_allowed(const api::BenchResult& result) {
  std::vector<double> shares = rates_allowed(result);
  for (std::size_t r = 0; r < shares.size(); ++r)
    shares[r] = rate_of(result.rows.back().rounds[r]) / shares[r];
  return runtime::median(shares);
}

/// The part of its time in which a stage works, at this rate of the pipeline.
double busy_share(const api::BenchResult& result, std::size_t index, double rate) {
  const runtime::StageStatistics& stage = result.stages[index];
  std::int64_t frames = stage.frames * stage.replicas;  // that passed the pipeline
  if (result.shared) {
    frames = 0;
    for (const runtime::StageStatistics& each : result.stages) frames += each.frames;
  }
  if (frames == 0) return 0;
  return std::min(1.0, rate * seconds(stage.busy) / static_cast<double>(frames));
}

std::string now_text(const api::BenchResult& result) {
  std::string text;
  if (result.now)
    for (const std::string& line : lines_of(*result.now)) text += line + "\n";
  return text;
}

std::string stages_text(const api::BenchResult& result) {
  Table table({{"stage", Align::left},
               {"alone"},
               {"in the pipeline"},
               {"busy"},
               {"arena"},
               {"unplanned"},
               {"weights"},
               {"moved"},
               {"moved unfused"},
               {"", Align::left}});
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
         fmt::format(
             "{} {:.1f} frames/s; the pipeline reaches {:.1f} % of it\n",
             result.shared ? "all replicas, each alone, allow "
                             "together" : "the slowest stage, alone, allows",
             runtime::median(rates_allowed(result)), 100 * share_of_allowed(result)) +
         now_text(result);
}

report::Rooflines rooflines_of(const api::BenchResult& result) {
  report::Rooflines rooflines = result.rooflines;
  rooflines.measured_fps = median_rate(result.rows.back());
  for (std::size_t s = 0; s < rooflines.stages.size(); ++s)
    rooflines.stages[s].measured = busy_per_frame(result.stages[s]);
  return rooflines;
}

std::string cores_text(const board::Board& board) {
  std::size_t cores = 0;
  for (const board::Processor& processor : board.processors) cores += processor.cores.size();
  return fmt::format("{} core{}", cores, cores == 1 ? "" : "s");
}

}  // namespace

std::string bench_title(const api::Loaded& loaded) {
  if (loaded.simulated.engine == nullptr)
    return fmt::format("{} on {}", printable(loaded.network.name), cores_text(loaded.board));
  const std::string& board = loaded.origin.board_name;
  return fmt::format("{} on {}, simulated", printable(loaded.network.name),
                     board.empty() ? "a board" : board);
}

std::string bench_text(const api::BenchResult& result) {
  const std::string text = throughput_text(result) + "\n" + latency_text(result) +
                           energy_text(result) + "\n" + stages_text(result);
  if (result.rooflines.stages.empty()) return text;
  return text + "\n" + report::rooflines_text(rooflines_of(result));
}

std::string bench_json(const api::BenchResult& result) {
  nlohmann::json rows = nlohmann::json::array(), stages = nlohmann::json::array();
  for (const api::BenchRow& row : result.rows) {
    const std::vector<Time> sorted = latencies(row);
    nlohmann::json latency = {{"first_ms", milliseconds(row.first)},
                              {"mean_ms", milliseconds(mean(sorted))},
                              {"maximum_ms", milliseconds(sorted.back())}};
    for (const auto& [name, share] : latency_percentiles)
      latency[fmt::format("{}_ms", name)] = milliseconds(runtime::percentile(sorted, share));
    const auto energy = millijoules(row);
    rows.push_back({{"name", row.name},
                    {"energy_mj", energy ? nlohmann::json(*energy) : nlohmann::json()},
                    {"deployed_ms", milliseconds(row.deployed)},
                    {"throughput_fps", median_rate(row)},
                    {"plan_is", speedup(result, row)},
                    {"rounds_fps", rates(row)},
                    {"latency", latency}});
  }
  for (std::size_t s = 0; s < result.stages.size(); ++s) {
    const runtime::StageStatistics& stage = result.stages[s];
    stages.push_back({{"name", stage.name},
                      {"alone_ms", milliseconds(median_alone(result, s))},
                      {"busy_ms", milliseconds(stage.busy)},
                      {"waiting_ms", milliseconds(stage.waiting)},
                      {"frames", stage.frames},
                      {"arena_bytes", stage.memory.arena.count},
                      {"naive_bytes", stage.memory.naive.count},
                      {"weights_bytes", stage.memory.weights.count},
                      {"moved_bytes", stage.memory.moved.count},
                      {"layer_by_layer_bytes", stage.memory.moved_layer_by_layer.count}});
  }
  const auto none = nlohmann::json();
  return json_text(
      {{"rows", rows},
       {"stages", stages},
       {"bottleneck", bottleneck(result)},
       {"share_of_stages_alone", share_of_allowed(result)},
       {"promised", result.now ? json_of(*result.now) : none},
       {"roofline",
        result.rooflines.stages.empty() ? none : report::rooflines_json(rooflines_of(result))}},
      1);
}

}  // namespace millrace::cli
