#include "simulate/task_runs.h"

#include <algorithm>
#include <utility>

#include "deployment/deployment.h"

namespace millrace::simulate {
namespace {

using realtime::FlowId, realtime::ResourceId, realtime::TaskId, realtime::TaskJob;
using realtime::SchedulingPolicy;

bool may_be_interrupted(SchedulingPolicy policy) {
  return policy == SchedulingPolicy::fixed_priority || policy == SchedulingPolicy::edf;
}

}  // namespace

TaskRuns::TaskRuns(const realtime::TaskSystem& system, bool drawn, std::uint64_t seed)
    : system_(system),
      drawn_(drawn),
      random_(seed),
      slowdowns_(system.resources.size(), 1),
      flow_of_(system.tasks.size()),
      place_(system.tasks.size()),
      successors_(system.tasks.size()),
      frames_(system.flows.size()),
      resources_(system.resources.size()),
      busy_(system.tasks.size()) {
  for (std::size_t f = 0; f < system.flows.size(); ++f)
    for (std::size_t t = 0; t < system.flows[f].tasks.size(); ++t) {
      const TaskId task = system.flows[f].tasks[t];
      flow_of_[task.index] = FlowId(f);
      place_[task.index] = t;
      for (const TaskId before : system[task].after) successors_[before.index].push_back(task);
    }
}

void TaskRuns::activate(FlowId flow, std::int64_t number, Time now) {
  Frame frame{.number = number, .open = {}, .unfinished = system_[flow].tasks.size()};
  for (const TaskId task : system_[flow].tasks) frame.open.push_back(system_[task].after.size());
  frames_[flow.index].push_back(std::move(frame));
  for (const TaskId task : system_[flow].tasks)
    if (system_[task].after.empty()) release(task, number, now);
}

void TaskRuns::release(TaskId id, std::int64_t frame, Time now) {
  TaskJob job{.task = id, .event = frame, .activated = now, .queued = now, .order = ++queued_};
  job.kernels = kernels_of(id);
  resources_[system_[id].resource.index].ready.push_back(std::move(job));
}

/// The last one first. What a frame takes less than the worst time is missing evenly.
std::vector<Time> TaskRuns::kernels_of(TaskId id) {
  const realtime::Task& task = system_[id];
  std::vector<Time> kernels(task.kernels.rbegin(), task.kernels.rend());
  if (kernels.empty() || system_[task.resource].policy == SchedulingPolicy::fifo)
    kernels.assign(1, task.worst);
  double share = slowdowns_[task.resource.index];
  if (drawn_ && task.worst > Time{}) {
    const double least =
        static_cast<double>(task.best.count()) / static_cast<double>(task.worst.count());
    share *= least + (1 - least) * random_.unit();
  }
  for (Time& kernel : kernels) kernel = deployment::stretched(kernel, share);
  return kernels;
}

Time TaskRuns::next() const {
  Time next = Time::max();
  for (const auto& resource : resources_) next = std::min(next, resource.piece_end);
  return next;
}

std::vector<FrameDone> TaskRuns::end_pieces(Time now) {
  std::vector<FrameDone> done;
  for (std::size_t r = 0; r < resources_.size(); ++r)
    if (resources_[r].piece_end == now) stop_piece(ResourceId(r), now, done);
  return done;
}

/// The running job has worked until now; it ends, or is ready again.
void TaskRuns::stop_piece(ResourceId id, Time now, std::vector<FrameDone>& done) {
  realtime::ResourceState& resource = resources_[id.index];
  resource.piece_end = Time::max();
  TaskJob job = std::move(*std::exchange(resource.running, std::nullopt));
  const Time worked = now - resource.piece_begin;
  busy_[job.task.index] += worked;
  if (trace_ != nullptr && worked > Time{} && job.event < traced_frames_)
    trace_->firings.push_back({job.task.index, 0, job.event, 1, resource.piece_begin, now});
  job.kernels.back() -= worked;
  if (job.kernels.back() > Time{}) {
    resource.ready.push_back(std::move(job));
    return;
  }
  job.kernels.pop_back();
  const bool queues_again = system_[id].policy == SchedulingPolicy::fifo_by_kernel;
  if (!job.kernels.empty()) {
    if (queues_again) queue_again(job, now);
    resource.ready.push_back(std::move(job));
    return;
  }
  if (queues_again)
    for (TaskJob& next : resource.ready)
      if (next.task == job.task) queue_again(next, now);
  end_job(job, now, done);
}

void TaskRuns::queue_again(TaskJob& job, Time now) {
  job.order = ++queued_;
  job.queued = now;
}

void TaskRuns::end_job(const TaskJob& job, Time now, std::vector<FrameDone>& done) {
  const FlowId flow = flow_of_[job.task.index];
  std::vector<Frame>& frames = frames_[flow.index];
  const auto frame = std::ranges::find(frames, job.event, &Frame::number);
  for (const TaskId later : successors_[job.task.index])
    if (--frame->open[place_[later.index]] == 0) release(later, job.event, now);
  if (--frame->unfinished > 0) return;
  frames.erase(frame);
  done.push_back({flow, job.event});
}

void TaskRuns::dispatch(Time now) {
  std::vector<FrameDone> none;  // what is interrupted has not ended
  for (std::size_t r = 0; r < resources_.size(); ++r) {
    realtime::ResourceState& resource = resources_[r];
    const realtime::Resource& about = system_.resources[r];
    if (resource.ready.empty()) continue;
    if (resource.running && !may_be_interrupted(about.policy)) continue;
    if (resource.running) stop_piece(ResourceId(r), now, none);
    const auto next = realtime::chosen(system_, about, resource, now);
    if (!next) continue;
    resource.running = std::move(resource.ready[*next]);
    resource.ready.erase(resource.ready.begin() + static_cast<std::ptrdiff_t>(*next));
    resource.piece_begin = now;
    resource.piece_end = now + resource.running->kernels.back();
  }
}

std::vector<Time> TaskRuns::take_busy() {
  return std::exchange(busy_, std::vector<Time>(system_.tasks.size()));
}

}  // namespace millrace::simulate
