#include "api/json/tiles.h"

#include "base/json_text.h"

namespace millrace::api {

std::string tiles_json(const workload::Program& program, const std::vector<TilesRun>& runs) {
  nlohmann::json workloads = nlohmann::json::array();
  for (const TilesRun& run : runs)
    workloads.push_back({{"name", run.name},
                         {"largest_error", run.difference},
                         {"time_ns", run.total.count()},
                         {"kernels_ns", run.kernels.count()},
                         {"transfers_ns", run.transfers.count()}});
  return json_document("workload_run",
                       {{"network", program.network},
                        {"largest_error", largest_difference(runs)},
                        {"within_tolerance", largest_difference(runs) <= tiles_tolerance},
                        {"workloads", std::move(workloads)}});
}

std::string findings_json(const std::string& file, const std::vector<std::string>& findings) {
  return json_document("workload_findings", {{"file", file}, {"findings", findings}});
}

}  // namespace millrace::api
