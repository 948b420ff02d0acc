#include "engine/cuda/device/fastest.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <vector>

#include "base/error.h"

namespace millrace::engine::cuda {
namespace {

/// The first run loads code.
constexpr int rounds = 5;

/// Weights come from memory or lie in the GPU's cache, which depends on what else the network
/// holds: both count.
class Stopwatch {
 public:
  explicit Stopwatch(const Gpu& gpu)
      : driver_(gpu.driver()),
        stream_(make_stream(driver_)),
        begin_(make_event(driver_, Wait::spinning, true)),
        end_(make_event(driver_, Wait::spinning, true)),
        scratch_(driver_, gpu.cache() + gpu.cache()) {}

  float time_of(const Way& way) const {
    way(stream_.get());
    check(driver_, driver_.wait_for_stream(stream_.get()));
    return median_of(way, true) + median_of(way, false);
  }

 private:
  float median_of(const Way& way, bool is_cached) const {
    std::vector<float> times;
    for (int round = 0; round < rounds; ++round) times.push_back(once(way, is_cached));
    std::ranges::nth_element(times, times.begin() + rounds / 2);
    return times[rounds / 2];
  }

  float once(const Way& way, bool is_cached) const {
    const Stream stream = stream_.get();
    // While the GPU fills, all that follows is queued, so that the host's time does not count.
    check(driver_, driver_.fill_later(scratch_.address(), 0,
                                      static_cast<std::size_t>(scratch_.size().count), stream));
    if (is_cached) way(stream);
    check(driver_, driver_.record_event(begin_.get(), stream));
    way(stream);
    check(driver_, driver_.record_event(end_.get(), stream));
    check(driver_, driver_.wait_for_event(end_.get()));
    float milliseconds = 0;
    check(driver_, driver_.milliseconds_between(&milliseconds, begin_.get(), end_.get()));
    return milliseconds;
  }

  const Driver& driver_;
  Owned<StreamObject> stream_;
  Owned<EventObject> begin_, end_;
  DeviceMemory scratch_;  // what is written here pushes all else out of the cache
};

}  // namespace

Fastest fastest_of(Gpu& gpu, std::span<const Way> ways) {
  if (ways.size() == 1) return {};
  const Stopwatch stopwatch(gpu);
  std::exception_ptr first_failure;
  std::size_t best = ways.size();
  float shortest = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < ways.size(); ++i) {
    try {
      const float time = stopwatch.time_of(ways[i]);
      if (time < shortest) best = i;
      shortest = std::min(shortest, time);
    } catch (const EngineError&) {
      if (!first_failure) first_failure = std::current_exception();
    }
  }
  if (best == ways.size()) std::rethrow_exception(first_failure);
  return {best, !first_failure};
}

}  // namespace millrace::engine::cuda
