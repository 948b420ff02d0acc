#include "present/json/deployment_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"

namespace millrace::present {
namespace {

using Json = nlohmann::json;

Json json_of(const schedule::FrameCounts& frames) {
  return {{"due", frames.due},       {"released", frames.released},
          {"done", frames.done},     {"skipped", frames.skipped},
          {"missed", frames.missed}, {"stretched", frames.stretched},
          {"lost", frames.lost()}};
}

Json json_of(const runtime::ResponseTimes& times) {
  if (times.count() == 0) return nullptr;
  Json json{{"mean_ms", milliseconds(times.mean())}, {"max_ms", milliseconds(times.largest())}};
  for (const int percent : {50, 90, 99})
    json[fmt::format("p{}_ms", percent)] = milliseconds(times.percentile(percent / 100.0));
  return json;
}

Json parts_json(const product::DeploymentRun& run, std::size_t group) {
  Json parts = Json::array();
  for (const runtime::OperationRecord& each : run.record.groups[group].operations) {
    const auto bound = run.bound(group, each);
    parts.push_back({{"scenario", run.deployment.system[each.at.scenario].name},
                     {"level", each.at.level},
                     {"frames", json_of(each.frames)},
                     {"max_ms", milliseconds(each.largest)},
                     {"bound_ms", bound ? Json(milliseconds(*bound)) : Json()}});
  }
  return parts;
}

/// Null: nobody feeds the group.
Json delivery_json(const product::DeploymentRun& run, const std::string& group) {
  const auto found =
      std::ranges::find(run.deliveries, group, &application::DeliveryTotals::group);
  if (found == run.deliveries.end()) return nullptr;
  Json inputs = Json::array();
  for (const application::InputTotals& input : found->inputs)
    inputs.push_back({{"input", input.name.empty() ? Json() : Json(input.name)},
                      {"pictures", input.queue.put},
                      {"used", input.frames},
                      {"dropped", input.queue.dropped},
                      {"waiting", input.waiting},
                      {"unreadable", input.skipped},
                      {"gaps", input.gaps.count},
                      {"longest_gap_ms", milliseconds(input.gaps.longest)},
                      {"passes", input.passes}});
  const application::FeedCounts& counts = found->counts;
  return {{"kept", found->kept.empty() ? Json() : Json(found->kept)},
          {"repeated", counts.repeated},
          {"without_input", counts.without_input},
          {"undelivered", counts.undelivered},
          {"inputs", std::move(inputs)}};
}

Json tasks_json(const runtime::GroupRecord& group) {
  Json tasks = Json::array();
  for (const runtime::TaskRecord& task : group.tasks) {
    const Time mean = task.times.runs > 0 ? task.times.sum / task.times.runs : Time{};
    tasks.push_back({{"task", task.name},
                     {"processor", task.processor},
                     {"runs", task.times.runs},
                     {"mean_ms", milliseconds(mean)},
                     {"max_ms", milliseconds(task.times.largest)}});
  }
  return tasks;
}

/// Null: yes; else why not.
Json json_of(const Verdict& verdict) { return verdict ? Json() : Json(verdict.reason()); }

Json json_of(const runtime::TransitionRecord& transitions) {
  return {{"wished", transitions.wished},
          {"done", transitions.done},
          {"replaced", transitions.replaced},
          {"level_changes", transitions.level_changes},
          {"extensions", transitions.extensions},
          {"longest_ms", milliseconds(transitions.longest)},
          {"longest_bound_ms", milliseconds(transitions.longest_bound)},
          {"beyond_bound", transitions.beyond_bound}};
}

Json json_of(const product::Addition& addition) {
  return {{"at_ms", milliseconds(addition.at)},
          {"file", addition.file},
          {"groups", addition.groups},
          {"admitted", addition.refusal.empty()},
          {"refusal", addition.refusal.empty() ? Json() : Json(addition.refusal)},
          {"took_ms", milliseconds(addition.took)}};
}

}  // namespace

std::string run_json(const product::DeploymentRun& run) {
  const runtime::ControllerRecord& record = run.record;
  Json fields{{"deployment", run.file},
              {"script", run.script.empty() ? Json() : Json(run.script)},
              {"seed", run.seed},
              {"interrupted", run.interrupted},
              {"elapsed_ms", milliseconds(record.elapsed)},
              {"transitions", json_of(record.transitions)},
              {"release_lateness", json_of(record.lateness)},
              {"no_priorities", json_of(record.priorities)},
              {"no_locked_memory", json_of(record.locked_memory)},
              {"real_time_limit", run.real_time_limit ? Json(*run.real_time_limit) : Json()},
              {"clocks_that_stay", record.clocks_that_stay},
              {"measured_mj", run.measured_mj ? Json(*run.measured_mj) : Json()},
              {"expected_mj", run.expected_mj ? Json(*run.expected_mj) : Json()},
              {"additions", Json::array()},
              {"groups", Json::array()},
              {"processors", Json::array()}};
  for (const product::Addition& addition : run.additions)
    fields["additions"].push_back(json_of(addition));
  for (std::size_t g = 0; g < record.groups.size(); ++g) {
    const std::string& nan_layer = record.groups[g].nan_layer;
    fields["groups"].push_back({{"group", record.groups[g].name},
                                {"frames", json_of(record.groups[g].frames)},
                                {"response", json_of(record.groups[g].responses)},
                                {"parts", parts_json(run, g)},
                                {"tasks", tasks_json(record.groups[g])},
                                {"preemptions", record.groups[g].preemptions},
                                {"delivery", delivery_json(run, record.groups[g].name)},
                                {"nan_layer", nan_layer.empty() ? Json() : Json(nan_layer)}});
  }
  for (const runtime::ProcessorRecord& each : record.processors)
    fields["processors"].push_back(
        {{"processor", each.name},
         {"utilisation", seconds(each.busy) / std::max(1e-9, seconds(record.elapsed))},
         {"stolen_ms", milliseconds(each.stolen)}});
  return json_document("deployment_run", std::move(fields));
}

}  // namespace millrace::present
