#pragma once
// How programs of tiles ran, and what is wrong with them, for programs:
// schemas/workload_run.schema.json and workload_findings.schema.json.
#include <string>
#include <vector>

#include "api/tiles/tiles.h"

namespace millrace::api {

std::string tiles_json(const workload::Program& program, const std::vector<TilesRun>& runs);

/// `findings`: sentences about the program in the file.
std::string findings_json(const std::string& file, const std::vector<std::string>& findings);

}  // namespace millrace::api
