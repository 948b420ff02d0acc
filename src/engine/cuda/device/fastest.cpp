#include "engine/cuda/device/fastest.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <vector>

#include "base/error.h"

namespace millrace::engine::cuda {
namespace {

/// The first run loads code. Each of the others is long enough for the clock of the events.
constexpr int rounds = 5, runs_in_round = 4;

class Stopwatch {
 public:
  explicit Stopwatch(const Driver& driver)
      : driver_(driver),
        stream_(make_stream(driver)),
        begin_(make_event(driver, Wait::spinning, true)),
        end_(make_event(driver, Wait::spinning, true)) {}

  float median_of(const Way& way) const {
    way(stream_.get());
    check(driver_, driver_.wait_for_stream(stream_.get()));
    std::vector<float> times;
    for (int round = 0; round < rounds; ++round) times.push_back(time_of(way));
    std::ranges::nth_element(times, times.begin() + rounds / 2);
    return times[rounds / 2];
  }

 private:
  float time_of(const Way& way) const {
    check(driver_, driver_.record_event(begin_.get(), stream_.get()));
    for (int run = 0; run < runs_in_round; ++run) way(stream_.get());
    check(driver_, driver_.record_event(end_.get(), stream_.get()));
    check(driver_, driver_.wait_for_event(end_.get()));
    float milliseconds = 0;
    check(driver_, driver_.milliseconds_between(&milliseconds, begin_.get(), end_.get()));
    return milliseconds;
  }

  const Driver& driver_;
  Owned<StreamObject> stream_;
  Owned<EventObject> begin_, end_;
};

}  // namespace

std::size_t fastest_of(Gpu& gpu, std::span<const Way> ways) {
  if (ways.size() == 1) return 0;
  const std::lock_guard lock(gpu.turns());
  const Stopwatch stopwatch(gpu.driver());
  std::exception_ptr first_failure;
  std::size_t best = ways.size();
  float shortest = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < ways.size(); ++i) {
    try {
      const float time = stopwatch.median_of(ways[i]);
      if (time < shortest) best = i;
      shortest = std::min(shortest, time);
    } catch (const EngineError&) {
      if (!first_failure) first_failure = std::current_exception();
    }
  }
  if (best == ways.size()) std::rethrow_exception(first_failure);
  return best;
}

}  // namespace millrace::engine::cuda
