#include "product/planning/tuned_application.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "application/application_file.h"
#include "base/error.h"
#include "base/yaml.h"
#include "product/loaded.h"

namespace millrace::product {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

/// A number, true or false, or text, as YAML takes it.
OrderedJson value_of_scalar(const YamlNode& node) {
  if (node.quoted) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  const char *const begin = node.text.data(), *const end = begin + node.text.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(begin, end, whole);
      read.ec == std::errc{} && read.ptr == end)
    return whole;
  double number = 0;
  if (const auto read = std::from_chars(begin, end, number);
      read.ec == std::errc{} && read.ptr == end)
    return number;
  return node.text;
}

OrderedJson value_of_yaml(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::none: return nullptr;
    case YamlNode::Kind::scalar: return value_of_scalar(node);
    case YamlNode::Kind::list: {
      OrderedJson list = OrderedJson::array();
      for (const YamlNode& item : node.items) list.push_back(value_of_yaml(item));
      return list;
    }
    case YamlNode::Kind::map: break;
  }
  OrderedJson map = OrderedJson::object();
  for (const YamlNode& item : node.items) map[item.key] = value_of_yaml(item);
  return map;
}

fs::path whole_folder_of(const fs::path& file) {
  return fs::absolute(file).lexically_normal().parent_path();
}

}  // namespace

void write_tuned_application(const PlanRequest& request, const PlanResult& result,
                             const TunedFiles& files) {
  const fs::path file = request.setup.source.file;
  OrderedJson application = value_of_yaml(read_yaml(file));
  const formats::ModelSource& model = result.file.origin.model;
  if (model.size) application["network"]["size"] = *model.size;
  if (!model.shapes.empty()) {
    OrderedJson shapes = OrderedJson::array();
    for (const auto& [name, shape] : model.shapes)
      shapes.push_back(name + "=" + network::to_text(shape));
    application["network"]["shapes"] = shapes;
  }
  const explore::Choice& choice = result.choice();
  if (choice.pre_threads > 0) application["preprocess"]["threads"] = choice.pre_threads;
  if (choice.post_threads > 0) application["postprocess"]["threads"] = choice.post_threads;
  const fs::path plan = fs::absolute(files.plan).lexically_normal();
  application["mapping"] = {{"plan", plan.lexically_proximate(whole_folder_of(file)).string()}};
  write_yaml(files.application, application);
  request.setup.context.note("written: " + files.application);
}

void check_tuned_application(const PlanRequest& request, const TunedFiles& files) {
  const std::string place = "⟨write_application⟩ " + files.application;
  const fs::path file = request.setup.source.file;
  if (!application::is_application_file(file))
    throw InputError(place, "is only for applications (.yaml); leave it out");
  if (!application::is_application_file(files.application))
    throw InputError(place, "expected a name that ends in .yaml");
  if (!is_plan_file(files.plan))
    throw InputError(place,
                     "would name the plan, which is written to no file; give ⟨output⟩ a name that "
                     "ends in .json");
  if (whole_folder_of(files.application) != whole_folder_of(file))
    throw InputError(place, fmt::format("would lie in another folder than '{}', to which its paths "
                                        "are relative; name a file in that folder",
                                        file.string()));
}

}  // namespace millrace::product
