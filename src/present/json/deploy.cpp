#include "present/json/deploy.h"

#include <cmath>

#include "base/json_text.h"

namespace millrace::present {
namespace {

using product::placed_stages_text;

nlohmann::json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

/// No power is known where some device's was assumed.
nlohmann::json power_json(const product::DeployResult& result, double value) {
  return result.is_power_assumed ? nlohmann::json() : finite_or_null(value);
}

nlohmann::json power_by_device(const board::Board& board, const std::vector<double>& power) {
  nlohmann::json result = nlohmann::json::object();
  for (std::size_t d = 0; d < power.size(); ++d) result[board.devices[d].name] = power[d];
  return result;
}

nlohmann::json plans_of(const product::GroupSearch& group, const board::Board& board) {
  nlohmann::json plans = nlohmann::json::array();
  for (std::size_t p = 0; p < group.front.plans.size(); ++p) {
    const explore::GroupPlan& plan = group.front.plans[p];
    plans.push_back({{"stages", group.texts[p]},
                     {"cuts", plan.configuration.cuts},
                     {"latency_ns", plan.latency.count()},
                     {"power_mw", power_by_device(board, plan.power_mw)},
                     {"busiest_mw", power_by_device(board, plan.busiest_mw)}});
  }
  return plans;
}

nlohmann::json groups_json(const product::DeployResult& result, bool with_plans) {
  nlohmann::json groups = nlohmann::json::array();
  for (const product::GroupSearch& group : result.groups) {
    nlohmann::json each = {{"name", group.name},
                           {"layers", group.layers},
                           {"cut_points", group.cut_points},
                           {"candidates", group.candidates},
                           {"evaluated", group.front.evaluated},
                           {"plans", group.front.plans.size()},
                           {"seconds", group.seconds},
                           {"missed", nullptr},
                           {"hypervolume_share", nullptr}};
    if (group.quality) {
      each["missed"] = group.quality->missed;
      each["hypervolume_share"] = group.quality->hypervolume;
    }
    if (with_plans) each["front"] = plans_of(group, result.board);
    groups.push_back(std::move(each));
  }
  return groups;
}

nlohmann::json clocks_json(const board::Board& board, const explore::ClockLevels& levels) {
  nlohmann::json clocks = nlohmann::json::object();
  for (std::size_t d = 0; d < levels.size(); ++d)
    if (!board.devices[d].clocks.empty())
      clocks[board.devices[d].name] = board.devices[d].clocks[levels[d]].value;
  return clocks;
}

nlohmann::json levels_json(const product::DeployResult& result,
                           const product::MethodReport& method) {
  nlohmann::json levels = nlohmann::json::array();
  for (const explore::MethodResult& level : method.levels) {
    nlohmann::json scenarios = nlohmann::json::array();
    for (std::size_t s = 0; s < level.scenes.size(); ++s) {
      const explore::SceneResult& scene = level.scenes[s];
      scenarios.push_back(
          {{"name", result.system.scenarios[s].name},
           {"feasible", scene.schedulable},
           {"power_mw", scene.schedulable ? power_json(result, scene.power_mw) : nlohmann::json()},
           {"clocks_mhz", clocks_json(result.board, scene.clocks)},
           {"checks", scene.checks}});
    }
    levels.push_back({{"feasible", level.feasible},
                      {"power_mw", power_json(result, level.power_mw)},
                      {"scenarios", scenarios}});
  }
  return levels;
}

nlohmann::json plans_chosen(const product::DeployResult& result,
                            const explore::MethodResult& decided) {
  nlohmann::json all = nlohmann::json::array();
  for (const explore::Combined& found : decided.found) {
    nlohmann::json one = nlohmann::json::object();
    for (std::size_t g = 0; g < found.combination.size(); ++g)
      one[result.groups[g].name] = placed_stages_text(result.groups[g], found.combination[g],
                                                      result.board, found.placement[g]);
    all.push_back(std::move(one));
  }
  return all;
}

nlohmann::json max_rate_json(const product::DeployResult& result,
                             const product::MethodReport& method) {
  if (!method.max_rate) return nullptr;
  const explore::MaxRate& rate = *method.max_rate;
  return {{"fps", rate.fps},
          {"together_fps", rate.together_fps},
          {"believed_fps", rate.believed_fps},
          {"power_mw", power_json(result, rate.result.power_mw)},
          {"plans", plans_chosen(result, rate.result)}};
}

nlohmann::json methods_json(const product::DeployResult& result) {
  nlohmann::json methods = nlohmann::json::array();
  for (const product::MethodReport& method : result.methods) {
    const auto or_null = [&result](const std::optional<double>& value) {
      return value ? power_json(result, *value) : nlohmann::json();
    };
    methods.push_back({{"name", method.name},
                       {"feasible", method.decided.feasible},
                       {"power_mw", power_json(result, method.decided.power_mw)},
                       {"plans", plans_chosen(result, method.decided)},
                       {"levels", levels_json(result, method)},
                       {"evaluated", method.decided.evaluated},
                       {"generations", method.decided.generations},
                       {"seconds", method.seconds},
                       {"clock_searches", method.decided.clock_searches},
                       {"clock_seconds", method.decided.clock_seconds},
                       {"usual_mw", power_json(result, method.usual_mw)},
                       {"exact_mw", or_null(method.exact_mw)},
                       {"bound_mw", or_null(method.bound_mw)},
                       {"max_rate", max_rate_json(result, method)}});
  }
  return methods;
}

nlohmann::json mappings_json(const product::DeployResult& result) {
  if (!result.mappings) return nullptr;
  nlohmann::json methods = nlohmann::json::array();
  for (const product::MappingReport& method : result.mappings->methods) {
    const explore::MappingValue& value = method.found.value;
    const bool is_bounded = value.response != realtime::unbounded;
    methods.push_back(
        {{"name", method.name},
         {"feasible", value.feasible},
         {"utilisation", value.utilisation},
         {"response_ns", is_bounded ? nlohmann::json(value.response.count()) : nlohmann::json()},
         {"share_of_deadline", value.demand},
         {"evaluated", method.found.evaluated},
         {"analyses", method.found.analyses},
         {"generations", method.found.generations},
         {"seconds", method.seconds}});
  }
  const auto& least = result.mappings->least_by_trying;
  return {{"methods", methods},
          {"least_utilisation", result.mappings->least_utilisation},
          {"least_by_trying", least ? nlohmann::json(*least) : nlohmann::json()}};
}

}  // namespace

std::string deploy_json(const product::DeployResult& result, const std::string& output) {
  const bool is_written = result.deployment && !output.empty();
  return json_document(
      "deploy",
      {{"system", result.system.name},
       {"board", result.board.name},
       {"groups", groups_json(result, false)},
       {"methods", methods_json(result)},
       {"mappings", mappings_json(result)},
       {"deployment", is_written ? nlohmann::json(output) : nlohmann::json()},
       {"refusal", result.refusal.empty() ? nlohmann::json() : nlohmann::json(result.refusal)}});
}

std::string fronts_json(const product::DeployResult& result) {
  return json_document("fronts", {{"system", result.system.name},
                                  {"board", result.board.name},
                                  {"power_is_assumed", result.is_power_assumed},
                                  {"groups", groups_json(result, true)}});
}

}  // namespace millrace::present
