#pragma once
// JSON Schema, as far as the schemas of this project use it.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/yaml.h"

namespace millrace::test {

/// What in `value` is not as the schema says, each with its place; empty if all is.
std::vector<std::string> violations(const nlohmann::json& value, const nlohmann::json& schema);

/// Numbers, true, false and nothing as YAML takes them.
nlohmann::json to_json(const YamlNode& node);

}  // namespace millrace::test
