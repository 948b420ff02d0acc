#include "cli/print/measured_now.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace millrace::cli {
namespace {

double ratio_of_p99(const api::MeasuredNow::Comparison& both) {
  return seconds(both.simulated.latencies.percentile(0.99)) /
         seconds(both.measured.latencies.percentile(0.99));
}

}  // namespace

std::vector<std::string> lines_of(const api::MeasuredNow& now) {
  const auto bound = now.bound();
  if (!bound) return {};
  const auto both = now.compare();
  return {
      fmt::format("best case: {:.1f} frames/s, from the shortest time of each phase without "
                  "waiting (interleaved rounds)",
                  1 / seconds(*bound)),
      fmt::format("the plan reaches {:.1f} % of the best case; {:.1f} to {:.1f} % in the middle "
                  "half of {} rounds",
                  100 * now.reached(0.5), 100 * now.reached(0.25), 100 * now.reached(0.75),
                  now.turns()),
      fmt::format("the simulator, given the measured times of all firings, predicts {:.3f} times "
                  "the frames/s",
                  both.simulated.throughput() / both.measured.throughput()),
      fmt::format("and {:.2f} times the 99th percentile of latency: {} instead of "
                  "{}", ratio_of_p99(both),
                  to_text(both.simulated.latencies.percentile(0.99)),
                  to_text(both.measured.latencies.percentile(0.99)))};
}

nlohmann::json json_of(const api::MeasuredNow& now) {
  const auto bound = now.bound();
  if (!bound) return nlohmann::json::object();
  const auto both = now.compare();
  return {{"bound_by_phases_measured_now_fps", 1 / seconds(*bound)},
          {"share_of_that_bound",
           {{"median", now.reached(0.5)},
            {"lower_quartile", now.reached(0.25)},
            {"upper_quartile", now.reached(0.75)},
            {"turns", now.turns()}}},
          {"simulated",
           {{"throughput_fps", both.simulated.throughput()},
            {"p99_ms", milliseconds(both.simulated.latencies.percentile(0.99))},
            {"throughput_to_measured", both.simulated.throughput() / both.measured.throughput()},
            {"p99_to_measured", ratio_of_p99(both)}}}};
}

}  // namespace millrace::cli
