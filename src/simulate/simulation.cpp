#include "simulate/simulation.h"

#include <algorithm>

#include "base/error.h"
#include "plan/build.h"

namespace millrace::simulate {
namespace {

/// As many times the frames that were asked for are simulated, where some application gets none.
constexpr std::int64_t patience = 20;

bool is_closed(const Application& application) {
  return application.release.arrivals == Arrivals::closed;
}

/// As bench: while pipelines fill, results come at another pace.
std::int64_t warmup_of(const Application& application, const schedule::Schedule& schedule) {
  constexpr std::int64_t least = 4;
  if (!is_closed(application)) return 0;
  return std::max(least + 2 * schedule.largest_offset, schedule.round - 1);
}

/// Where frames leave several at once, full rounds of them.
std::int64_t wanted_of(const Application& application) {
  const std::int64_t round = is_closed(application) ? plan::round_of(application.plan) : 1;
  return (application.frames + round - 1) / round * round;
}

bool is_fixed(const Application& application) {
  if (!application.recorded.empty()) return false;
  for (const auto& phases : application.durations)
    for (const Duration& duration : phases)
      if (duration.best != duration.worst) return false;
  return true;
}

Time scaled(Time time, double scale) {
  return scale == 1 ? time : time_from_seconds(seconds(time) * scale);
}

double actors_on(const schedule::Schedule& schedule, const std::string& processor) {
  return static_cast<double>(std::ranges::count_if(
      schedule.actors, [&](const auto& actor) { return actor.processor.name == processor; }));
}

std::uint64_t seed_of(std::uint64_t seed, std::size_t what) {
  return Random(seed ^ Random(what + 1)())();
}

}  // namespace

Simulation::Simulation(const std::vector<Application>& applications, const Options& options)
    : is_single_(applications.size() == 1), traced_frames_(options.traced_frames) {
  for (const Application& application : applications) {
    const std::uint64_t seed = seed_of(options.seed, 2 * running_.size());
    const schedule::Schedule schedule = schedule::compile(application.plan);
    running_.push_back(
        {application,
         schedule::Execution(schedule, application.order, application.release.in_flight),
         Releases(application.release, seed), warmup_of(application, schedule),
         wanted_of(application)});
    running_.back().result.name = application.name;
    trace_.plans.push_back(application.name);
    most_ += patience * wanted_of(application);
    add_workers(running_.size() - 1, schedule, options);
  }
  const bool repeats = is_single_ && is_closed(applications[0]) && is_fixed(applications[0]);
  if (repeats) recurrence_.emplace();
}

void Simulation::add_workers(std::size_t index, const schedule::Schedule& schedule,
                             const Options& options) {
  const Application& application = running_[index].application;
  for (std::size_t a = 0; a < schedule.actors.size(); ++a) {
    const schedule::Actor& actor = schedule.actors[a];
    const plan::Stage& stage = application.plan.stages[actor.stage];
    // Times of actors that share a processor hold what they take from each other. With other
    // applications they wait in its queue instead, each for its share of that time.
    const std::string& name = actor.processor.name;
    const std::size_t lane = lane_named(is_single_ ? actor.lane : name, name, options);
    const ProcessorOptions& on = processors_[lane].options();
    const double scale = is_single_ ? on.scale : on.scale / actors_on(schedule, name);
    const std::uint64_t seed = seed_of(options.seed, 2 * workers_.size() + 1);
    Worker worker{index, a, lane, {}, {}, {}, scale, Random(seed)};
    worker.replayed.resize(stage.phases.size());
    for (std::size_t p = 0; p < stage.phases.size(); ++p) {
      const Duration& duration = application.durations[a][p];
      worker.durations.push_back({scaled(duration.best, scale), scaled(duration.worst, scale)});
      if (!application.borders.empty()) {
        const auto& [in, out] = application.borders[a][p];
        worker.borders.push_back({scaled(in, on.scale), scaled(out, on.scale)});
      }
      const auto layers = static_cast<std::int64_t>(stage.phases[p].layers.size());
      const bool is_cut = on.policy == Policy::fifo_by_kernel;
      worker.kernels.push_back(is_cut ? std::max<std::int64_t>(1, layers) : 1);
    }
    workers_.push_back(std::move(worker));
    trace_.stages.push_back({index, actor.name, processors_[lane].name()});
  }
}

std::size_t Simulation::lane_named(const std::string& lane, const std::string& processor,
                                   const Options& options) {
  for (std::size_t i = 0; i < processors_.size(); ++i)
    if (processors_[i].name() == lane) return i;
  const auto found = options.processors.find(processor);
  processors_.emplace_back(lane,
                           found != options.processors.end() ? found->second : options.others);
  processor_names_.push_back(processor);
  return processors_.size() - 1;
}

Result Simulation::run() {
  if (is_warm()) begin_measuring();
  settle();
  while (!is_done()) {
    if (!advance())
      throw InputError(running_.front().application.name,
                       "the simulation stops, because every stage waits for another one; make the "
                       "plan again with 'millrace plan'");
    settle();
  }
  return result();
}

void Simulation::settle() {
  for (std::size_t i = 0; i < running_.size(); ++i) serve(i);
  for (Worker& worker : workers_) choose(worker);
  dispatch();
  if (recurrence_) look_for_recurrence();
}

void Simulation::serve(std::size_t index) {
  Running& running = running_[index];
  schedule::Execution& execution = running.execution;
  bool changed = true;
  while (changed && !is_done()) {
    changed = false;
    for (; execution.may_take() && !is_done(); changed = true) complete(index);
    for (; running.releases.next() <= now_ && execution.may_submit(); changed = true)
      submit(running);
  }
}

void Simulation::submit(Running& running) {
  const Time released = is_closed(running.application) ? now_ : running.releases.next();
  running.on_their_way.push_back({released, now_});
  running.releases.advance();
  running.execution.submit();
}

void Simulation::complete(std::size_t index) {
  Running& running = running_[index];
  const FrameTimes times = running.on_their_way.front();
  const std::int64_t frame = running.execution.taken();
  running.on_their_way.pop_front();
  running.execution.take();
  ++completed_;
  if (frame < traced_frames_)
    trace_.frames.push_back({index, frame, times.released, times.submitted, now_});
  if (measuring_)
    measure(running, frame, now_ - times.released);
  else if (is_warm())
    begin_measuring();
}

void Simulation::measure(Running& running, std::int64_t frame, Time latency) {
  ApplicationResult& result = running.result;
  ++measured_;
  ++result.frames;
  result.latencies.add(latency);
  const Time deadline = running.application.deadline;
  if (deadline == Time{} || latency <= deadline) return;
  ++result.missed;
  if (!result.first_missed) result.first_missed = frame;
}

/// Nobody waits for ever for an application that others starve.
bool Simulation::is_warm() const {
  std::int64_t frames = 0;
  for (const Running& running : running_) frames += running.warmup;
  if (frames > 0 && completed_ >= patience * frames) return true;
  return std::all_of(running_.begin(), running_.end(), [](const Running& running) {
    return running.execution.taken() >= running.warmup;
  });
}

void Simulation::begin_measuring() {
  measuring_ = true;
  measured_from_ = now_;
  for (Processor& processor : processors_) processor.count_from(now_);
}

bool Simulation::is_done() const {
  if (measured_ >= most_) return true;
  return std::all_of(running_.begin(), running_.end(), [](const Running& running) {
    return running.result.frames >= running.wanted;
  });
}

void Simulation::choose(Worker& worker) {
  Running& running = running_[worker.application];
  if (worker.firing || !running.execution.is_woken(worker.actor)) return;
  worker.firing = running.execution.next(worker.actor);
  if (!worker.firing) return;
  worker.length = time_of(worker);
  worker.done = Time{};
  processors_[worker.processor].request({static_cast<std::size_t>(&worker - workers_.data()),
                                         running.application.priority, worker.length,
                                         worker.kernels[worker.firing->phase]});
}

/// Time of the worker's firing.
Time Simulation::time_of(Worker& worker) const {
  const std::size_t phase = worker.firing->phase;
  const Application& application = running_[worker.application].application;
  if (!application.recorded.empty()) {
    const auto& firings = application.recorded[worker.actor][phase];
    const RecordedFiring& firing = firings[worker.replayed[phase]++ % firings.size()];
    const double frames = static_cast<double>(worker.firing->count);
    return scaled(firing.time, worker.scale * frames / static_cast<double>(firing.frames));
  }
  const auto [best, worst] = worker.durations[phase];
  if (worst == best) return best;
  return best + Time(static_cast<std::int64_t>(
                    worker.random.below(static_cast<std::uint64_t>((worst - best).count()) + 1)));
}

void Simulation::dispatch() {
  for (Processor& processor : processors_)
    if (const auto interrupted = processor.dispatch(now_)) note(*interrupted);
}

/// To the next instant at which something ends or comes; false: nothing ever does.
bool Simulation::advance() {
  Time next = Time::max();
  for (const Processor& processor : processors_) next = std::min(next, processor.until());
  for (const Running& running : running_)
    if (running.releases.next() > now_) next = std::min(next, running.releases.next());
  if (next == Time::max()) return false;
  now_ = next;
  for (Processor& processor : processors_)
    if (processor.until() == now_) end_piece(processor);
  return true;
}

void Simulation::end_piece(Processor& processor) {
  const Piece piece = processor.end_piece(now_);
  note(piece);
  if (!piece.is_last) return;
  Worker& worker = workers_[piece.stage];
  running_[worker.application].execution.end(worker.actor, *worker.firing);
  worker.firing.reset();
}

void Simulation::note(const Piece& piece) {
  Worker& worker = workers_[piece.stage];
  const schedule::Firing& firing = *worker.firing;
  const Time before = worker.done;
  worker.done += piece.end - piece.begin;
  if (firing.frame >= traced_frames_ || piece.begin == piece.end) return;
  TraceFiring noted{piece.stage, firing.phase, firing.frame, firing.count,
                    piece.begin, piece.end,    firing.step};
  if (!worker.borders.empty()) {
    const auto& [in, out] = worker.borders[firing.phase];
    const Time working = std::max(in, worker.length - out);  // until then
    noted.in = std::min(in, worker.done) - std::min(in, before);
    noted.out = std::max(working, worker.done) - std::max(working, before);
  }
  trace_.firings.push_back(noted);
}

/// Only where frames have been completed: every repetition contains such an instant.
void Simulation::look_for_recurrence() {
  const schedule::Execution& execution = running_.front().execution;
  if (recurrence_->found() || execution.taken() == looked_at_) return;
  looked_at_ = execution.taken();
  state_.clear();
  execution.add_state(state_);
  for (const Processor& processor : processors_) processor.add_state(state_, now_);
  for (const Worker& worker : workers_) {
    state_.push_back(worker.firing ? static_cast<std::int64_t>(worker.firing->phase) : -1);
    state_.push_back(worker.firing ? worker.firing->count : 0);
    state_.push_back(worker.firing ? worker.firing->frame - execution.taken() : 0);
  }
  recurrence_->look(state_, execution.taken(), now_);
}

/// The lanes of one processor count with their mean.
std::vector<ProcessorResult> Simulation::processor_results() const {
  std::vector<ProcessorResult> results;
  std::vector<std::int64_t> lanes;
  for (std::size_t i = 0; i < processors_.size(); ++i) {
    const auto here = std::ranges::find(results, processor_names_[i], &ProcessorResult::name);
    const ProcessorResult lane = processors_[i].result(now_);
    if (here == results.end()) {
      results.push_back({processor_names_[i], lane.busy, lane.energy_mj});
      lanes.push_back(1);
      continue;
    }
    here->busy += lane.busy;
    here->energy_mj += lane.energy_mj;
    ++lanes[static_cast<std::size_t>(here - results.begin())];
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].busy /= lanes[i];
    results[i].energy_mj /= static_cast<double>(lanes[i]);
  }
  return results;
}

Result Simulation::result() {
  Result result;
  result.elapsed = now_ - measured_from_;
  for (Running& running : running_) {
    running.result.elapsed = result.elapsed;
    if (recurrence_) running.result.steady = recurrence_->found();
    result.applications.push_back(std::move(running.result));
  }
  result.processors = processor_results();
  result.trace = std::move(trace_);
  return result;
}

}  // namespace millrace::simulate
