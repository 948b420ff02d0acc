#pragma once
// The stages of a JEDI configuration as a plan.
#include <string>
#include <vector>

#include "application/import_jedi.h"
#include "base/verdict.h"
#include "cli/model.h"

namespace millrace::cli {

struct JediPlan {
  Verdict verdict = Verdict::yes();  // no: why there is none
  std::vector<std::string> notes = {};
};

/// Writes the plan to `output`, with modelled times, for the board that options.board names (empty:
/// this machine). No, with the reason, if the network is not here or the board cannot run it so.
/// InputError if the configuration contradicts itself or the network.
struct JediPlanOptions {
  std::string board;
  std::string output;
};
JediPlan write_jedi_plan(const application::jedi::Instance& instance,
                         const application::jedi::Imported& imported,
                         const JediPlanOptions& options);

}  // namespace millrace::cli
