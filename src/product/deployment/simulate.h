#pragma once
// What a deployment will do on a drive through its scenarios.
#include <cstdint>
#include <string>

#include "product/context.h"
#include "simulate/drive.h"

namespace millrace::product {

struct DriveRequest {
  std::string deployment;         // a file
  std::string script = {};        // a file; empty: random transitions
  std::int64_t transitions = 20;  // of those
  std::string releases = {};      // a file with those that were recorded; empty: as events allow
  double duration_s = 60;
  bool drawn = false;  // times between the best and the worst; else the worst
  std::uint64_t seed = 1;
  std::int64_t traced_frames = 0;  // of each group
  Context context = {};
};

/// No model of the deployment need be there.
simulate::SimulatedDrive simulate_drive(const DriveRequest& request);

}  // namespace millrace::product
