#include "base/text/escape.h"

#include <algorithm>
#include <cstdint>

#include "base/printable.h"

namespace millrace {
namespace {

bool is_one_of(char c, std::string_view characters) {
  return characters.find(c) != std::string_view::npos;
}

/// Each of `characters` behind a backslash.
std::string with_backslashes(std::string_view text, std::string_view characters) {
  std::string result;
  for (const char c : text) {
    if (is_one_of(c, characters)) result += '\\';
    result += c;
  }
  return result;
}

/// Between the same quotes; what ends them is written as `instead`.
std::string between_quotes(std::string_view text, std::string_view instead) {
  std::string result = "'";
  for (const char c : text)
    if (c == '\'')
      result += instead;
    else
      result += c;
  return result + "'";
}

/// As XML 1.0 has it, section 2.2.
bool may_be_in_xml(std::uint32_t c) {
  return (c >= 0x20 && c != 0xfffe && c != 0xffff) || c == '\t' || c == '\n' || c == '\r';
}

/// Each byte as printable() writes what it does not show.
std::string in_bytes(std::string_view text) {
  constexpr const char* digits = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    result += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
  }
  return result;
}

std::string xml_reference(std::uint32_t c) {
  if (c == '&') return "&amp;";
  if (c == '<') return "&lt;";
  if (c == '>') return "&gt;";
  if (c == '"') return "&quot;";
  return "&#" + std::to_string(c) + ";";
}

}  // namespace

std::string cpp_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const unsigned byte = static_cast<unsigned char>(c);
    const auto digit = [byte](unsigned place) {
      return static_cast<char>('0' + ((byte >> (3 * place)) & 7));
    };
    if (byte < 0x20 || byte > 0x7e)
      result += {'\\', digit(2), digit(1), digit(0)};  // no digit that follows joins it
    else if (is_one_of(c, "\"\\?"))  // "??" begins a trigraph
      result += {'\\', c};
    else
      result += c;
  }
  return result + '"';
}

std::string cpp_comment(std::string_view text) {
  std::string result;
  for (const char given : printable(text)) {
    const char c = given == '\\' ? '/' : given;
    const char last = result.empty() ? ' ' : result.back();
    // A trigraph may be a backslash, which joins lines.
    if ((last == '?' && c == '?') || (last == '*' && c == '/') || (last == '/' && c == '*'))
      result += ' ';
    result += c;
  }
  return result;
}

std::string cmake_item(std::string_view text) {
  constexpr std::string_view dollar = "\\$<1:\\$>";  // else "$<" begins a generator expression
  std::string result = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '\r' || c == '\t')
      result += {'\\', c == '\n' ? 'n' : c == '\r' ? 'r' : 't'};
    else if (c == '$' && text.substr(i + 1).starts_with('<'))
      result += dollar;
    else if (is_one_of(c, "\"\\$;"))
      result += {'\\', c};
    else
      result += c;
  }
  return result + '"';
}

std::string dot_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : printable_lines(text)) {
    if (c == '\n')
      result += "\\n";
    else if (c == '&')
      result += "&amp;";
    else if (is_one_of(c, "\"\\"))
      result += {'\\', c};
    else
      result += c;
  }
  return result + '"';
}

std::string xml_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [length, character] = first_character(text);
    const std::string_view taken = text.substr(0, std::max<std::size_t>(1, length));
    if (length == 0 || !may_be_in_xml(character))
      result += in_bytes(taken);
    else if (is_control(character) || is_one_of(taken.front(), "&<>\"'"))
      result += xml_reference(character);
    else
      result += taken;
    text.remove_prefix(taken.size());
  }
  return result;
}

std::string json_in_html(std::string_view json) {
  constexpr std::string_view line_ends = "\xe2\x80";  // and a8 or a9: U+2028 and U+2029
  std::string result;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const bool is_line_end = json.size() > i + 2 && json.substr(i, 2) == line_ends &&
                             is_one_of(json[i + 2], "\xa8\xa9");
    if (is_line_end)
      result += json[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
    else if (is_one_of(json[i], "<>&"))
      result += json[i] == '<' ? "\\u003c" : json[i] == '>' ? "\\u003e" : "\\u0026";
    else
      result += json[i];
    if (is_line_end) i += 2;
  }
  return result;
}

std::string markdown_text(std::string_view text) {
  return with_backslashes(printable(text), "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");
}

std::string shell_string(std::string_view text) { return between_quotes(text, "'\\''"); }

std::string fish_string(std::string_view text) {
  std::string result = "'";
  result += with_backslashes(text, "'\\");
  return result + "'";
}

std::string troff_text(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && is_one_of(text[i], ".'")) result += "\\&";
    if (text[i] == '\\')
      result += "\\e";
    else if (text[i] == '-')
      result += "\\-";
    else
      result += text[i];
  }
  return result;
}

}  // namespace millrace
