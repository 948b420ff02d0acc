#include "support/schema.h"

#include <algorithm>
#include <stdexcept>

namespace millrace::test {
namespace {

using Json = nlohmann::json;

class Checker {
 public:
  explicit Checker(const Json& root) : root_(root) {}

  void check(const Json& value, const Json& schema, const std::string& place) {
    for (const auto& [word, rule] : schema.items()) check_word(value, schema, word, place);
    if (value.is_object()) check_members(value, schema, place);
    if (value.is_array() && schema.contains("items"))
      for (std::size_t i = 0; i < value.size(); ++i)
        check(value[i], schema["items"], place + "[" + std::to_string(i) + "]");
  }

  std::vector<std::string> found;

 private:
  void expect(bool holds, const std::string& place, const std::string& rule) {
    if (!holds) found.push_back(place + ": " + rule);
  }

  static bool is_of_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "number") return value.is_number();
    if (type == "integer") return value.is_number_integer();
    throw std::logic_error("unknown type " + type);
  }

  void check_word(const Json& value, const Json& schema, const std::string& word,
                  const std::string& place) {
    const Json& rule = schema[word];
    const std::string text = word + " " + rule.dump();
    if (word == "$ref")
      return check(value, root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), place);
    if (word == "type") return expect(is_of_type(value, rule), place, text);
    if (word == "const") return expect(value == rule, place, text);
    if (word == "enum")
      return expect(std::find(rule.begin(), rule.end(), value) != rule.end(), place, text);
    if (word == "oneOf") return expect(matches(value, rule) == 1, place, text);
    if (word == "required") return check_required(value, rule, place);
    if (value.is_number()) check_number(value.get<double>(), word, rule, place);
    if (word == "minItems") expect(!value.is_array() || value.size() >= rule, place, text);
    if (word == "minProperties") expect(!value.is_object() || value.size() >= rule, place, text);
  }

  void check_required(const Json& value, const Json& keys, const std::string& place) {
    for (const Json& key : keys)
      expect(value.contains(key.get<std::string>()), place, "required " + key.dump());
  }

  void check_number(double value, const std::string& word, const Json& rule,
                    const std::string& place) {
    const std::string text = word + " " + rule.dump();
    if (word == "minimum") expect(value >= rule.get<double>(), place, text);
    if (word == "maximum") expect(value <= rule.get<double>(), place, text);
    if (word == "exclusiveMinimum") expect(value > rule.get<double>(), place, text);
  }

  void check_members(const Json& value, const Json& schema, const std::string& place) {
    const Json& rest = schema.value("additionalProperties", Json(true));
    for (const auto& [key, item] : value.items()) {
      const bool known = schema.contains("properties") && schema["properties"].contains(key);
      if (known) check(item, schema["properties"][key], place + "." + key);
      if (!known && rest.is_object()) check(item, rest, place + "." + key);
      if (!known && rest == false) expect(false, place, "unknown " + key);
    }
  }

  std::size_t matches(const Json& value, const Json& schemas) const {
    return static_cast<std::size_t>(
        std::count_if(schemas.begin(), schemas.end(), [&](const Json& schema) {
          Checker other(root_);
          other.check(value, schema, "");
          return other.found.empty();
        }));
  }

  const Json& root_;
};

}  // namespace

std::vector<std::string> violations(const Json& value, const Json& schema) {
  Checker checker(schema);
  checker.check(value, schema, "");
  return checker.found;
}

Json to_json(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::none:
      return nullptr;
    case YamlNode::Kind::scalar:
      break;
    case YamlNode::Kind::list: {
      Json list = Json::array();
      for (const YamlNode& item : node.items) list.push_back(to_json(item));
      return list;
    }
    case YamlNode::Kind::map: {
      Json map = Json::object();
      for (const YamlNode& item : node.items) map[item.key] = to_json(item);
      return map;
    }
  }
  const Json plain = node.quoted ? Json() : Json::parse(node.text, nullptr, false);
  return plain.is_number() || plain.is_boolean() ? plain : Json(node.text);
}

}  // namespace millrace::test
