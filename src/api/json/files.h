#pragma once
// Files that were written from others, for programs: schemas/bundle.schema.json and
// import_jedi.schema.json.
#include <string>
#include <vector>

#include "api/planning/bundle.h"
#include "api/planning/jedi_plan.h"

namespace millrace::api {

std::string bundle_json(const std::string& folder, const Bundle& bundle);

/// An instance of JEDI's configuration.
struct ImportedApplication {
  std::string application, plan;  // files; no plan: empty
  std::string no_plan_because;    // empty: there is one, or the configuration asks for none
  std::vector<std::string> notes;
};
/// `notes`: on the whole configuration.
std::string import_json(const std::vector<ImportedApplication>& applications,
                        const std::vector<std::string>& notes);

}  // namespace millrace::api
