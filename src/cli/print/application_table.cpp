#include "cli/print/application_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "report/table.h"

namespace millrace::cli {
namespace {

using api::ApplicationResult;
using api::ApplicationRound;
using api::ApplicationRow;
using application::StepTimes;
using application::Totals;
using report::Align;
using report::Table;

/// The part of the time in which somebody works, or is kept from it by others on the same core.
struct Share {
  std::string who, where;
  double busy = 0;
};

Time each(const Totals& totals, Time sum) { return sum / std::max<std::int64_t>(1, totals.frames); }

std::string energy_text(const ApplicationRound& round) {
  if (!round.joules) return "not available";
  return fmt::format(
      "{:.0f} mJ",
      1e3 * *round.joules / static_cast<double>(std::max<std::int64_t>(1, round.totals.frames)));
}

std::string times_text(const ApplicationResult& result) {
  Table table({{"", Align::left},
               {"first frame"},
               {"latency"},
               {"reading"},
               {"pre-processing"},
               {"stages"},
               {"post-processing"},
               {"waiting"},
               {"energy"}});
  for (const ApplicationRow& row : result.rows) {
    const ApplicationRound& round = row.median();
    const StepTimes& times = round.totals.times;
    const auto text = [&](Time sum) { return millrace::to_text(each(round.totals, sum)); };
    table.add({row.name, millrace::to_text(round.first), text(times.total), text(times.reading),
               text(times.before), text(times.pipeline), text(times.after), text(times.waiting()),
               energy_text(round)});
  }
  const std::string why = result.no_energy.empty()
                              ? ""
                              : fmt::format("energy is not available: {}\n", result.no_energy);
  return table.text() + why;
}

/// Of the plan, over all rounds: its stages, then processing.
std::vector<Share> shares_of(const ApplicationResult& result) {
  const ApplicationRow& row = result.rows.back();
  Time elapsed{}, before{}, after{};
  std::vector<Share> shares;
  std::vector<Time> busy(row.rounds.front().stages.size());
  for (const ApplicationRound& round : row.rounds) {
    elapsed += round.totals.elapsed;
    before += round.totals.times.reading + round.totals.times.before;
    after += round.totals.times.after;
    for (std::size_t s = 0; s < busy.size(); ++s) busy[s] += round.stages[s].busy;
  }
  const auto share = [&](Time time, int threads) {
    return seconds(time) / std::max(1e-9, seconds(elapsed) * threads);
  };
  for (std::size_t s = 0; s < busy.size(); ++s)
    shares.push_back({row.rounds.front().stages[s].name, result.processors[s], share(busy[s], 1)});
  const auto threads = [](int count) {
    return count == 1 ? std::string("1 thread") : fmt::format("{} threads", count);
  };
  shares.push_back(
      {"reading, pre-processing", threads(row.before_threads), share(before, row.before_threads)});
  shares.push_back(
      {"post-processing", threads(row.after_threads), share(after, row.after_threads)});
  return shares;
}

std::size_t bottleneck_of(const std::vector<Share>& shares) {
  const auto most = std::max_element(
      shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.busy < b.busy; });
  return static_cast<std::size_t>(most - shares.begin());
}

std::string shares_text(const ApplicationResult& result) {
  Table table(
      {{"in the last step", Align::left}, {"on", Align::left}, {"busy"}, {"", Align::left}});
  const std::vector<Share> shares = shares_of(result);
  for (std::size_t i = 0; i < shares.size(); ++i)
    table.add({shares[i].who, shares[i].where, fmt::format("{:.1f} %", 100 * shares[i].busy),
               i == bottleneck_of(shares) ? "bottleneck" : ""});
  constexpr double much = 0.5;
  if (shares[bottleneck_of(shares)].busy >= much) return table.text();
  return table.text() +
         "no thread is busy half of the time: passing frames on takes longer than the work\n";
}

/// The caller's ends are waits of the pools: before the pipeline, behind it, and for their turn.
std::string waits_text(const ApplicationResult& result) {
  Table table({{"waiting from", Align::left}, {"to", Align::left}, {"mean"}, {"longest"}});
  const ApplicationRound& round = result.rows.back().median();
  const StepTimes& times = round.totals.times;
  const auto text = [&](Time sum) { return millrace::to_text(each(round.totals, sum)); };
  table.add({"pre-processing", "input", text(times.entry), ""});
  for (const report::ChannelWait& wait : result.waits)
    table.add({wait.from, wait.to, millrace::to_text(wait.mean), millrace::to_text(wait.longest)});
  table.add({"output", "post-processing", text(times.exit), ""});
  table.add({"post-processing", "its turn", text(times.turn), ""});
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

nlohmann::json json_of(const ApplicationRow& row) {
  nlohmann::json rates = nlohmann::json::array();
  for (const ApplicationRound& round : row.rounds) rates.push_back(round.rate());
  const ApplicationRound& round = row.median();
  const StepTimes& times = round.totals.times;
  const auto value = [&](Time sum) { return milliseconds(each(round.totals, sum)); };
  nlohmann::json json = {{"name", row.name},
                         {"frames", round.totals.frames},
                         {"throughput_fps", round.rate()},
                         {"rounds_fps", rates},
                         {"variation", row.variation()},
                         {"first_ms", milliseconds(round.first)},
                         {"latency_ms", value(times.total)},
                         {"reading_ms", value(times.reading)},
                         {"pre_processing_ms", value(times.before)},
                         {"stages_ms", value(times.pipeline)},
                         {"post_processing_ms", value(times.after)},
                         {"waiting_ms", value(times.waiting())},
                         {"energy_mj", nullptr},
                         {"frames_that_differ", row.differing}};
  if (round.joules)
    json["energy_mj"] =
        1e3 * *round.joules / static_cast<double>(std::max<std::int64_t>(1, round.totals.frames));
  return json;
}

}  // namespace

std::string application_text(const ApplicationResult& result) {
  const std::vector<report::WaterfallStep> steps = waterfall_of(result);
  return fmt::format(
      "{}: {} frames, median of {} rounds; times per frame\n\n{}\n{}\n{}\n{}\n"
      "{:.2f} times the rate of all steps one after the other on one core; {}",
      result.application, result.frames, result.rows.front().rounds.size(),
      report::waterfall_text(steps), times_text(result), shares_text(result), waits_text(result),
      report::times(steps.back(), steps.front()), findings_text(result));
}

std::string application_json(const ApplicationResult& result) {
  nlohmann::json rows = nlohmann::json::array(), shares = rows, waits = rows;
  for (const ApplicationRow& row : result.rows) rows.push_back(json_of(row));
  const std::vector<Share> all = shares_of(result);
  for (const Share& share : all)
    shares.push_back({{"name", share.who}, {"on", share.where}, {"busy", share.busy}});
  for (const report::ChannelWait& wait : result.waits)
    waits.push_back({{"from", wait.from},
                     {"to", wait.to},
                     {"mean_ms", milliseconds(wait.mean)},
                     {"longest_ms", milliseconds(wait.longest)}});
  return json_text({{"rows", rows},
                    {"busy", shares},
                    {"bottleneck", all[bottleneck_of(all)].who},
                    {"waiting", waits},
                    {"frames_that_differ", result.rows.back().differing}},
                   1);
}

}  // namespace millrace::cli
