#include "present/results/deadlines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "deployment/releases.h"
#include "deployment/words.h"
#include "present/results/realtime.h"
#include "present/text/table.h"

namespace millrace::present {
namespace {

using analysis::DeadlineAnswers;
using analysis::DeploymentAnswers;
using Json = nlohmann::json;

std::string bound_text(Time time) { return time == realtime::unbounded ? "none" : to_text(time); }

std::string slack_text(const realtime::Flow& flow, Time bound) {
  if (bound == realtime::unbounded) return "may miss";
  const Time slack = *flow.deadline - bound;
  return slack < Time{} ? fmt::format("may miss by {}", to_text(-slack))
                        : fmt::format("{} to spare", to_text(slack));
}

std::string groups_text(const DeploymentAnswers& answers) {
  Table table({{"scenario", Align::left},
               {"level"},
               {"group", Align::left},
               {"period"},
               {"deadline"},
               {"bound"},
               {"simulated"},
               {"", Align::left}});
  bool is_first = true;
  for (const DeadlineAnswers& one : answers.operations) {
    if (one.tasks.flows.empty()) continue;
    if (!is_first) table.add_rule();
    is_first = false;
    const std::string& scenario = answers.deployment.system[one.operation.scenario].name;
    for (std::size_t f = 0; f < deployment::group_flows(one.tasks); ++f) {
      const realtime::Flow& flow = one.tasks.flows[f];
      const Time bound = one.answers.bounds.flows[f].response;
      const auto& simulated = one.answers.simulated;
      table.add({scenario, fmt::format("{}", one.operation.level), flow.name,
                 to_text(flow.events.period), to_text(*flow.deadline), bound_text(bound),
                 simulated ? to_text(simulated->largest.flows[f]) : "-", slack_text(flow, bound)});
    }
  }
  return table.text();
}

/// Of all operations; what holds in several of them once.
std::string reasons_text(const DeploymentAnswers& answers) {
  std::string text;
  for (const DeadlineAnswers& one : answers.operations) {
    const std::string reasons =
        no_bounds_text(one.tasks, one.answers.bounds, deployment::group_flows(one.tasks));
    if (text.find(reasons) == std::string::npos) text += reasons;
  }
  return text;
}

double power_of(const DeadlineAnswers& one) {
  double sum = 0;
  for (const deployment::DevicePower& power : one.power) sum += power.still_mw + power.busy_mw;
  return sum;
}

std::string clocks_text(const DeadlineAnswers& one) {
  std::string text;
  for (const auto& [device, clock] : one.operation.clocks)
    text += fmt::format("{}{} {:g}", text.empty() ? "" : ", ", device, clock.value);
  if (!one.has_setting) return "highest (it has no setting)";
  return text.empty() ? "highest" : text;
}

bool is_used(const realtime::TaskSystem& system, std::size_t resource) {
  return std::ranges::any_of(system.tasks, [&](const realtime::Task& task) {
    return task.resource == realtime::ResourceId(resource);
  });
}

std::string busy_text(const DeadlineAnswers& one) {
  std::string text;
  for (std::size_t r = 0; r < one.tasks.resources.size(); ++r)
    if (is_used(one.tasks, r))
      text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", one.tasks.resources[r].name,
                          100 * one.answers.utilisations[r].share);
  return text;
}

std::string operations_text(const DeploymentAnswers& answers) {
  Table table({{"scenario", Align::left},
               {"level"},
               {"power"},
               {"clocks in MHz", Align::left},
               {"busy at worst", Align::left}});
  for (const DeadlineAnswers& one : answers.operations)
    table.add({answers.deployment.system[one.operation.scenario].name,
               fmt::format("{}", one.operation.level),
               one.power.empty() ? "-" : fmt::format("{:.2f} W", power_of(one) / 1000),
               clocks_text(one), busy_text(one)});
  return table.text();
}

std::string rates_text(const DeploymentAnswers& answers) {
  if (!answers.rates) return "rates        no rate is low enough\n";
  const analysis::LargestRates& rates = *answers.rates;
  if (rates.millionths == analysis::LargestRates::most)
    return "rates        all may be 1000 times as high, or more\n";
  const double factor = static_cast<double>(rates.millionths / 10'000) / 100;  // rounded down
  const std::string& scenario = answers.deployment.system[rates.scenario].name;
  return fmt::format(
      "rates        all may be {:.2f} times as high; the limit is scenario '{}'{}\n", factor,
      scenario, rates.processor.empty() ? "" : fmt::format(" on processor '{}'", rates.processor));
}

Json bound_json(Time time) {
  return time == realtime::unbounded ? Json() : Json(milliseconds(time));
}

Json group_json(const DeadlineAnswers& one, std::size_t f) {
  const realtime::Flow& flow = one.tasks.flows[f];
  const Time bound = one.answers.bounds.flows[f].response;
  const auto& simulated = one.answers.simulated;
  return {{"group", flow.name},
          {"period_ms", milliseconds(flow.events.period)},
          {"deadline_ms", milliseconds(*flow.deadline)},
          {"bound_ms", bound_json(bound)},
          {"slack_ms",
           bound == realtime::unbounded ? Json() : Json(milliseconds(*flow.deadline - bound))},
          {"simulated_ms", simulated ? Json(milliseconds(simulated->largest.flows[f])) : Json()},
          {"no_bound", no_bound_json(one.tasks, one.answers.bounds, f)}};
}

Json operation_json(const DeploymentAnswers& answers, const DeadlineAnswers& one) {
  Json json{{"scenario", answers.deployment.system[one.operation.scenario].name},
            {"level", one.operation.level},
            {"schedulable", one.is_schedulable()},
            {"reason", one.reason},
            {"has_setting", one.has_setting},
            {"clocks_mhz", Json::object()},
            {"power_mw", one.power.empty() ? Json() : Json(power_of(one))},
            {"groups", Json::array()},
            {"processors", Json::array()}};
  for (const auto& [device, clock] : one.operation.clocks) json["clocks_mhz"][device] = clock.value;
  for (std::size_t f = 0; f < deployment::group_flows(one.tasks); ++f)
    json["groups"].push_back(group_json(one, f));
  for (std::size_t r = 0; r < one.tasks.resources.size(); ++r)
    if (is_used(one.tasks, r))
      json["processors"].push_back({{"processor", one.tasks.resources[r].name},
                                    {"utilisation", one.answers.utilisations[r].share}});
  return json;
}

Json rates_json(const DeploymentAnswers& answers) {
  if (!answers.rates) return nullptr;
  const analysis::LargestRates& rates = *answers.rates;
  return {{"factor", static_cast<double>(rates.millionths) / 1e6},
          {"scenario", answers.deployment.system[rates.scenario].name},
          {"processor", rates.processor.empty() ? Json() : Json(rates.processor)},
          {"reason", rates.reason}};
}

/// The group with the largest bound as a share of its deadline.
struct Tightest {
  realtime::FlowId group{0};
  double share = 0;
};

Tightest tightest_of(const DeadlineAnswers& one) {
  Tightest result;
  for (std::size_t f = 0; f < deployment::group_flows(one.tasks); ++f) {
    const double share = static_cast<double>(one.answers.bounds.flows[f].response.count()) /
                         static_cast<double>(one.tasks.flows[f].deadline->count());
    if (share > result.share) result = {realtime::FlowId(f), share};
  }
  return result;
}

std::string buffers_text(const DeploymentAnswers& answers) {
  if (answers.buffers.empty()) return "";
  Table table({{"group", Align::left},
               {"edge", Align::left},
               {"space, tokens"},
               {"least"},
               {"of a token"}});
  for (const analysis::EdgeBuffer& each : answers.buffers)
    table.add({answers.deployment.system.groups[each.group].name, each.from + " to " + each.to,
               fmt::to_string(each.space), fmt::to_string(each.least),
               each.token.count > 0 ? to_text(each.token) : "-"});
  return "\n" + table.text() +
         "With the space nobody waits for any, as the bounds have it; with the least of a group it "
         "cannot deadlock.\n";
}

Json buffers_json(const DeploymentAnswers& answers) {
  Json buffers = Json::array();
  for (const analysis::EdgeBuffer& each : answers.buffers)
    buffers.push_back({{"group", answers.deployment.system.groups[each.group].name},
                       {"from", each.from},
                       {"to", each.to},
                       {"space_tokens", each.space},
                       {"least_tokens", each.least}});
  return buffers;
}

}  // namespace

const char* contention_text(deployment::Contention contention) {
  switch (contention) {
    case deployment::Contention::alone:
      return "measured alone; that tasks on other processors slow them down is not counted";
    case deployment::Contention::beside_others:
      return "measured beside the load of the other groups";
    case deployment::Contention::modelled:
      return "modelled from the board, not measured";
  }
  return "";
}

std::string deadlines_text(const DeploymentAnswers& answers) {
  const deployment::Deployment& deployment = answers.deployment;
  std::string text =
      fmt::format("schedulable  {}\nboard        {}\nmethod       {}\ntimes        {}\n",
                  answers.is_schedulable() ? "yes" : "no", deployment.board_name, deployment.method,
                  contention_text(deployment.contention));
  if (deployment.system.overhead > Time{})
    text += fmt::format("deadlines    are {} shorter below: the controller needs this time\n",
                        to_text(deployment.system.overhead));
  if (deployment.system.release_cost > Time{})
    text += fmt::format("releases     take {} each, on any core: the bounds below contain this\n",
                        to_text(deployment.system.release_cost));
  if (answers.has_rates) text += rates_text(answers);
  return text + "\n" + groups_text(answers) + reasons_text(answers) + "\n" +
         operations_text(answers) + buffers_text(answers);
}

std::string deadlines_json(const DeploymentAnswers& answers) {
  const deployment::Deployment& deployment = answers.deployment;
  Json fields{{"deployment", answers.file},
              {"board", deployment.board_name},
              {"method", deployment.method},
              {"contention", word_of(deployment::contention_words, deployment.contention)},
              {"overhead_ms", milliseconds(deployment.system.overhead)},
              {"release_cost_ms", milliseconds(deployment.system.release_cost)},
              {"schedulable", answers.is_schedulable()},
              {"operations", Json::array()}};
  for (const DeadlineAnswers& one : answers.operations)
    fields["operations"].push_back(operation_json(answers, one));
  fields["largest_rates"] = rates_json(answers);
  fields["buffers"] = buffers_json(answers);
  return json_document("deployment_analysis", std::move(fields));
}

std::string deadlines_gantt(const DeploymentAnswers& answers) {
  const DeadlineAnswers* tightest = nullptr;
  for (const DeadlineAnswers& one : answers.operations)
    if (one.answers.simulated && !one.tasks.flows.empty() &&
        (!tightest || tightest_of(one).share > tightest_of(*tightest).share))
      tightest = &one;
  if (!tightest) return "";
  return flow_gantt(tightest->tasks, *tightest->answers.simulated, tightest_of(*tightest).group);
}

}  // namespace millrace::present
