#pragma once
// What plug-ins compile for a plan.
#include <map>
#include <string>

#include "product/loaded.h"

namespace millrace::product {

/// By file name: what the plug-ins that the plan names compiled for its stages. Empty if it names
/// none. A plug-in compiles for devices that are not here too. InputError if one is missing.
std::map<std::string, std::string> blobs_of(const Loaded& loaded, const std::string& plan_file);

}  // namespace millrace::product
