#pragma once
// The stages of a JEDI configuration as a plan.
#include <string>
#include <vector>

#include "application/application.h"
#include "application/jedi/import_jedi.h"
#include "base/verdict.h"
#include "plan/plan.h"
#include "plan/plan_file.h"

namespace millrace::api {

struct JediPlan {
  Verdict verdict = Verdict::yes();  // no: why there is none
  std::vector<std::string> notes = {};
  plan::PlanFile file = {};  // this and what follows: only if the verdict is yes
  network::Network network = {};
  application::ByHand mapping = {};  // the same, as the application's file says it
};

/// The plan, with modelled times, for the board of this name (empty: this machine). No, with the
/// reason, if the network is not here or the board cannot run it so. InputError if the
/// configuration contradicts itself or the network.
JediPlan make_jedi_plan(const application::jedi::Instance& instance,
                        const application::jedi::Imported& imported, const std::string& board);

/// The application as JSON for write_yaml, with its stages if there are some.
std::string application_of(const application::jedi::Imported& imported, const JediPlan& plan);

}  // namespace millrace::api
