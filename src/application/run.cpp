#include "application/run.h"

#include <atomic>
#include <deque>
#include <mutex>

#include "application/steps.h"
#include "base/error.h"
#include "runtime/pool.h"
#include "runtime/waiting/pace.h"

namespace millrace::application {
namespace {

using TravelPointer = std::shared_ptr<Travel>;  // shared by the two steps of a pool's job

/// Frames between submit() and next(), in their order.
class OnTheirWay {
 public:
  void push(TravelPointer travel) {
    const std::lock_guard lock(mutex_);
    frames_.push_back(std::move(travel));
  }
  TravelPointer pop() {
    const std::lock_guard lock(mutex_);
    TravelPointer travel = std::move(frames_.front());
    frames_.pop_front();
    return travel;
  }

 private:
  std::mutex mutex_;
  std::deque<TravelPointer> frames_;
};

runtime::WhenFull rule_of(Drop drop) {
  return drop == Drop::block    ? runtime::WhenFull::block
         : drop == Drop::oldest ? runtime::WhenFull::drop_oldest
                                : runtime::WhenFull::drop_newest;
}

Time period_of(const Input& input) {
  return input.rate_fps > 0 ? time_from_seconds(1 / input.rate_fps) : Time{};
}

}  // namespace

// reader (live input only) -> queue -> `before` pool -> session -> `after` pool -> give
struct Run::State {
  State(const Application& application_of, const Parts& parts_of, runtime::Session& session_of,
        Give give_of)
      : application(application_of),
        parts(parts_of),
        session(session_of),
        give(std::move(give_of)),
        queue(static_cast<std::size_t>(application_of.input.queue),
              rule_of(application_of.input.drop)),
        pace(period_of(application_of.input)) {}

  const Application& application;
  const Parts parts;
  runtime::Session& session;
  const Give give;
  runtime::LiveQueue<Picture> queue;
  runtime::Pace pace;
  std::atomic<bool> finishing{false};  // no more pictures are taken; never false again
  std::int64_t read = 0;               // of who reads, one thread at a time
  OnTheirWay on_their_way;
  Totals totals;  // of who gives; `elapsed` is of the last frame
  Clock::time_point start = Clock::now();
  std::unique_ptr<runtime::Pool> reader, before, after;  // the last first: it may use the others

  std::optional<Picture> next_picture() {
    const std::int64_t most = application.input.frames;
    if (finishing || (most > 0 && read == most)) return std::nullopt;
    if (application.input.rate_fps > 0 && !pace.wait()) return std::nullopt;
    auto picture = read_next(*parts.source);
    if (!picture) return std::nullopt;
    ++read;
    if (application.input.is_live()) picture->taken = Clock::now();
    if (const double rate = application.input.rate_fps; rate > 0)
      picture->due = time_from_seconds(static_cast<double>(picture->frame) / rate);
    return picture;
  }

  std::optional<runtime::Job> read_job() {
    auto picture = next_picture();
    if (!picture) return std::nullopt;
    auto shared = std::make_shared<Picture>(std::move(*picture));
    return runtime::Job{[] {}, [this, shared] { return queue.put(std::move(*shared)); }};
  }

  std::optional<runtime::Job> before_job() {
    auto picture = application.input.is_live() ? queue.take() : next_picture();
    if (!picture) return std::nullopt;
    auto travel = std::make_shared<Travel>();
    travel->outcome.picture = std::move(*picture);
    return runtime::Job{[this, travel] { prepare(application, parts, *travel); },
                        [this, travel] { return submit(travel); }};
  }
  bool submit(const TravelPointer& travel) {
    if (travel->undecoded) {
      parts.skip(*travel->undecoded);
      return true;
    }
    on_their_way.push(travel);
    const bool taken = session.submit(travel->inputs);
    travel->inputs.clear();
    return taken;
  }

  std::optional<runtime::Job> after_job() {
    auto result = session.next();
    if (!result) return std::nullopt;
    TravelPointer travel = on_their_way.pop();
    travel->arrived = Clock::now();
    travel->pipeline = result->latency;
    travel->outputs = std::move(result->outputs);
    return runtime::Job{[this, travel] { examine(application, parts, *travel); },
                        [this, travel] {
                          travel->outcome.latency = Clock::now() - travel->outcome.picture.taken;
                          count(*travel, totals);
                          give(travel->outcome);
                          totals.elapsed = Clock::now() - start;
                          return true;
                        }};
  }

  void launch() {
    using runtime::Pool;
    const auto options = [](const char* name, const Workers& workers, auto at_end) {
      return runtime::PoolOptions{name, workers.threads, workers.cores, at_end};
    };
    after = std::make_unique<Pool>([this] { return after_job(); },
                                   options("post-processing", application.postprocess.workers,
                                           [this](std::exception_ptr error) {
                                             if (error) stop();
                                           }));
    before = std::make_unique<Pool>(
        [this] { return before_job(); },
        options("pre-processing", application.preprocess.workers, [this](std::exception_ptr) {
          session.finish();
          queue.close();
          pace.end();
        }));
    if (!application.input.is_live()) return;
    reader = std::make_unique<Pool>(
        [this] { return read_job(); },
        options("input", {}, [this](std::exception_ptr error) { queue.finish(error); }));
  }

  void stop() {
    finishing = true;
    pace.end();
    queue.close();
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
  if (!state_->after->wait_for(time)) return false;
  return state_->before->wait_for(time) && (!state_->reader || state_->reader->wait_for(time));
}

void Run::finish() {
  state_->finishing = true;
  state_->pace.end();
}

Totals Run::totals() const {
  Totals totals = state_->totals;
  totals.queue = state_->queue.counts();
  totals.complaint = state_->parts.source->complaint();
  return totals;
}

Totals run_in_turn(const Application& application, const Parts& parts, runtime::Sequential& network,
                   const Give& give) {
  Totals totals;
  const auto start = Clock::now();
  const std::int64_t most = application.input.frames;
  for (std::int64_t frame = 0; most == 0 || frame < most; ++frame) {
    const auto begin = Clock::now();
    auto picture = read_next(*parts.source);
    if (!picture) break;
    Travel travel;
    travel.outcome.picture = std::move(*picture);
    travel.outcome.picture.taken = begin;
    prepare(application, parts, travel);
    const auto submitted = Clock::now();
    travel.outputs = network.run(travel.inputs);
    travel.arrived = Clock::now();
    travel.pipeline = travel.arrived - submitted;
    examine(application, parts, travel);
    travel.outcome.latency = Clock::now() - begin;
    count(travel, totals);
    give(travel.outcome);
  }
  totals.elapsed = Clock::now() - start;
  totals.complaint = parts.source->complaint();
  return totals;
}

}  // namespace millrace::application
