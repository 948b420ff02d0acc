#include "application/run.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

#include "application/cascade/crop_run.h"
#include "application/cascade/crop_steps.h"
#include "application/sources/intake.h"
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

// intake -> `before` pool -> session -> `after` pool -> give
struct Run::State {
  State(const Application& application_of, const Parts& parts_of, runtime::Session& session_of,
        Give give_of)
      : application(application_of),
        parts(parts_of),
        session(session_of),
        give(std::move(give_of)),
        own_intake(parts.intake != nullptr
                       ? nullptr
                       : std::make_unique<Intake>(application, parts.source)),
        intake(own_intake ? *own_intake : *parts.intake),
        totals(parts.so_far != nullptr ? *parts.so_far : Totals{}),
        start(Clock::now() - totals.elapsed) {
    // These are the intake's.
    totals.queue = {};
    totals.gaps = {};
    totals.last_due.clear();
    if (const auto most = most_on_their_way(application, parts, session)) credits.emplace(*most);
    if (!application.has_several_inputs() || !totals.inputs.empty()) return;
    for (const Input& input : application.inputs()) totals.inputs.emplace_back().name = input.name;
  }

  const Application& application;
  const Parts parts;
  runtime::Session& session;
  const Give give;
  const std::unique_ptr<Intake> own_intake;  // none: it is the caller's
  Intake& intake;
  std::atomic<bool> hands_over{false};
  /// One for each batch of pictures between the queue and the network's results, or the crops'.
  std::optional<runtime::Credits> credits = {};
  OnTheirWay on_their_way;
  Totals totals;  // of who gives; `elapsed` is of the last frame
  const Clock::time_point start;
  std::optional<CropRun> crops;                  // gone after all pools
  std::unique_ptr<runtime::Pool> before, after;  // the last first: it may use the others

  std::optional<runtime::Job> before_job() {
    if (credits && !credits->take()) return std::nullopt;
    auto travels = std::make_shared<Travels>();
    while (static_cast<std::int64_t>(travels->size()) < parts.batch) {
      auto picture = intake.take();
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
    give(std::move(travel.outcome));  // its picture is nobody else's
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
        options("pre-processing", application.preprocess.workers, [this](std::exception_ptr error) {
          session.finish();
          if (hands_over && !error) return;
          close_queue();
          intake.end();
        }));
    if (own_intake) own_intake->begin();
  }

  void stop() {
    stop_before_crops();
    if (crops) crops->stop();
  }
  void close_queue() {
    intake.close();
    if (credits) credits->close();
  }
  /// Frames that have come to the crops still arrive.
  void stop_before_crops() {
    if (!hands_over) {
      intake.end();
      close_queue();
    }
    session.stop();
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
  if (!state_->before->wait_for(time)) return false;
  return state_->hands_over || state_->intake.wait_for(time);
}

void Run::finish() { state_->intake.end_now(); }

void Run::hand_over() {
  state_->hands_over = true;
  state_->intake.hold();
}

std::vector<InputTotals> Run::inputs() const {
  std::vector<InputTotals> inputs;
  const std::vector<Input> all = state_->application.inputs();
  for (const Counted& counted : state_->intake.counted())
    inputs.push_back({all[inputs.size()].name, 0, counted.queue, counted.gaps});
  return inputs;
}

bool Run::is_busy() const { return !state_->on_their_way.empty(); }

Totals Run::totals() const {
  Totals totals = state_->totals;
  const std::vector<Counted> all = state_->intake.counted();
  for (std::size_t lane = 0; lane < all.size(); ++lane) {
    const runtime::QueueCounts& queue = all[lane].queue;
    totals.gaps += all[lane].gaps;
    totals.queue.put += queue.put;
    totals.queue.dropped += queue.dropped;
    totals.queue.most += queue.most;
    if (!state_->intake.is_live()) continue;
    totals.last_due.push_back(all[lane].last_due);
    if (totals.inputs.empty()) continue;
    totals.inputs[lane].queue = queue;
    totals.inputs[lane].gaps = all[lane].gaps;
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
      give(std::move(travel.outcome));
    }
  }
  totals.elapsed = Clock::now() - start;
  totals.complaint = parts.source->complaint();
  return totals;
}

}  // namespace millrace::application
