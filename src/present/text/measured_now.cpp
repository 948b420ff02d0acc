#include "present/text/measured_now.h"

#include <fmt/format.h>

namespace millrace::present {

std::vector<std::string> lines_of(const runtime::MeasuredNow& now) {
  const auto bound = now.bound();
  if (!bound) return {};
  const auto both = now.compare();
  return {
      fmt::format("estimate without waiting: {} frames/s, from the shortest time of each phase "
                  "(interleaved rounds)",
                  four_digits(1 / seconds(*bound))),
      fmt::format("the plan reaches {:.1f} % of this estimate; {:.1f} to {:.1f} % in the middle "
                  "half of {} rounds",
                  100 * now.reached(0.5), 100 * now.reached(0.25), 100 * now.reached(0.75),
                  now.turns()),
      fmt::format("the simulator, given the measured times of all firings, predicts {} times "
                  "the frames/s",
                  four_digits(both.simulated.throughput() / both.measured.throughput())),
      fmt::format("and {} times the 99th percentile of latency: {} instead of "
                  "{}",
                  four_digits(both.ratio_of_p99()),
                  to_text(both.simulated.latencies.percentile(0.99)),
                  to_text(both.measured.latencies.percentile(0.99)))};
}

}  // namespace millrace::present
