#include "application/run.h"

#include <algorithm>
#include <deque>
#include <mutex>

#include "application/cascade/crop_run.h"
#include "application/cascade/crop_steps.h"
#include "application/sources/reading.h"
#include "application/steps.h"
#include "base/error.h"
#include "runtime/pool.h"
#include "runtime/waiting/credits.h"

namespace millrace::application {
namespace {

/// Pictures that the network takes together.
using Travels = std::vector<Travel>;
using TravelsPointer = std::shared_ptr<Travels>;  // shared by the two steps of a pool's job

/// Batches between submit() and next(), in their order.
class OnTheirWay {
 public:
  void push(TravelsPointer travels) {
    const std::lock_guard lock(mutex_);
    batches_.push_back(std::move(travels));
  }
  TravelsPointer pop() {
    const std::lock_guard lock(mutex_);
    TravelsPointer travels = std::move(batches_.front());
    batches_.pop_front();
    return travels;
  }
  bool empty() const {
    const std::lock_guard lock(mutex_);
    return batches_.empty();
  }

 private:
  mutable std::mutex mutex_;
  std::deque<TravelsPointer> batches_;
};

std::vector<runtime::Lane> lanes_of(const std::vector<Input>& inputs) {
  std::vector<runtime::Lane> lanes;
  for (const Input& input : inputs)
    lanes.push_back(lane_of(input));
  return lanes;
}

/// In the order of the application's inputs. An input alone, and those that are no live ones, are
/// read as one.
std::vector<std::unique_ptr<Reading>> readings_of(const Application& application,
                                                  const Parts& parts) {
  std::vector<std::unique_ptr<Reading>> readings;
  const std::vector<Source*> lanes = parts.source->lanes();
  if (lanes.empty() || !application.input.is_live()) {
    Input input = application.input;
    if (!lanes.empty()) input.frames = 0;  // each input counts its own
    readings.push_back(std::make_unique<Reading>(input, parts.source));
    return readings;
  }
  const std::vector<Input> inputs = application.inputs();
  for (std::size_t i = 0; i < lanes.size(); ++i)
    readings.push_back(std::make_unique<Reading>(inputs[i], lanes[i]));
  return readings;
}

/// Where the newest picture is wanted, none is taken before the network is ready for it: what waits
/// in the slots of the plan only grows old. One more than keep the stages busy is made ready.
/// Nothing: all that fit.
std::optional<std::int64_t> most_on_their_way(const Application& application, const Parts& parts,
                                              const runtime::Session& session) {
  const std::vector<Input> inputs = application.inputs();
  const bool is_newest_wanted = std::ranges::any_of(
      inputs, [](const Input& input) { return input.is_live() && input.drop == Drop::oldest; });
  if (!is_newest_wanted) return std::nullopt;
  const std::int64_t frames = session.frame_counts().largest_offset + session.frame_counts().round;
  const std::int64_t batches = (frames + parts.batch - 1) / parts.batch;
  const std::int64_t in_crops = parts.crops != nullptr ? 1 : 0;
  return batches + application.preprocess.workers.threads + in_crops;
}

}  // namespace

// readers (live input only) -> queue -> `before` pool -> session -> `after` pool -> give
struct Run::State {
  State(const Application& application_of, const Parts& parts_of, runtime::Session& session_of,
        Give give_of)
      : application(application_of),
        parts(parts_of),
        session(session_of),
        give(std::move(give_of)),
        queue(lanes_of(application_of.inputs())),
        readings(readings_of(application_of, parts_of)) {
    if (const auto most = most_on_their_way(application, parts, session)) credits.emplace(*most);
    if (!application.has_several_inputs()) return;
    for (const Input& input : application.inputs()) totals.inputs.emplace_back().name = input.name;
  }

  const Application& application;
  const Parts parts;
  runtime::Session& session;
  const Give give;
  runtime::LiveQueue<Picture> queue;
  const std::vector<std::unique_ptr<Reading>> readings;
  /// One for each batch of pictures between the queue and the network's results, or the crops'.
  std::optional<runtime::Credits> credits = {};
  OnTheirWay on_their_way;
  Totals totals;  // of who gives; `elapsed` is of the last frame
  Clock::time_point start = Clock::now();
  std::optional<CropRun> crops;                         // gone after all pools
  std::vector<std::unique_ptr<runtime::Pool>> readers;  // gone after these
  std::unique_ptr<runtime::Pool> before, after;         // the last first: it may use the others

