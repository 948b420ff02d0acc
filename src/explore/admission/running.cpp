#include "explore/admission/running.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "explore/admission/tabled.h"

namespace millrace::explore {
namespace {

std::size_t processor_of(const JsonView& name, const AdmitDecision& result) {
  const auto& processors = result.problem.processors;
  const auto found = std::ranges::find(processors, name.text(), &SharedProcessor::name);
  if (found == processors.end())
    name.fail(
        fmt::format("the board '{}' has no processor '{}'; admit what runs with the same board "
                    "and options",
                    result.board_name, name.text()));
  return static_cast<std::size_t>(found - processors.begin());
}

Time time_of(const JsonView& view) {
  const std::int64_t time = view.integer();
  if (time <= 0) view.fail("found a time that is not above 0");
  return Time(time);
}

void add_variants(const JsonView& group, AdmitDecision& result, AdmissionTask& task,
                  GroupVariants& variants) {
  task.times.resize(result.problem.processors.size());
  task.transfers.resize(task.times.size());
  variants.variants.resize(task.times.size());
  for (const JsonView& variant : group.at("variants").items()) {
    const std::size_t processor = processor_of(variant.at("processor"), result);
    if (!variant.has("time_ns")) continue;
    task.times[processor] = time_of(variant.at("time_ns"));
    LinkTimes& transfers = task.transfers[processor];
    if (variant.has("in_ns")) transfers.in = time_of(variant.at("in_ns"));
    if (variant.has("out_ns")) transfers.out = time_of(variant.at("out_ns"));
    if (transfers != LinkTimes{} && !result.problem.processors[processor].link)
      variant.fail("it has transfers, and its processor has no link");
    VariantTime& time = variants.variants[processor];
    time.transfers = transfers;
    time.time = task.times[processor];
    const JsonView precision = variant.at("precision");
    time.precision = board::read_precision(precision.text(), precision.place());
  }
}

/// What the group reads, of those from the first on.
void add_order(const JsonView& group, std::size_t first, AdmissionProblem& problem,
               std::size_t task) {
  if (group.has("end_to_end_ns"))
    problem.tasks[task].end_to_end = time_of(group.at("end_to_end_ns"));
  if (!group.has("after")) return;
  for (const JsonView& name : group.at("after").items()) {
    std::size_t before = first;
    while (before < problem.tasks.size() && problem.tasks[before].name != name.text()) ++before;
    if (before == problem.tasks.size())
      name.fail(fmt::format("there is no group '{}' in this file", name.text()));
    problem.tasks[task].after.push_back(before);
  }
}

realtime::TableEntry read_entry(const JsonView& view,
                                const std::vector<realtime::TableTask>& tasks) {
  realtime::TableEntry entry;
  const std::string name = view.at("task").text();
  while (entry.task < tasks.size() && tasks[entry.task].name != name) ++entry.task;
  if (entry.task == tasks.size())
    view.at("task").fail(fmt::format("there is no group '{}' in this file", name));
  entry.job = view.at("job").integer();
  entry.begin = Time(view.at("begin_ns").integer());
  entry.end = Time(view.at("end_ns").integer());
  const std::string part = view.at("part").text();
  for (const auto each :
       {realtime::TablePart::in, realtime::TablePart::run, realtime::TablePart::out})
    if (part == to_text(each)) entry.part = each;
  return entry;
}

/// An entry's task that is none of the groups; empty: there is none. A table of another set keeps
/// nothing of this one where it is.
std::string stranger_in_table(const JsonView& root) {
  std::set<std::string> names;
  for (const JsonView& group : root.at("groups").items()) names.insert(group.at("name").text());
  for (const JsonView& entry : root.at("table").at("entries").items())
    if (const std::string name = entry.at("task").text(); !names.contains(name)) return name;
  return {};
}

/// Its periods become those of the tasks from the first on. A table that breaks its own rules is
/// refused: nothing may be built around it.
realtime::KeptTable kept_table(const JsonView& root, std::size_t first,
                               const AdmissionChoice& choice,
                               AdmissionProblem& problem) {
  std::vector<std::size_t> numbers;
  for (std::size_t t = first; t < problem.tasks.size(); ++t) {
    numbers.push_back(t);
    AdmissionTask& task = problem.tasks[t];
    const JsonView group = root.at("groups").items()[t - first];
    if (group.has("table_period_ns")) task.period = time_of(group.at("table_period_ns"));
    task.deadline = std::min(task.deadline, task.period);
  }
  realtime::KeptTable kept{table_tasks(only_tasks(problem, numbers), choice), {}};
  const JsonView table = root.at("table");
  kept.table.cycle = time_of(table.at("cycle_ns"));
  for (const JsonView& entry : table.at("entries").items())
    kept.table.entries.push_back(read_entry(entry, kept.tasks));
  check(kept.tasks);
  if (realtime::hyperperiod(kept.tasks) != kept.table.cycle)
    table.at("cycle_ns").fail("it is not the hyperperiod of the groups");
  if (const Verdict verdict = replay(kept.table, kept.tasks); !verdict)
    table.fail("the table is wrong: " + verdict.reason());
  return kept;
}

}  // namespace

RunningSet add_running(const nlohmann::json& answer, const std::string& file,
                       AdmitDecision& result) {
  const JsonView root(answer, file);
  if (!root.has("kind") || root.at("kind").text() != "admission" || !root.has("groups"))
    root.fail("found no answer of 'millrace admit ⟨json⟩', expected one");
  RunningSet running;
  AdmissionChoice& choice = running.choice;
  const std::size_t first = result.problem.tasks.size();
  for (const JsonView& group : root.at("groups").items()) {
    AdmissionTask task;
    task.name = group.at("name").text();
    if (std::ranges::find(result.problem.tasks, task.name, &AdmissionTask::name) !=
        result.problem.tasks.end())
      group.at("name").fail(
          fmt::format("a group '{}' is there already; give the new one another "
                      "name",
                      task.name));
    if (!group.has("processor")) group.fail("it does not run anywhere: that set did not fit");
    task.period = time_of(group.at("period_ns"));
    task.deadline = time_of(group.at("deadline_ns"));
    GroupVariants variants;
    variants.name = task.name;
    if (group.has("system")) variants.system = group.at("system").text();
    add_variants(group, result, task, variants);
    choice.push_back(processor_of(group.at("processor"), result));
    if (!task.times[choice.back()]) group.at("processor").fail("it has no variant there");
    result.groups.push_back(std::move(variants));
    result.problem.tasks.push_back(std::move(task));
  }
  for (std::size_t t = first; t < result.problem.tasks.size(); ++t)
    add_order(root.at("groups").items()[t - first], first, result.problem, t);
  if (!root.has("table")) return running;
  running.stranger = stranger_in_table(root);
  if (running.stranger.empty())
    running.table = kept_table(root, first, running.choice, result.problem);
  return running;
}

}  // namespace millrace::explore
