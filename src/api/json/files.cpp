#include "api/json/files.h"

#include "base/json_text.h"

namespace millrace::api {

std::string bundle_json(const std::string& folder, const Bundle& bundle) {
  nlohmann::json files = nlohmann::json::array();
  for (const auto& file : bundle.files) files.push_back(file.string());
  return json_document("bundle", {{"folder", folder}, {"files", files}});
}

std::string import_json(const std::vector<ImportedApplication>& applications,
                        const std::vector<std::string>& notes) {
  nlohmann::json all = nlohmann::json::array();
  for (const ImportedApplication& each : applications)
    all.push_back({{"application", each.application},
                   {"plan", each.plan.empty() ? nlohmann::json() : nlohmann::json(each.plan)},
                   {"no_plan_because", each.no_plan_because},
                   {"notes", each.notes}});
  return json_document("import_jedi", {{"applications", all}, {"notes", notes}});
}

}  // namespace millrace::api
