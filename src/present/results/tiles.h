#pragma once
// How programs of tiles ran, and what is wrong with them: schemas/workload_run.schema.json and
// workload_findings.schema.json.
#include <string>
#include <vector>

#include "workload/tiles/tiles.h"

namespace millrace::present {

/// A row for each workload, and one for all.
std::string tiles_text(const std::vector<workload::TilesRun>& runs);
std::string tiles_json(const workload::Program& program,
                       const std::vector<workload::TilesRun>& runs);

/// What is wrong or differs, a printable line each; `right` if nothing does.
std::string findings_text(const std::vector<std::string>& findings, const std::string& right);
/// `findings`: sentences about the program in the file.
std::string findings_json(const std::string& file, const std::vector<std::string>& findings);

}  // namespace millrace::present
