#pragma once
// Deployments as JSON files (schemas/deployment.schema.json) that a person can read and compare.
#include <filesystem>
#include <functional>

#include "deployment/deployment.h"
#include "network/network.h"

namespace millrace::deployment {

/// The network that a plan is for. Who gives it keeps what it returns.
using NetworkOf = std::function<const network::Network&(const formats::ModelSource&)>;

/// Whether it ends in ".json" and says that it is a deployment. InputError if it is not JSON then.
bool is_deployment_file(const std::filesystem::path& path);

/// Atomic; see base/file.h. Precondition: check() passes. Files are named as seen from the folder.
void write_deployment(const std::filesystem::path& path, const Deployment& deployment,
                      const NetworkOf& network_of);

/// It has passed check(). InputError names file and field; also if a plan was made for another
/// network. Without `network_of`, plans have nothing but their origin: enough for all that asks for
/// times only, and no model need be there.
Deployment read_deployment(const std::filesystem::path& path, const NetworkOf& network_of);

/// What it was made for; the groups that name an application have no model, as in read_system.
system::System read_deployment_system(const std::filesystem::path& path);

}  // namespace millrace::deployment
