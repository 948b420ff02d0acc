#include "present/json/measured_now.h"

#include <nlohmann/json.hpp>

namespace millrace::present {

nlohmann::json json_of(const runtime::MeasuredNow& now) {
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
            {"p99_to_measured", both.ratio_of_p99()}}}};
}

}  // namespace millrace::present
