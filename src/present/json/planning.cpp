#include "present/json/planning.h"

#include "base/json_text.h"
#include "plan/capacities.h"
#include "present/text/variants.h"
#include "product/planning/report.h"

namespace millrace::present {
namespace {

nlohmann::json buffers_of(const network::Network& network, const explore::Candidate& chosen) {
  const auto& smallest = chosen.smallest;
  return {{"bytes", plan::slot_bytes(chosen.plan, network).count},
          {"smallest_bytes", smallest ? nlohmann::json(smallest->total.count) : nlohmann::json()},
          {"bound_bytes", smallest ? nlohmann::json(smallest->bound.count) : nlohmann::json()}};
}

nlohmann::json candidates_of(const explore::Choice& choice, const network::Network& network) {
  nlohmann::json candidates = nlohmann::json::array();
  for (const explore::Candidate& c : choice.candidates)
    candidates.push_back({{"name", c.name},
                          {"bottleneck_ns", c.search.bottleneck},
                          {"fitness_ns", c.search.fitness},
                          {"bound_ns", c.bound.count()},
                          {"period_ns", c.evidence.period.count()},
                          {"latency_ns", product::latency_of(c, network).count()},
                          {"batch", c.batch},
                          {"epochs", c.search.epochs},
                          {"search_time_ns", c.search_time.count()}});
  return candidates;
}

nlohmann::json loss_of(const profile::Loss& loss) {
  return {{"measure", loss.measure.empty() ? "answers" : loss.measure},
          {"changed_share", loss.changed_share()},
          {"mean_error", loss.mean_error},
          {"largest_error", loss.largest_error}};
}

/// Null without a budget for the loss.
nlohmann::json precisions_of(const product::PlanResult& result) {
  const auto& choice = result.attempts.back().precisions;
  if (!choice) return nullptr;
  nlohmann::json layers = nlohmann::json::array();
  for (const explore::LoweringCost& cost : choice->costs) {
    const explore::Lowering& low = cost.lowering;
    layers.push_back({{"layer", result.network[low.layer].name},
                      {"precision", board::to_text(low.precision)},
                      {"saved_ns", low.saved_ns},
                      {"loss", loss_of(cost.loss)},
                      {"taken", choice->precisions[low.layer.index] == low.precision}});
  }
  return {{"within_budget", choice->within_budget},
          {"saved_ns", choice->saved_ns},
          {"frames", choice->loss.frames},
          {"loss", loss_of(choice->loss)},
          {"layers", layers}};
}

nlohmann::json reasons_of(const product::PlanResult& result) {
  nlohmann::json all = nlohmann::json::array();
  const auto name = [&](LayerId layer) { return result.network[layer].name; };
  for (const explore::LayerReasons& why : result.why)
    all.push_back(
        {{"layer", name(why.layer)},
         {"processor", why.processor.name},
         {"fused_with", why.fused_with ? nlohmann::json(name(*why.fused_with)) : nlohmann::json()},
         {"variant", board::to_text(why.variant)},
         {"reasons", why.reasons}});
  return all;
}

nlohmann::json engines_of(const product::PlanResult& result) {
  nlohmann::json engines = nlohmann::json::array();
  for (const auto& [name, layers] : layers_by_engine(result.file.plan))
    engines.push_back({{"name", name}, {"layers", layers}});
  return engines;
}

/// Null without crops.
nlohmann::json crops_of(const product::PlanResult& result) {
  if (!result.crops) return nullptr;
  const product::PlannedCrops& crops = *result.crops;
  return {{"network", crops.network.name},
          {"at_most", crops.most},
          {"runs", crops.runs},
          {"bound_ns", crops.bound.count()},
          {"period_ns", crops.period.count()}};
}

}  // namespace

std::string planning_json(const product::PlanResult& result, const std::string& output) {
  const auto& choice = result.attempts.back().choice;
  nlohmann::json fields = {{"network", result.network.name},
                           {"precisions", precisions_of(result)},
                           {"why", reasons_of(result)},
                           {"candidates", nlohmann::json::array()},
                           {"lower_bound_ns", nullptr},
                           {"chosen", nullptr},
                           {"buffers", nullptr},
                           {"plan", nullptr},
                           {"measured_engines", result.engine},
                           {"engines", nlohmann::json::array()},
                           {"crops", nullptr},
                           {"refusal", nullptr}};
  if (choice) {
    fields["candidates"] = candidates_of(*choice, result.network);
    fields["lower_bound_ns"] = choice->lower_bound;
  }
  if (!result.refusal.empty()) {
    fields["refusal"] = result.refusal;
    return json_document("planning", std::move(fields));
  }
  fields["chosen"] = choice->winner().name;
  fields["engines"] = engines_of(result);
  fields["crops"] = crops_of(result);
  fields["buffers"] = buffers_of(result.network, choice->winner());
  if (!output.empty()) fields["plan"] = output;
  return json_document("planning", std::move(fields));
}

}  // namespace millrace::present
