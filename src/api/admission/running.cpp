#include "api/admission/running.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace millrace::api {
namespace {

std::size_t processor_of(const JsonView& name, const AdmitResult& result) {
  const auto& processors = result.problem.processors;
  const auto found = std::ranges::find(processors, name.text(), &explore::SharedProcessor::name);
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

void add_variants(const JsonView& group, AdmitResult& result, explore::AdmissionTask& task,
                  GroupVariants& variants) {
  task.times.resize(result.problem.processors.size());
  task.transfers.resize(task.times.size());
  variants.variants.resize(task.times.size());
  for (const JsonView& variant : group.at("variants").items()) {
    const std::size_t processor = processor_of(variant.at("processor"), result);
    if (!variant.has("time_ns")) continue;
    task.times[processor] = time_of(variant.at("time_ns"));
    explore::LinkTimes& transfers = task.transfers[processor];
    if (variant.has("in_ns")) transfers.in = time_of(variant.at("in_ns"));
    if (variant.has("out_ns")) transfers.out = time_of(variant.at("out_ns"));
    if (transfers != explore::LinkTimes{} && !result.problem.processors[processor].link)
      variant.fail("it has transfers, and its processor has no link");
    explore::VariantTime& time = variants.variants[processor];
    time.transfers = transfers;
    time.time = task.times[processor];
    const JsonView precision = variant.at("precision");
    time.precision = board::read_precision(precision.text(), precision.place());
  }
}

}  // namespace

explore::AdmissionChoice add_running(const std::string& file, AdmitResult& result) {
  const nlohmann::json json = read_json(file);
  const JsonView root(json, file);
  if (!root.has("kind") || root.at("kind").text() != "admission" || !root.has("groups"))
    root.fail("found no answer of 'millrace admit --json', expected one");
  explore::AdmissionChoice choice;
  for (const JsonView& group : root.at("groups").items()) {
    explore::AdmissionTask task;
    task.name = group.at("name").text();
    if (std::ranges::find(result.problem.tasks, task.name, &explore::AdmissionTask::name) !=
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
    add_variants(group, result, task, variants);
    choice.push_back(processor_of(group.at("processor"), result));
    if (!task.times[choice.back()]) group.at("processor").fail("it has no variant there");
    result.groups.push_back(std::move(variants));
    result.problem.tasks.push_back(std::move(task));
  }
  return choice;
}

}  // namespace millrace::api
