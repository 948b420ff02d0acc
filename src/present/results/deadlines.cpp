#include "present/results/deadlines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "deployment/releases.h"
#include "deployment/words.h"
#include "present/description.h"
#include "present/results/realtime.h"

namespace millrace::present {
namespace {

using analysis::DeadlineAnswers;
using analysis::DeploymentAnswers;
using Json = nlohmann::json;

/// In JSON null, for people "none" without one.
Value bound_value(Time time) {
  return time == realtime::unbounded ? Value{nullptr, "none"} : Value::time(time);
}

/// In JSON the time to spare, negative if it may be missed by so much.
Value slack_value(const realtime::Flow& flow, Time bound) {
  if (bound == realtime::unbounded) return {nullptr, "may miss"};
  const Time slack = *flow.deadline - bound;
  return {milliseconds(slack), slack < Time{} ? fmt::format("may miss by {}", to_text(-slack))
                                              : fmt::format("{} to spare", to_text(slack))};
}

const std::string& scenario_of(const DeploymentAnswers& answers, const DeadlineAnswers& one) {
  return answers.deployment.system[one.operation.scenario].name;
}

/// The groups of one scenario at one level.
Description<std::size_t> group_fields(const DeploymentAnswers& answers,
                                      const DeadlineAnswers& one) {
  const auto flow = [&](std::size_t f) -> const realtime::Flow& { return one.tasks.flows[f]; };
  const auto bound = [&](std::size_t f) { return one.answers.bounds.flows[f].response; };
  const auto simulated = [&](std::size_t f) {
    const auto& seen = one.answers.simulated;
    return seen ? Value::time(seen->largest.flows[f]) : Value::none();
  };
  return Description<std::size_t>({
      {"", "scenario", [&](std::size_t) { return scenario_of(answers, one); }},
      {"", "level", [&](std::size_t) { return one.operation.level; }},
      {"group", "group", [=](std::size_t f) { return flow(f).name; }},
      {"period_ms", "period", [=](std::size_t f) { return flow(f).events.period; }},
      {"deadline_ms", "deadline", [=](std::size_t f) { return *flow(f).deadline; }},
      {"bound_ms", "bound", [=](std::size_t f) { return bound_value(bound(f)); }},
      {"held_ms", nullptr,
       [&](std::size_t f) { return bound_value(one.answers.bounds.flows[f].held); }},
      {"simulated_ms", "simulated", simulated},
      {"slack_ms", "", [=](std::size_t f) { return slack_value(flow(f), bound(f)); }, Align::left},
      {"no_bound", nullptr,
       [&](std::size_t f) { return no_bound_json(one.tasks, one.answers.bounds, f); }},
  });
}

auto groups_of(const DeadlineAnswers& one) {
  return numbers_below(deployment::group_flows(one.tasks));
}

std::string groups_text(const DeploymentAnswers& answers) {
  Table table = group_fields(answers, {}).table(std::vector<std::size_t>{});
  bool is_first = true;
  for (const DeadlineAnswers& one : answers.operations) {
    if (one.tasks.flows.empty()) continue;
    if (!is_first) table.add_rule();
    is_first = false;
    for (const std::size_t f : groups_of(one)) group_fields(answers, one).add(table, f);
  }
  return table.text();
}

/// Reasons of all operations; what holds in several of them once.
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

Json clocks_json(const DeadlineAnswers& one) {
  Json clocks = Json::object();
  for (const auto& [device, clock] : one.operation.clocks) clocks[device] = clock.value;
  return clocks;
}

/// How busy each processor with tasks is.
Value busy_value(const DeadlineAnswers& one) {
  Value value{Json::array(), ""};
  for (std::size_t r = 0; r < one.tasks.resources.size(); ++r) {
    const bool is_used = std::ranges::any_of(one.tasks.tasks, [&](const realtime::Task& task) {
      return task.resource == realtime::ResourceId(r);
    });
    if (!is_used) continue;
    const std::string& name = one.tasks.resources[r].name;
    const Value busy = Value::share(one.answers.utilisations[r].share);
    value.json.push_back({{"processor", name}, {"utilisation", busy.json}});
    value.text += fmt::format("{}{} {}", value.text.empty() ? "" : ", ", name, busy.text);
  }
  return value;
}

Value chain_value(const std::optional<Time>& time) {
  return time ? Value::time(*time) : Value{nullptr, "none"};
}

/// How long each of its groups waits at most for its next frame, and takes for one.
Json chain_parts_json(const system::System& system, const system::Chain& chain,
                      const analysis::ChainAnswer& answer) {
  Json all = Json::array();
  for (std::size_t p = 0; p < answer.parts.size(); ++p) {
    const realtime::ChainPart& part = answer.parts[p];
    all.push_back({{"group", system[chain.groups[p]].name},
                   {"gap_ms", part.gap ? Json(milliseconds(*part.gap)) : nullptr},
                   {"response_ms", milliseconds(part.response)}});
  }
  return all;
}

/// The chains of one scenario at one level.
Description<analysis::ChainAnswer> chain_fields(const DeploymentAnswers& answers,
                                                const DeadlineAnswers& one) {
  using Chain = analysis::ChainAnswer;
  const auto chain = [&](const Chain& each) -> const system::Chain& {
    return answers.deployment.system.chains[each.chain];
  };
  return Description<Chain>({
      {"chain", "chain", [=](const Chain& each) { return chain(each).name; }},
      {"", "scenario", [&](const Chain&) { return scenario_of(answers, one); }},
      {"", "level", [&](const Chain&) { return one.operation.level; }},
      {"reaction_ms", "reaction",
       [](const Chain& each) { return chain_value(each.bounds.reaction); }},
      {"reaction_limit_ms", "allowed", [=](const Chain& each) { return chain(each).reaction; }},
      {"age_ms", "data age", [](const Chain& each) { return chain_value(each.bounds.age); }},
      {"age_limit_ms", "allowed", [=](const Chain& each) { return chain(each).age; }},
      {"parts", nullptr,
       [=, &answers](const Chain& each) {
         return chain_parts_json(answers.deployment.system, chain(each), each);
       }},
  });
}

std::string chains_text(const DeploymentAnswers& answers) {
  if (answers.deployment.system.chains.empty()) return "";
  Table table = chain_fields(answers, {}).table(std::vector<analysis::ChainAnswer>{});
  for (const DeadlineAnswers& one : answers.operations)
    for (const analysis::ChainAnswer& each : one.chains)
      chain_fields(answers, one).add(table, each);
  return table.text() + "\n";
}

Description<DeadlineAnswers> operation_fields(const DeploymentAnswers& answers) {
  using One = DeadlineAnswers;
  const auto power = [](const One& one) {
    if (one.power.empty()) return Value::none();
    return Value{power_of(one), fmt::format("{:.2f} W", power_of(one) / 1000)};
  };
  return Description<One>({
      {"scenario", "scenario", [&](const One& one) { return scenario_of(answers, one); }},
      {"level", "level", [](const One& one) { return one.operation.level; }},
      {"power_mw", "power", power},
      {"clocks_mhz", "clocks in MHz",
       [](const One& one) {
         return Value{clocks_json(one), clocks_text(one)};
       },
       Align::left},
      {"processors", "busy at worst", busy_value, Align::left},
      {"schedulable", nullptr, [](const One& one) { return one.is_schedulable(); }},
      {"reason", nullptr, &One::reason},
      {"has_setting", nullptr, &One::has_setting},
      {"groups", nullptr,
       [&](const One& one) { return group_fields(answers, one).array(groups_of(one)); }},
      {"chains", nullptr,
       [&](const One& one) { return chain_fields(answers, one).array(one.chains); }},
  });
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

Json rates_json(const DeploymentAnswers& answers) {
  if (!answers.rates) return nullptr;
  const analysis::LargestRates& rates = *answers.rates;
  return {{"factor", static_cast<double>(rates.millionths) / 1e6},
          {"scenario", answers.deployment.system[rates.scenario].name},
          {"processor", or_null(rates.processor)},
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

Description<analysis::EdgeBuffer> buffer_fields(const DeploymentAnswers& answers) {
  using Buffer = analysis::EdgeBuffer;
  return Description<Buffer>({
      {"group", "group",
       [&](const Buffer& each) { return answers.deployment.system.groups[each.group].name; }},
      {"", "edge", [](const Buffer& each) { return each.from + " to " + each.to; }},
      {"space_tokens", "space, tokens", &Buffer::space},
      {"least_tokens", "least", &Buffer::least},
      {"", "of a token",
       [](const Buffer& each) {
         return each.token.count > 0 ? Value::bytes(each.token) : Value::none();
       }},
      {"from", nullptr, &Buffer::from},
      {"to", nullptr, &Buffer::to},
  });
}

std::string buffers_text(const DeploymentAnswers& answers) {
  if (answers.buffers.empty()) return "";
  return "\n" + buffer_fields(answers).text(answers.buffers) +
         "With the space nobody waits for any, as the bounds have it; with the least of a group it "
         "cannot deadlock.\n";
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
  return text + "\n" + groups_text(answers) + reasons_text(answers) + "\n" + chains_text(answers) +
         operation_fields(answers).text(answers.operations) + buffers_text(answers);
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
              {"operations", operation_fields(answers).array(answers.operations)},
              {"largest_rates", rates_json(answers)},
              {"buffers", buffer_fields(answers).array(answers.buffers)}};
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
