#include "plan/rate.h"

#include "dataflow/analysis.h"
#include "plan/build.h"

namespace millrace::plan {

std::optional<Time> period_bound(const Plan& plan, const network::Network& network,
                                 const std::vector<std::vector<Time>>& phase_times) {
  GraphOptions options;
  options.phase_times = phase_times;
  options.outside = false;
  const auto rate = dataflow::throughput(csdf_graph(plan, network, options));
  if (!rate || !rate->is_live()) return std::nullopt;
  return rate->span / rate->iterations;
}

}  // namespace millrace::plan
