#include "present/json/analysis.h"

#include "base/json_text.h"
#include "plan/tensor_names.h"
#include "present/json/measured_now.h"
#include "present/results/energy.h"

namespace millrace::present {
namespace {

nlohmann::json throughput_of(const product::Analysis& analysis) {
  const auto period = product::proven_period(analysis.proof);
  if (!period) return nullptr;
  return {{"bound_fps", 1 / *shortest_period(analysis)}, {"period_ns", period->text()}};
}

nlohmann::json critical_of(const analysis::Proof& proof) {
  nlohmann::json result = nlohmann::json::array();
  for (const analysis::CriticalPhase& phase : proof.critical)
    result.push_back(
        {{"phase", phase.name}, {"time_ms", milliseconds(phase.time)}, {"then", phase.then}});
  return result;
}

nlohmann::json channels_of(const product::Analysis& analysis) {
  const plan::TensorNames names(analysis.network());
  nlohmann::json result = nlohmann::json::array();
  const auto& channels = analysis.proof.schedule.channels;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const schedule::Channel& channel = channels[c];
    const auto& smallest = analysis.proof.smallest;
    result.push_back(
        {{"tensor", names[channel.tensor]},
         {"from", analysis::name_of(analysis.proof.schedule, channel.from)},
         {"to", analysis::name_of(analysis.proof.schedule, channel.to)},
         {"capacity", channel.slots()},
         {"smallest_capacity", smallest ? nlohmann::json(smallest->capacities[c]) : nullptr},
         {"slot_bytes", analysis.network()[channel.tensor].size().count}});
  }
  return result;
}

nlohmann::json measured_of(const product::Analysis& analysis) {
  nlohmann::json result = nlohmann::json::array();
  const auto bound = shortest_period(analysis);
  const auto add = [&](Time measured, const char* when) {
    result.push_back({{"when", when}, {"throughput_fps", 1 / seconds(measured)}});
    result.back()["share_of_bound"] =
        bound ? nlohmann::json(*bound / seconds(measured)) : nlohmann::json();
  };
  if (analysis.evidence().period > Time{})
    add(analysis.evidence().period, analysis.recorded ? "recorded" : "planning");
  if (!analysis.now) return result;
  const runtime::MeasuredNow& now = *analysis.now;
  add(now.period(), "now");
  nlohmann::json phases = nlohmann::json::array(), busy = nlohmann::json::array();
  const auto& actors = analysis.proof.schedule.actors;
  for (std::size_t a = 0; a < actors.size(); ++a) {
    phases.push_back(nlohmann::json::array());
    for (std::size_t p = 0; p < actors[a].phases.size(); ++p)
      phases.back().push_back(milliseconds(now.phase(a, p)));
    busy.push_back(now.busy_to_phases(a));
  }
  result.back().update({{"phases_ms", phases}, {"busy_to_phases", busy}});
  result.back().update(json_of(now));
  return result;
}

}  // namespace

std::string analysis_json(const product::Analysis& analysis) {
  const analysis::Proof& proof = analysis.proof;
  nlohmann::json cycles = nlohmann::json::object(), buffers = {{"bytes", proof.slots.count}};
  for (std::size_t a = 0; a < proof.cycles.size(); ++a)
    cycles[proof.graph.actors[a].name] = proof.cycles[a];
  const auto& smallest = proof.smallest;
  buffers["smallest_bytes"] = smallest ? nlohmann::json(smallest->total.count) : nlohmann::json();
  buffers["bound_bytes"] = smallest ? nlohmann::json(smallest->bound.count) : nlohmann::json();
  nlohmann::json fields = {
      {"plan", analysis.file},
      {"network", analysis.plan().network_name},
      {"consistent", true},
      {"live", true},
      {"repetition_vector", cycles},
      {"throughput", throughput_of(analysis)},
      {"critical_cycle", critical_of(proof)},
      {"latency_ms",
       proof.latency ? nlohmann::json(milliseconds(*proof.latency)) : nlohmann::json()},
      {"buffers", buffers},
      {"channels", channels_of(analysis)},
      {"measured", measured_of(analysis)},
      {"energy_per_frame", energy_json(analysis.energy)}};
  return json_document("analysis", std::move(fields));
}

}  // namespace millrace::present
