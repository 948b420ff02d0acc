#include "runtime/controller/timed_pieces.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include "base/random.h"
#include "runtime/first_error.h"
#include "runtime/maybe_pinned.h"
#include "runtime/scheduling/thread_priority.h"
#include "runtime/waiting/watchdog.h"
#include "runtime/waiting/event_count.h"

namespace millrace::runtime {
namespace {

using StreamClock = std::chrono::steady_clock;

/// Real-time threads leave this share of their time to the system, which would else take it, in
/// one piece, from whatever is measured.
constexpr double rest_share = 0.3;
/// What other groups have of the caches in between.
constexpr std::int64_t disturbing_bytes = 8 << 20;

/// Memory that goes through the caches and takes their place.
class Disturber {
 public:
  Disturber() : memory_(static_cast<std::size_t>(disturbing_bytes)) {}
  void run() {
    for (std::size_t i = 0; i < memory_.size(); i += 64) memory_[i] = ++value_;
  }

 private:
  std::vector<unsigned char> memory_;
  unsigned char value_ = 0;
};

/// The pieces of one processor.
struct TimedProcessor {
  explicit TimedProcessor(board::Processor of) : processor(std::move(of)) {}
  const board::Processor processor;
  std::vector<TimedPiece> pieces = {};
  std::vector<std::size_t> places = {};  // of the pieces, among all
  Disturber disturber = {};
  std::shared_ptr<AtWork> at_work = std::make_shared<AtWork>();  // with who waits
  bool is_done(std::int64_t samples) const {
    return std::ranges::all_of(pieces, [&](const TimedPiece& piece) {
      return static_cast<std::int64_t>(piece.samples.size()) >= samples;
    });
  }
  Time run(const TimedPiece& piece) const {
    at_work->begin(piece.name);
    const Time time = piece.run();
    at_work->end();
    return time;
  }
};
// Shared by the processor's thread and who waits for it.
using TimedProcessors = std::vector<std::shared_ptr<TimedProcessor>>;

/// Lets others have the core for a while, after so much work.
void rest_after(Time work) {
  EventCount never;
  never.sleep_before(never.ticket(),
                     StreamClock::now() + time_from_seconds(rest_share * seconds(work)));
}

/// What all measuring threads share, with who waits for them.
struct Measuring {
  Measuring(TaskTimesOptions with, int at) : options(std::move(with)), priority(at) {}
  const TaskTimesOptions options;
  const int priority;
  std::atomic<std::size_t> unfinished{0};
  std::atomic<bool> ended{false};
  FirstError error = {};
};

/// Every piece once, in an order by chance.
void run_round(TimedProcessor& on, Random& random, const TaskTimesOptions& options) {
  std::vector<std::size_t> order(on.pieces.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (const std::size_t i : order) {
    const auto begin = StreamClock::now();
    if (options.beside_others && random.below(2) == 0) on.disturber.run();
    on.pieces[i].samples.push_back(on.run(on.pieces[i]));
    rest_after(StreamClock::now() - begin);
  }
}

/// Until all processors have their samples, so that none is measured beside idle ones.
void measure_on(TimedProcessor& on, Measuring& measuring) {
  const TaskTimesOptions& options = measuring.options;
  const MaybePinned pinned(on.processor, !on.processor.cores.empty());
  const PriorityGuard priority(measuring.priority);
  Random random(options.seed);
  for (const TimedPiece& piece : on.pieces) on.run(piece);  // the first run is of cold code
  bool is_done = false;
  while (!measuring.ended && (measuring.unfinished > 0 || !is_done)) {
    run_round(on, random, options);
    if (is_done || !on.is_done(options.samples)) continue;
    is_done = true;
    --measuring.unfinished;
  }
}

void guarded_measure(TimedProcessor& on, Measuring& measuring) {
  try {
    measure_on(on, measuring);
    return;
  } catch (const InputError& error) {
    measuring.error.set({error.what(), true});
  } catch (const std::exception& error) {
    measuring.error.set({error.what()});
  }
  measuring.ended = true;
}

void measure_at_once(const TimedProcessors& processors,
                     const std::shared_ptr<Measuring>& measuring) {
  measuring->unfinished = processors.size();
  std::vector<WatchedWork> works;
  for (const auto& each : processors)
    works.push_back({[measuring, on = each] { guarded_measure(*on, *measuring); }, each->at_work});
  run_watched(works, {measuring->options.patience, [&] { measuring->ended = true; },
                 measuring->options.between});
}

TimedProcessors by_processor(const std::vector<TimedPiece>& pieces, const board::Board& board) {
  TimedProcessors result;
  for (std::size_t p = 0; p < board.processors.size(); ++p) {
    const auto on = std::make_shared<TimedProcessor>(board.processors[p]);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i].processor != p) continue;
      on->pieces.push_back(pieces[i]);
      on->places.push_back(i);
    }
    if (!on->pieces.empty()) result.push_back(on);
  }
  return result;
}

}  // namespace

TaskTimes times_of(const std::vector<Time>& samples) {
  constexpr double deviations = 6;
  TaskTimes result;
  if (samples.empty()) return result;
  result.samples = static_cast<std::int64_t>(samples.size());
  const auto count = static_cast<double>(samples.size());
  double mean = 0, squares = 0;
  for (const Time sample : samples) mean += static_cast<double>(sample.count()) / count;
  for (const Time sample : samples)
    squares += std::pow(static_cast<double>(sample.count()) - mean, 2) / count;
  const auto [best, largest] = std::ranges::minmax(samples);
  result.best = best;
  result.largest = largest;
  result.average = std::clamp(Time(static_cast<std::int64_t>(mean)), best, largest);
  result.worst = std::max(
      largest, Time(static_cast<std::int64_t>(std::ceil(mean + deviations * std::sqrt(squares)))));
  return result;
}

void measure_pieces(std::vector<TimedPiece>& pieces, const board::Board& board,
                    const PieceTiming& timing) {
  const TaskTimesOptions& options = timing.options;
  const int priority =
      options.priorities && may_have_priority(timing.priority) ? timing.priority : 0;
  const auto measuring = std::make_shared<Measuring>(options, priority);
  const TimedProcessors processors = by_processor(pieces, board);
  if (options.beside_others) {
    measure_at_once(processors, measuring);
  } else {
    for (const auto& each : processors) measure_at_once({each}, measuring);
  }
  measuring->error.rethrow();
  for (const auto& on : processors)
    for (std::size_t i = 0; i < on->pieces.size(); ++i)
      pieces[on->places[i]].samples = std::move(on->pieces[i].samples);
}

}  // namespace millrace::runtime
