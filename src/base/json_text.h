#pragma once
// JSON for programs that read what Millrace says.
#include <nlohmann/json.hpp>
#include <string>

namespace millrace {

/// With six significant digits, and with three after the point if these are more.
double rounded(double value);
/// The number with the fewest decimal digits that is the same float32.
double shortest(float value);

/// Every number with a point in the document, inside it too, is rounded().
template <class Json>
void round_numbers(Json& document) {
  if (document.is_number_float()) document = rounded(document.template get<double>());
  if (document.is_structured())
    for (Json& item : document) round_numbers(item);
}

/// The document's text, indented by so many blanks, or in one line if it is negative. Each number
/// has the fewest digits that say which it is; the library's own text sometimes has 17. Names from
/// files and of files may hold any bytes: those that are not UTF-8 become U+FFFD, or with
/// `error_handler_t::strict` are a type_error; what moves the cursor of a terminal or turns the
/// direction of writing stands there as "\\u009b". Json: nlohmann::json or nlohmann::ordered_json.
template <class Json = nlohmann::json>
std::string json_text(
    const Json& document, int indent,
    nlohmann::json::error_handler_t not_utf8 = nlohmann::json::error_handler_t::replace);

/// What a command prints: the fields, rounded and with masked() texts, "format" 1 and the kind,
/// which is the name of its schema. Ends with a new line; an indent below 0: in one line.
std::string json_document(const char* kind, nlohmann::json fields, int indent = 1);

}  // namespace millrace
