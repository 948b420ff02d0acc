#include "serve/metrics/asked.h"

#include "application/live/delivery.h"

namespace millrace::serve {
namespace {

InputNow asked_of(const application::InputTotals& totals) {
  InputNow input;
  input.name = totals.name;
  input.arrived = totals.queue.put;
  input.dropped = totals.queue.dropped;
  input.gaps = totals.gaps.count;
  input.gap_s = seconds(totals.gaps.total);
  return input;
}

void add_inputs(const application::DeploymentAtWork::Group& group, FiguresNow& now) {
  if (group.delivery == nullptr || group.delivery->application() == nullptr) return;
  const std::size_t count = group.delivery->application()->inputs().size();
  std::vector<application::InputTotals> totals(count);
  if (const application::LiveInputs* own = group.delivery->feed()->own()) totals = own->totals();
  for (const application::InputTotals& each : totals) {
    InputNow& input = now.inputs.emplace_back(asked_of(each));
    input.group = group.name;
    if (count == 1) input.name.clear();
    now.skipped += each.skipped;
  }
}

}  // namespace

void ask(const application::AtWork& work, FiguresNow& now) {
  now.inputs.clear();
  for (const application::InputTotals& each : work.run.inputs())
    now.inputs.push_back(asked_of(each));
  now.stages.clear();
  for (const runtime::StageStatistics& each : work.session.statistics())
    now.stages.push_back(
        {each.name, each.processor, each.frames, seconds(each.busy), seconds(each.waiting)});
  now.is_busy = work.run.is_busy();
}

void ask(const application::DeploymentAtWork& work, FiguresNow& now) {
  now.inputs.clear();
  now.skipped = 0;
  for (const auto& group : work.groups) add_inputs(group, now);
  now.stages.clear();
  for (const runtime::GroupTasks& each : work.controller.tasks())
    for (const runtime::TaskRecord& task : each.tasks) {
      StageNow& stage = now.stages.emplace_back();
      stage.group = each.group;
      stage.name = task.name;
      stage.processor = task.processor;
      stage.frames = task.times.runs;
      stage.busy_s = seconds(task.times.sum);
    }
}

}  // namespace millrace::serve
