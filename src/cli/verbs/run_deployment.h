#pragma once
// millrace run DEPLOYMENT
#include "product/admission/admitted.h"
#include "product/deployment/run.h"

namespace millrace::cli {

/// Prints how a table ran; whether every job ended in time.
bool print_played(const product::AdmitResult& result, const product::PlayedAdmission& played,
                  bool json);

/// An answer of `admit`, by its table; 1 if a job ended late.
int run_admitted(const product::DeploymentRunRequest& request, bool json);

/// 1 if a frame missed its deadline.
int run_deployment(const product::DeploymentRunRequest& request, bool json);

}  // namespace millrace::cli
