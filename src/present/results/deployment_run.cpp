#include "present/results/deployment_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json_text.h"
#include "present/description.h"

namespace millrace::present {
namespace {

using Json = nlohmann::json;
using product::DeploymentRun;
using runtime::GroupRecord;

std::string allowed_text(const Verdict& verdict, const char* yes) {
  return verdict ? yes : verdict.reason();
}

std::string energy_text(const DeploymentRun& run) {
  if (run.energy_source.empty()) return {};
  const std::string measured =
      run.measured_mj ? fmt::format("{:.3g} J by {}", *run.measured_mj / 1000, run.energy_source)
                      : fmt::format("not measured: {}", run.energy_source);
  const std::string expected =
      run.expected_mj ? fmt::format("; {:.3g} J expected", *run.expected_mj / 1000) : "";
  return fmt::format("energy       {}{}\n", measured, expected);
}

std::string run_head_text(const DeploymentRun& run) {
  const auto& record = run.record;
  const auto& transitions = record.transitions;
  std::string text = fmt::format("drive        {:.3g} s, {} transitions asked for ({}){}\n",
                                 seconds(record.elapsed), transitions.wished,
                                 run.script.empty() ? fmt::format("seed {}", run.seed) : run.script,
                                 run.interrupted ? ", interrupted" : "");
  text += transitions.done + transitions.replaced == 0
              ? "transitions  none\n"
              : fmt::format(
                    "transitions  {} done, {} replaced by a later one; the longest took {}, "
                    "{} were allowed at most; {} took longer than allowed\n",
                    transitions.done, transitions.replaced, to_text(transitions.longest),
                    to_text(transitions.longest_bound), transitions.beyond_bound);
  if (transitions.level_changes > 0)
    text += fmt::format("overload     the level changed {} times by the policy lower_rate\n",
                        transitions.level_changes);
  if (transitions.passed_over > 0)
    text += fmt::format("passed over  {} recorded releases, in transitions or of groups that were "
                        "not active\n",
                        transitions.passed_over);
  for (const product::Addition& each : run.additions)
    text += fmt::format("added        at {:.3g} s, {}{}{}: {}, after {}\n", seconds(each.at),
                        each.file, each.groups.empty() ? "" : ": ", fmt::join(each.groups, ", "),
                        each.refusal.empty() ? std::string("admitted") : "refused: " + each.refusal,
                        to_text(each.took));
  text +=
      fmt::format("releases     at most {} late, {} in 99 % of all\n",
                  to_text(record.lateness.largest()), to_text(record.lateness.percentile(0.99)));
  text += fmt::format("priorities   {}\nmemory       {}\n",
                      allowed_text(record.priorities, "real-time"),
                      allowed_text(record.locked_memory, "locked"));
  if (!record.release_deadline) text += "controller   " + record.release_deadline.reason() + "\n";
  for (const std::string& sign : record.heat)
    text += fmt::format("heat         {}; it changed the level {} times\n", sign,
                        transitions.heat_changes);
  for (const std::string& clock : record.clocks_that_stay) text += "clock stays  " + clock + "\n";
  return text + energy_text(run);
}

Json json_of(const schedule::FrameCounts& frames) {
  return {{"due", frames.due},       {"released", frames.released},
          {"done", frames.done},     {"skipped", frames.skipped},
          {"missed", frames.missed}, {"stretched", frames.stretched},
          {"held", frames.held},     {"longest_held_ms", milliseconds(frames.longest_held)},
          {"lost", frames.lost()}};
}

Json json_of(const runtime::ResponseTimes& times) {
  if (times.count() == 0) return nullptr;
  Json json{{"mean_ms", milliseconds(times.mean())}, {"max_ms", milliseconds(times.largest())}};
  for (const int percent : {50, 90, 99})
    json[fmt::format("p{}_ms", percent)] = milliseconds(times.percentile(percent / 100.0));
  return json;
}

/// The bounds beside what was measured, of a group in a scenario at a level.
struct Part {
  const DeploymentRun& run;
  std::size_t group;
  const runtime::OperationRecord& record;

