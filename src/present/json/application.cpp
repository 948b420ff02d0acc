#include "present/json/application.h"

#include "base/json_text.h"
#include "present/json/accuracy.h"
#include "application/bench/shares.h"

namespace millrace::present {
namespace {

nlohmann::json json_of(const application::ApplicationRow& row) {
  nlohmann::json rates = nlohmann::json::array();
  for (const application::ApplicationRound& round : row.rounds) rates.push_back(round.rate());
  const application::ApplicationRound& round = row.median();
  const application::StepTimes& times = round.totals.times;
  const auto value = [&](Time sum) {
    return milliseconds(application::per_frame(round.totals, sum));
  };
  const auto energy = millijoules(round);
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
                         {"energy_mj", energy ? nlohmann::json(*energy) : nlohmann::json()},
                         {"frames_that_differ", row.differing}};
  if (round.totals.crops.crops > 0) json["crops_ms"] = value(times.crops);
  return json;
}

}  // namespace

std::string application_json(const application::ApplicationResult& result) {
  nlohmann::json rows = nlohmann::json::array(), shares = rows, waits = rows;
  for (const application::ApplicationRow& row : result.rows) rows.push_back(json_of(row));
  const std::vector<application::Share> all = shares_of(result);
  for (const application::Share& share : all)
    shares.push_back({{"name", share.who}, {"on", share.where}, {"busy", share.busy}});
  for (const analysis::ChannelWait& wait : result.waits)
    waits.push_back({{"from", wait.from},
                     {"to", wait.to},
                     {"mean_ms", milliseconds(wait.mean)},
                     {"longest_ms", milliseconds(wait.longest)}});
  return json_document("application_bench", {{"rows", rows},
                                             {"busy", shares},
                                             {"bottleneck", all[busiest_of(all)].who},
                                             {"waiting", waits},
                                             {"accuracy", accuracy_json(result.accuracy)},
                                             {"frames_that_differ", result.rows.back().differing}});
}

}  // namespace millrace::present