  std::optional<runtime::Job> read_job(std::size_t lane) {
    auto picture = readings[lane]->next();
    if (!picture) return std::nullopt;
    auto shared = std::make_shared<Picture>(std::move(*picture));
    return runtime::Job{[] {},
                        [this, shared, lane] { return queue.put(std::move(*shared), lane); }};
  }

  std::optional<runtime::Job> before_job() {
    if (credits && !credits->take()) return std::nullopt;
    auto travels = std::make_shared<Travels>();
    while (static_cast<std::int64_t>(travels->size()) < parts.batch) {
      auto picture = application.input.is_live() ? queue.take() : readings.front()->next();
      if (!picture) break;
      travels->emplace_back().outcome.picture = std::move(*picture);
    }
    if (travels->empty()) return std::nullopt;
    return runtime::Job{[this, travels] {
                          for (Travel& travel : *travels) prepare(application, parts, travel);
                        },
                        [this, travels] { return submit(travels); }};
  }
  bool submit(const TravelsPointer& travels) {
    for (const Travel& travel : *travels)
      if (travel.undecoded) parts.skip(*travel.undecoded);
    std::erase_if(*travels, [](const Travel& travel) { return travel.undecoded.has_value(); });
    if (travels->empty()) {
      give_back();
      return true;
    }
    const std::vector<network::Array> inputs = take_inputs(*travels, parts.batch);
    travels->front().given = inputs;
    travels->back().ends_batch = true;
    on_their_way.push(travels);
    return session.submit(inputs);
  }

  std::optional<runtime::Job> after_job() {
    auto result = session.next();
    if (!result) return std::nullopt;
    TravelsPointer travels = on_their_way.pop();
    if (!crops) give_back();
    const auto now = Clock::now();
    if (!session.may_have_made_nan(result->frame)) travels->front().given.clear();
    for (Travel& travel : *travels) {
      travel.arrived = now;
      travel.pipeline = result->latency;
    }
    give_outputs(*travels, std::move(result->outputs), parts.batch);
    return runtime::Job{[this, travels] {
                          for (Travel& travel : *travels) {
                            examine(application, parts, travel);
                            if (crops) prepare_crops(*parts.crops, travel);
                          }
                        },
                        [this, travels] {
                          if (crops) return crops->submit(travels);
                          for (Travel& travel : *travels) finish(travel);
                          return true;
                        }};
  }
  void give_back() {
    if (credits) credits->give();
  }
  void finish_crops(Travel& travel) {
    finish(travel);
    if (travel.ends_batch) give_back();
  }
  void finish(Travel& travel) {
    const Picture& picture = travel.outcome.picture;
    travel.outcome.latency = Clock::now() - picture.taken;
    count(travel, totals);
    if (!totals.inputs.empty()) ++totals.inputs[picture.source].frames;
    give(travel.outcome);
    totals.elapsed = Clock::now() - start;
  }

  void launch() {
    using runtime::Pool;
    const auto options = [](const char* name, const Workers& workers, auto at_end) {
      return runtime::PoolOptions{name, workers.threads, workers.cores, at_end};
    };
    if (parts.crops != nullptr)
      crops.emplace(*parts.crops,
                    CropRun::Hooks{[this](Travel& travel) { finish_crops(travel); },
                                   [this] { stop(); }});
    after = std::make_unique<Pool>([this] { return after_job(); },
                                   options("post-processing", application.postprocess.workers,
                                           [this](std::exception_ptr error) {
                                             if (crops) crops->finish(error);
                                             if (error) stop_before_crops();
                                           }));
    before = std::make_unique<Pool>(
        [this] { return before_job(); },
        options("pre-processing", application.preprocess.workers, [this](std::exception_ptr) {
          session.finish();
          close_queue();
          end_reading();
        }));
    if (!application.input.is_live()) return;
    for (std::size_t lane = 0; lane < readings.size(); ++lane)
      readers.push_back(std::make_unique<Pool>(
          [this, lane] { return read_job(lane); },
          options("input", {},
                  [this, lane](std::exception_ptr error) { queue.finish(error, lane); })));
  }

