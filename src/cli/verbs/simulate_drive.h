#pragma once
// millrace simulate DEPLOYMENT
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "api/deployment/simulate.h"

namespace millrace::cli {

struct DriveVerbOptions {
  api::DriveRequest request;
  std::vector<CLI::Option*> options;  // those of deployments only
};

void bind_drive(CLI::App& verb, DriveVerbOptions& options);

}  // namespace millrace::cli
