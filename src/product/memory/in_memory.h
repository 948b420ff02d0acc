#pragma once
// Values that a program holds, in place of files: requests name them as they name files.
#include <map>
#include <memory>
#include <string>

#include "application/application.h"
#include "deployment/deployment.h"
#include "network/calibration.h"
#include "network/network.h"
#include "plan/plan_file.h"
#include "profile/profile.h"
#include "system/system.h"

namespace millrace::product {

/// By the names that requests have for them. Names of plans and deployments end in ".json", those
/// of applications in ".yaml", as files' do.
struct InMemory {
  std::map<std::string, std::shared_ptr<const network::Network>> models = {};
  std::map<std::string, std::shared_ptr<const plan::PlanFile>> plans = {};
  std::map<std::string, std::shared_ptr<const profile::Profile>> profiles = {};
  std::map<std::string, std::shared_ptr<const network::Calibration>> calibrations = {};
  std::map<std::string, std::shared_ptr<const application::Application>> applications = {};
  std::map<std::string, std::shared_ptr<const system::System>> systems = {};
  std::map<std::string, std::shared_ptr<const deployment::Deployment>> deployments = {};
};

/// The value of this name; null: there is none, and the name is a file's.
template <class Value>
const Value* held(const std::map<std::string, std::shared_ptr<const Value>>& values,
                  const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? nullptr : found->second.get();
}

}  // namespace millrace::product