  std::optional<Time> bound() const { return run.bound(group, record); }
};

std::vector<Part> parts_of(const DeploymentRun& run, std::size_t group) {
  std::vector<Part> parts;
  for (const runtime::OperationRecord& each : run.record.groups[group].operations)
    parts.push_back({run, group, each});
  return parts;
}

const Description<Part>& part_fields() {
  const auto largest = [](const Part& part) {
    const Value value = Value::time(part.record.largest);
    return part.record.frames.done > 0 ? value : Value{value.json, "-"};
  };
  const auto bound = [](const Part& part) {
    return part.bound() ? Value::time(*part.bound()) : Value{nullptr, "none"};
  };
  const auto is_within = [](const Part& part) {
    if (!part.bound()) return "-";
    return part.record.largest <= *part.bound() ? "yes" : "no";
  };
  const auto deadline = [](const Part& part) {
    return deadline_of(part.run.deployment.system, system::GroupId(part.group),
                       part.record.at.level);
  };
  static const Description<Part> fields({
      {"scenario", "scenario",
       [](const Part& p) { return p.run.deployment.system[p.record.at.scenario].name; }},
      {"level", "level", [](const Part& p) { return p.record.at.level; }},
      {"", "group", [](const Part& p) { return p.run.record.groups[p.group].name; }},
      {"", "frames", [](const Part& p) { return p.record.frames.done; }},
      {"max_ms", "maximum", largest},
      {"bound_ms", "bound, controller included", bound},
      {"", "within it", is_within},
      {"", "deadline", deadline},
      {"frames", nullptr, [](const Part& p) { return json_of(p.record.frames); }},
  });
  return fields;
}

const Description<runtime::TaskRecord>& task_fields() {
  using Task = runtime::TaskRecord;
  static const Description<Task> fields({
      {"task", nullptr, &Task::name},
      {"processor", nullptr, &Task::processor},
      {"runs", nullptr, [](const Task& task) { return task.times.runs; }},
      {"mean_ms", nullptr,
       [](const Task& task) {
         return task.times.runs > 0 ? task.times.sum / task.times.runs : Time{};
       }},
      {"max_ms", nullptr, [](const Task& task) { return task.times.largest; }},
  });
  return fields;
}

/// What came from an input of a group that has an application.
struct Fed {
  const std::string& group;
  const application::InputTotals& input;
};

std::vector<Fed> inputs_of(const application::DeliveryTotals& delivery) {
  std::vector<Fed> inputs;
  for (const application::InputTotals& input : delivery.inputs)
    inputs.push_back({delivery.group, input});
  return inputs;
}

const Description<Fed>& input_fields() {
  const auto name = [](const Fed& fed) {
    return fed.input.name.empty() ? Value{nullptr, fed.group}
                                  : Value{fed.input.name, fed.group + ", " + fed.input.name};
  };
  const auto longest = [](const Fed& fed) {
    const Value value = Value::time(fed.input.gaps.longest);
    return fed.input.gaps.count > 0 ? value : Value{value.json, "-"};
  };
  static const Description<Fed> fields({
      {"input", "input", name, Align::left},
      {"pictures", "pictures", [](const Fed& fed) { return fed.input.queue.put; }},
      {"used", "used", [](const Fed& fed) { return fed.input.frames; }},
      {"dropped", "dropped", [](const Fed& fed) { return fed.input.queue.dropped; }},
      {"waiting", "waiting at the end", [](const Fed& fed) { return fed.input.waiting; }},
      {"unreadable", "cannot be read", [](const Fed& fed) { return fed.input.skipped; }},
      {"gaps", "gaps", [](const Fed& fed) { return fed.input.gaps.count; }},
      {"longest_gap_ms", "longest", longest},
      {"passes", "times read", [](const Fed& fed) { return fed.input.passes; }},
  });
  return fields;
}

/// What went into groups with an application, and how often nothing new had come.
std::string deliveries_text(const DeploymentRun& run) {
  if (run.deliveries.empty()) return {};
  std::vector<Fed> inputs;
  std::string notes;
  for (const application::DeliveryTotals& each : run.deliveries) {
    for (const Fed& input : inputs_of(each)) inputs.push_back(input);
    const application::FeedCounts& counts = each.counts;
    if (counts.repeated + counts.without_input > 0)
      notes += fmt::format("{}: {} frames had no new picture, {} came before the first one\n",
                           each.group, counts.repeated, counts.without_input);
    if (counts.undelivered > 0)
      notes += fmt::format("{}: {} results were lost, as writing them took too long\n", each.group,
                           counts.undelivered);
  }
  return input_fields().text(inputs) + notes + "\n";
}

/// Null: nobody feeds the group.
Json delivery_json(const DeploymentRun& run, const std::string& group) {
  const auto found =
      std::ranges::find(run.deliveries, group, &application::DeliveryTotals::group);
  if (found == run.deliveries.end()) return nullptr;
  const application::FeedCounts& counts = found->counts;
  return {{"kept", or_null(found->kept)},
          {"repeated", counts.repeated},
          {"without_input", counts.without_input},
          {"undelivered", counts.undelivered},
          {"inputs", input_fields().array(inputs_of(*found))}};
}

Description<std::size_t> group_fields(const DeploymentRun& run) {
  using schedule::FrameCounts;
  const auto group = [&](std::size_t g) -> const GroupRecord& { return run.record.groups[g]; };
  const auto count = [=](auto part) {
    return [=](std::size_t g) { return std::invoke(part, group(g).frames); };
  };
  std::vector<RowField<std::size_t>> fields{
      {"group", "group", [=](std::size_t g) { return group(g).name; }},
      {"", "frames due", count(&FrameCounts::due)},
      {"", "done", count(&FrameCounts::done)},
      {"", "skipped", count(&FrameCounts::skipped)},
      {"", "late begin", count(&FrameCounts::stretched)},
      {"", "held", count(&FrameCounts::held)},
      {"", "missed", count(&FrameCounts::missed)},
      {"", "lost", count(&FrameCounts::lost)}};
  for (const auto& [title, share] : {std::pair("response: p50", 0.5), std::pair("p90", 0.9),
                                     std::pair("p99", 0.99), std::pair("maximum", 1.0)})
    fields.push_back({"", title, [=, part = share](std::size_t g) {
                        const runtime::ResponseTimes& times = group(g).responses;
                        return times.count() == 0 ? Value::none()
                                                  : Value::time(times.percentile(part));
                      }});
  fields.insert(
      fields.end(),
      {{"preemptions", "preempted", [=](std::size_t g) { return group(g).preemptions; }},
       {"frames", nullptr, [=](std::size_t g) { return json_of(group(g).frames); }},
       {"overruns", nullptr, [=](std::size_t g) { return group(g).overruns; }},
       {"longest_overrun_ms", nullptr, [=](std::size_t g) { return group(g).longest_overrun; }},
       {"response", nullptr, [=](std::size_t g) { return json_of(group(g).responses); }},
       {"parts", nullptr,
        [&](std::size_t g) { return part_fields().array(parts_of(run, g)); }},
       {"tasks", nullptr, [=](std::size_t g) { return task_fields().array(group(g).tasks); }},
       {"delivery", nullptr,
        [=, &run](std::size_t g) { return delivery_json(run, group(g).name); }},
       {"nan_layer", nullptr, [=](std::size_t g) { return or_null(group(g).nan_layer); }}});
  return Description<std::size_t>(std::move(fields));
}

Description<runtime::ProcessorRecord> processor_fields(const DeploymentRun& run) {
  using Record = runtime::ProcessorRecord;
  const double elapsed_s = std::max(1e-9, seconds(run.record.elapsed));
  return Description<Record>({
      {"processor", "processor", &Record::name},
      {"utilisation", "busy",
       [=](const Record& each) { return Value::share(seconds(each.busy) / elapsed_s); }},
      {"stolen_ms", "stolen by the host", &Record::stolen},
  });
}

std::string bounds_text(const DeploymentRun& run) {
  std::vector<Part> all;
  for (std::size_t g = 0; g < run.record.groups.size(); ++g)
    for (const Part& part : parts_of(run, g)) all.push_back(part);
  return part_fields().text(all);
}

Description<product::ChainSeen> chain_fields(const DeploymentRun& run) {
  using Seen = product::ChainSeen;
  const auto bound = [](const std::optional<Time>& time) {
    return time ? Value::time(*time) : Value{nullptr, "none"};
  };
  const auto largest = [](const runtime::ResponseTimes& times) {
    return times.count() > 0 ? Value::time(times.largest()) : Value::none();
  };
  const system::System& system = run.deployment.system;
  return Description<Seen>({
      {"chain", "chain", [&](const Seen& each) { return system.chains[each.chain].name; }},
      {"scenario", "scenario", [&](const Seen& each) { return system[each.at.scenario].name; }},
      {"level", "level", [](const Seen& each) { return each.at.level; }},
      {"frames", "frames", [](const Seen& each) { return each.times.ages.count(); }},
      {"age_mean_ms", nullptr, [](const Seen& each) { return each.times.ages.mean(); }},
      {"age_max_ms", "data age", [=](const Seen& each) { return largest(each.times.ages); }},
      {"age_bound_ms", "bound", [=](const Seen& each) { return bound(each.bounds.age); }},
      {"reaction_max_ms", "reaction",
       [=](const Seen& each) { return largest(each.times.reactions); }},
      {"reaction_bound_ms", "bound", [=](const Seen& each) { return bound(each.bounds.reaction); }},
      {"", "within them", &Seen::holds},
  });
}

std::string chains_text(const DeploymentRun& run) {
  return run.chains.empty() ? "" : "\n" + chain_fields(run).text(run.chains);
}

/// Why a response may be longer than its bound, as far as that is known; empty: none is.
std::string beyond_bounds_text(const DeploymentRun& run) {
  if (run.holds()) return "";
  Time stolen{};
  for (const runtime::ProcessorRecord& each : run.record.processors) stolen += each.stolen;
  std::vector<std::string> reasons;
  if (stolen > Time{})
    reasons.push_back(fmt::format("the host took {} of the cores' time, which no analysis covers",
                                  to_text(stolen)));
  if (!run.record.priorities) reasons.push_back("the threads had no real-time priorities");
  if (!run.record.locked_memory) reasons.push_back("the memory was not locked");
  if (reasons.empty())
    reasons.push_back("a task took longer than its worst time, so measure again with `deploy`");
  return fmt::format("'no': a response was longer than the proven bound; possible reason: {}\n",
                     fmt::join(reasons, ", or "));
}

std::string cores_text(const DeploymentRun& run) {
  const std::string text = processor_fields(run).text(run.record.processors);
  if (!run.real_time_limit) return text;
  return text + fmt::format("the system lets real-time threads have {:.0f} % of a core\n",
                            100 * *run.real_time_limit);
}

std::string budgets_text(const DeploymentRun& run) {
  std::string text;
  for (const GroupRecord& group : run.record.groups) {
    if (group.frames.held > 0)
      text += fmt::format("{}: its budget held {} frames back, at most for {}\n", group.name,
                          group.frames.held, to_text(group.frames.longest_held));
    if (group.overruns > 0)
      text += fmt::format("{}: frames took more than its budget {} times, by {} at most\n",
                          group.name, group.overruns, to_text(group.longest_overrun));
  }
  return text;
}

/// Null: yes; else why not.
Json json_of(const Verdict& verdict) { return verdict ? Json() : Json(verdict.reason()); }

Json json_of(const runtime::TransitionRecord& transitions) {
  return {{"wished", transitions.wished},
          {"done", transitions.done},
          {"replaced", transitions.replaced},
          {"level_changes", transitions.level_changes},
          {"heat_changes", transitions.heat_changes},
          {"extensions", transitions.extensions},
          {"passed_over", transitions.passed_over},
          {"longest_ms", milliseconds(transitions.longest)},
          {"longest_bound_ms", milliseconds(transitions.longest_bound)},
          {"beyond_bound", transitions.beyond_bound}};
}

Json additions_json(const std::vector<product::Addition>& additions) {
  Json all = Json::array();
  for (const product::Addition& addition : additions)
    all.push_back({{"at_ms", milliseconds(addition.at)},
                   {"file", addition.file},
                   {"groups", addition.groups},
                   {"admitted", addition.refusal.empty()},
                   {"refusal", or_null(addition.refusal)},
                   {"took_ms", milliseconds(addition.took)}});
  return all;
}

}  // namespace

std::string deployment_run_text(const DeploymentRun& run) {
  return run_head_text(run) + "\n" +
         group_fields(run).text(numbers_of(run.record.groups)) + budgets_text(run) + "\n" +
         deliveries_text(run) +
         bounds_text(run) + chains_text(run) + beyond_bounds_text(run) + "\n" + cores_text(run);
}

std::string run_json(const DeploymentRun& run) {
  const runtime::ControllerRecord& record = run.record;
  return json_document("deployment_run",
                       {{"deployment", run.file},
                        {"script", or_null(run.script)},
                        {"seed", run.seed},
                        {"interrupted", run.interrupted},
                        {"elapsed_ms", milliseconds(record.elapsed)},
                        {"start_ms", milliseconds(record.start)},
                        {"transitions", json_of(record.transitions)},
                        {"release_lateness", json_of(record.lateness)},
                        {"no_priorities", json_of(record.priorities)},
                        {"no_locked_memory", json_of(record.locked_memory)},
                        {"real_time_limit", or_null(run.real_time_limit)},
                        {"clocks_that_stay", record.clocks_that_stay},
                        {"heat", record.heat},
                        {"no_deadline_scheduling", json_of(record.release_deadline)},
                        {"measured_mj", or_null(run.measured_mj)},
                        {"expected_mj", or_null(run.expected_mj)},
                        {"additions", additions_json(run.additions)},
                        {"groups", group_fields(run).array(numbers_of(record.groups))},
                        {"chains", chain_fields(run).array(run.chains)},
                        {"processors", processor_fields(run).array(record.processors)}});
}

}  // namespace millrace::present
