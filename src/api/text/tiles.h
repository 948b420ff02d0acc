#pragma once
// How programs of tiles ran, for people.
#include <string>
#include <vector>

#include "api/tiles/tiles.h"

namespace millrace::api {

/// A row for each workload, and one for all.
std::string tiles_text(const std::vector<TilesRun>& runs);

/// What is wrong or differs, a printable line each; `right` if nothing does.
std::string findings_text(const std::vector<std::string>& findings, const std::string& right);

}  // namespace millrace::api
