#pragma once
// The times of a system's tasks and networks on this machine, before anything is decided.
#include <cstdint>
#include <string>
#include <vector>

#include "explore/system/system_profile.h"
#include "product/context.h"
#include "product/deployment/measure_deployment.h"

namespace millrace::product {

struct SystemProfileRequest {
  std::string system;       // a file
  std::string output = {};  // a file; empty: none
  MeasuringRequest measuring = {};
  bool fresh = false;  // networks too, of which a stored profile may fit
  std::uint64_t seed = 1;
  Context context = {};
};

/// Whether it is a YAML or JSON file with groups. InputError if it is neither YAML nor JSON then.
bool is_system_file(const std::string& path);

/// Writes the file that the request names. InputError if the system is for another board, or if a
/// function is not found.
explore::SystemProfile profile_system(const SystemProfileRequest& request);

/// Each task with a function, on each processor that it may run on. The same measurement as that of
/// a deployment's tasks: beside the others, each the larger of the longest and the mean and six
/// deviations.
std::vector<explore::TaskProfile> measured_tasks(const system::System& system,
                                                 const board::Board& board,
                                                 const MeasuringRequest& request,
                                                 const Context& context);

}  // namespace millrace::product
