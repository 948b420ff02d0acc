#pragma once
// millrace run DEPLOYMENT
#include <CLI/CLI.hpp>
#include <vector>

#include "api/deployment/run.h"

namespace millrace::cli {

struct DeploymentVerbOptions {
  api::DeploymentRunRequest request;
  std::vector<CLI::Option*> options;  // those of deployments only
};

void bind_deployment(CLI::App& verb, DeploymentVerbOptions& options);

/// 1 if a frame missed its deadline.
int run_deployment(const api::DeploymentRunRequest& request, bool json);

}  // namespace millrace::cli
