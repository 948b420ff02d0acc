#pragma once
// JSON for programs that read what Millrace says.
#include <nlohmann/json.hpp>
#include <string>

namespace millrace {

/// The document's text, indented by so many blanks, or in one line if it is negative. Names from
/// files and of files may hold any bytes: those that are not UTF-8 become U+FFFD.
template <class Json = nlohmann::json>
std::string json_text(const Json& document, int indent) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace millrace
