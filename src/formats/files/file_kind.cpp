#include "formats/files/file_kind.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/yaml.h"

namespace millrace::formats {
namespace {

std::string_view kind_of_json(const std::string& file) {
  const nlohmann::json document = read_json(file);
  if (!document.is_object()) return "plans";
  if (document.value("kind", nlohmann::json()) == "deployment") return "deployments";
  if (document.contains("workloads")) return "programs of tiles";
  for (const char* key : {"tasks", "flows", "scheduler"})
    if (document.contains(key)) return "task systems";
  return "plans";
}

/// Applications and systems are refused as the verb refuses them.
std::string_view kind_of_yaml(const std::string& file) {
  const YamlNode root = read_yaml(file);
  const YamlView view(root, file);
  for (const char* key : {"network", "model", "groups"})
    if (view.is_map() && view.has(key)) return "plans";
  return "task systems";
}

/// '<' if that begins the text; a file that is no regular one can be read only once.
char first_letter(const std::string& file) {
  std::error_code ignored;
  char letter = ' ';
  if (std::filesystem::is_regular_file(file, ignored)) std::ifstream(file) >> letter;
  return letter;
}

}  // namespace

std::string_view kind_of_file(const std::string& file) {
  const std::string ending = std::filesystem::path(file).extension().string();
  if (ending == ".json") return kind_of_json(file);
  if (ending == ".xml" || first_letter(file) == '<') return "graphs";
  std::error_code ignored;
  if (ending != ".yaml" && ending != ".yml") return "plans";
  return std::filesystem::is_regular_file(file, ignored) ? kind_of_yaml(file) : "task systems";
}

}  // namespace millrace::formats
