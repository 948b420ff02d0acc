#pragma once
// millrace plan SYSTEM: the decision for a system, or the table that admits it.
#include <optional>
#include <string>
#include <vector>

#include "cli/options/places.h"
#include "product/admission/admit.h"
#include "product/deployment/deploy.h"

namespace millrace::cli {

struct DeployOptions {
  product::DeployRequest request;
  std::string output, pareto, fronts, equations;
  bool json = false, as_in_thesis = false;
};
void bind_deploy(Places& at, DeployOptions& options);
int run_deploy(DeployOptions options);

struct AdmitOptions {
  product::AdmitRequest request;
  std::vector<std::string> kinds, weights;
  std::string goal = "utilisation", gantt, header, into, overrun = "finish";
  double run_s = 0;
  std::optional<double> together_s;
  bool json = false, no_table = false, harmonise = false, keep_periods = false;
};
void bind_admit(Places& at, AdmitOptions& options);
int run_admit(const AdmitOptions& options);

}  // namespace millrace::cli
