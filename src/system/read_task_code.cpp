#include "system/read_task_code.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace millrace::system {
namespace {

constexpr std::array<std::string_view, 4> code_keys{"plugin", "source", "function", "parameters"};

bool is_identifier(const std::string& text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

TaskCode read_code(const YamlView& view) {
  view.only(code_keys);
  TaskCode code;
  if (!view.has("plugin") && !view.has("source"))
    view.fail("has neither 'plugin' nor 'source'; give one of the two, or both");
  if (view.has("plugin")) code.plugin = view.at("plugin").path();
  if (view.has("source")) code.source = view.at("source").path();
  code.function = view.at("function").text();
  if (!is_identifier(code.function))
    view.at("function").fail("expected the name of a C++ function: letters, digits and '_'");
  if (view.has("parameters"))
    for (const std::string& key : view.at("parameters").keys())
      code.parameters[key] = view.at("parameters").at(key).scalar();
  return code;
}

}  // namespace millrace::system
