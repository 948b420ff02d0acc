#pragma once
// millrace run DEPLOYMENT
#include <CLI/CLI.hpp>
#include <vector>

#include "api/admission/admitted.h"
#include "api/deployment/run.h"

namespace millrace::cli {

struct DeploymentVerbOptions {
  api::DeploymentRunRequest request;
  std::vector<CLI::Option*> options;  // those of deployments only
};

void bind_deployment(CLI::App& verb, DeploymentVerbOptions& options);

/// Prints how a table ran; whether every job ended in time.
bool print_played(const api::AdmitResult& result, const api::PlayedAdmission& played, bool json);

/// An answer of `admit`, by its table; 1 if a job ended late.
int run_admitted(const api::DeploymentRunRequest& request, bool json);

/// 1 if a frame missed its deadline.
int run_deployment(const api::DeploymentRunRequest& request, bool json);

}  // namespace millrace::cli