  /// No more pictures are taken.
  void end_reading() {
    for (const auto& reading : readings) reading->end();
  }
  void stop() {
    stop_before_crops();
    if (crops) crops->stop();
  }
  void close_queue() {
    queue.close();
    if (credits) credits->close();
  }
  /// Frames that have come to the crops still arrive.
  void stop_before_crops() {
    end_reading();
    close_queue();
    session.stop();
  }
  bool have_readers_left(std::chrono::milliseconds time) {
    return std::all_of(readers.begin(), readers.end(),
                       [&](const auto& reader) { return reader->wait_for(time); });
  }
};

Run::Run(const Application& application, const Parts& parts, runtime::Session& session, Give give)
    : state_(std::make_unique<State>(application, parts, session, std::move(give))) {
  try {
    state_->launch();
  } catch (...) {
    state_->stop();
    throw;
  }
}

Run::~Run() { state_->stop(); }

bool Run::wait_for(std::chrono::milliseconds time) {
  if (state_->crops && !state_->crops->wait_for(time)) return false;
  if (!state_->after->wait_for(time)) return false;
  return state_->before->wait_for(time) && state_->have_readers_left(time);
}

void Run::finish() { state_->end_reading(); }

std::vector<InputTotals> Run::inputs() const {
  std::vector<InputTotals> inputs;
  const std::vector<Input> all = state_->application.inputs();
  for (std::size_t lane = 0; lane < state_->readings.size(); ++lane) {
    const Reading& reading = *state_->readings[lane];
    InputTotals& each = inputs.emplace_back();
    each.name = all[lane].name;
    each.queue = state_->queue.counts(lane);
    const std::int64_t skipped = reading.skipped();
    each.queue.put += skipped;
    each.queue.dropped += skipped;
    each.gaps = reading.gaps();
  }
  return inputs;
}

bool Run::is_busy() const { return !state_->on_their_way.empty(); }

Totals Run::totals() const {
  Totals totals = state_->totals;
  const std::vector<InputTotals> inputs = this->inputs();
  const bool is_live = state_->application.input.is_live();
  for (std::size_t lane = 0; lane < inputs.size(); ++lane) {
    const runtime::QueueCounts& queue = inputs[lane].queue;
    const Gaps& gaps = inputs[lane].gaps;
    totals.gaps += gaps;
    totals.queue.put += queue.put;
    totals.queue.dropped += queue.dropped;
    totals.queue.most += queue.most;
    if (!is_live) continue;
    totals.last_due.push_back(state_->readings[lane]->last_due());
    if (totals.inputs.empty()) continue;
    totals.inputs[lane].queue = queue;
    totals.inputs[lane].gaps = gaps;
  }
  totals.complaint = state_->parts.source->complaint();
  return totals;
}

Totals run_in_turn(const Application& application, const Parts& parts, runtime::Sequential& network,
                   const Give& give) {
  Totals totals;
  const auto start = Clock::now();
  const std::int64_t most = application.has_several_inputs() ? 0 : application.input.frames;
  std::int64_t read = 0;
  for (bool more = true; more;) {
    Travels travels;
    while (more && static_cast<std::int64_t>(travels.size()) < parts.batch) {
      const auto begin = Clock::now();
      auto picture = most > 0 && read == most ? std::nullopt : read_next(*parts.source);
      more = picture.has_value();
      if (!more) break;
      ++read;
      Travel& travel = travels.emplace_back();
      travel.outcome.picture = std::move(*picture);
      travel.outcome.picture.taken = begin;
      prepare(application, parts, travel);
      if (!travel.undecoded) continue;
      parts.skip(*travel.undecoded);
      travels.pop_back();
    }
    if (travels.empty()) break;
    const auto submitted = Clock::now();
    auto outputs = network.run(take_inputs(travels, parts.batch));
    const auto arrived = Clock::now();
    give_outputs(travels, std::move(outputs), parts.batch);
    for (Travel& travel : travels) {
      travel.arrived = arrived;
      travel.pipeline = arrived - submitted;
      examine(application, parts, travel);
      if (parts.crops != nullptr) run_crops(*parts.crops, travel);
      travel.outcome.latency = Clock::now() - travel.outcome.picture.taken;
      count(travel, totals);
      give(travel.outcome);
    }
  }
  totals.elapsed = Clock::now() - start;
  totals.complaint = parts.source->complaint();
  return totals;
}

}  // namespace millrace::application
