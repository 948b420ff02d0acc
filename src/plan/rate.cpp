#include "plan/rate.h"

#include "dataflow/analysis.h"
#include "plan/build.h"

namespace millrace::plan {

std::optional<Time> period_bound(const Plan& plan, const network::Network& network,
                                 const std::vector<std::vector<Time>>& phase_times) {
  constexpr std::int64_t enough_firings = 3'000'000;
  GraphOptions options;
  options.phase_times = phase_times;
  options.outside = false;
  const auto rate = dataflow::throughput(csdf_graph(plan, network, options), enough_firings);
  if (!rate || rate->iterations == 0) return std::nullopt;
  return rate->span / rate->iterations;
}

}  // namespace millrace::plan
