#pragma once
// The times of a system's tasks and networks on a machine: schemas/system_profile.schema.json.
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "board/board.h"
#include "deployment/deployment.h"
#include "profile/profile.h"
#include "system/system.h"

namespace millrace::explore {

/// A task of a group's graph on a processor.
struct TaskProfile {
  std::string group, task, function, processor;
  profile::Statistics times;
  Time best{};
};

/// Worst times of the steps of an application.
struct StepTimes {
  Time preprocess{}, postprocess{};
};

/// The steps of a group's application.
struct StepsProfile {
  std::string group;
  StepTimes worst;
};

struct SystemProfile {
  std::string system;  // its name
  std::string board;   // hash of the machine
  std::vector<TaskProfile> tasks;
  std::vector<StepsProfile> steps;
  std::vector<profile::Profile> networks;  // each once
};

nlohmann::json to_json(const SystemProfile& profile);
void write_system_profile(const std::filesystem::path& path, const SystemProfile& profile);
/// InputError naming file and field.
SystemProfile read_system_profile(const std::filesystem::path& path);

/// Times that the system's file leaves to be measured. InputError, which names the profile's `file`
/// where it is wrong, if it is of another machine or lacks one of them.
struct ProfileToUse {
  const SystemProfile& profile;
  std::string file;
};
void fill_in(system::System& system, const board::Board& board, const ProfileToUse& use);

/// Whether it has a time of a task of the deployment's graphs, where that one runs.
bool has_times_of(const SystemProfile& profile, const deployment::Deployment& deployment);

/// The deployment with the profile's times of the tasks of its graphs, and each one's share of the
/// controller's overhead. InputError as fill_in.
deployment::Deployment with_task_times(deployment::Deployment deployment, const ProfileToUse& use);

}  // namespace millrace::explore
