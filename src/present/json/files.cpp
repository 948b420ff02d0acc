#include "present/json/files.h"

#include "base/json_text.h"

namespace millrace::present {

std::string bundle_json(const std::string& folder, const product::Bundle& bundle) {
  nlohmann::json files = nlohmann::json::array();
  for (const auto& file : bundle.files) files.push_back(file.string());
  return json_document("bundle", {{"folder", folder}, {"files", files}});
}

}  // namespace millrace::present
