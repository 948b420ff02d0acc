#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_text.h"
#include "base/yaml.h"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

/// A word that YAML cannot take for anything else.
bool is_word(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  constexpr std::array taken{"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
  std::string lower;
  for (const unsigned char c : text) lower += static_cast<char>(std::tolower(c));
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         std::all_of(text.begin(), text.end(), plain) &&
         std::find(taken.begin(), taken.end(), lower) == taken.end() && lower != "inf" &&
         lower != "nan";
}

void emit(YAML::Emitter& out, const Json& value) {
  if (value.is_object()) {
    out << YAML::BeginMap;
    for (const auto& [key, item] : value.items()) {
      out << YAML::Key << key << YAML::Value;
      emit(out, item);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    const bool blocks = std::any_of(value.begin(), value.end(),
                                    [](const Json& item) { return item.is_structured(); });
    if (!blocks) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const Json& item : value) emit(out, item);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (!is_word(text)) out << YAML::DoubleQuoted;
    out << text;
  } else {
    out << json_text(value, -1);  // numbers with all their digits
  }
}

}  // namespace

void write_yaml(const std::filesystem::path& path, const Json& value) {
  YAML::Emitter out;
  emit(out, value);
  write_file(path, std::string(out.c_str()) + "\n");
}

YamlNode yaml_of(const nlohmann::json& value) {
  YamlNode node;
  node.line = 0;
  if (value.is_structured()) {
    node.kind = value.is_object() ? YamlNode::Kind::map : YamlNode::Kind::list;
    for (const auto& [key, item] : value.items()) {
      if (item.is_null()) continue;
      node.items.push_back(yaml_of(item));
      if (value.is_object()) node.items.back().key = key;
    }
  } else if (!value.is_null()) {
    node.kind = YamlNode::Kind::scalar;
    node.quoted = value.is_string();
    node.text = value.is_string() ? value.get<std::string>() : json_text(value, -1);
  }
  return node;
}

}  // namespace millrace
