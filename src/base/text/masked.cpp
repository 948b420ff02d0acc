#include "base/text/masked.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace millrace {
namespace {

constexpr std::string_view hidden = "***";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_in_scheme(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
}
bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' '; }

/// Whose values are no secrets, if they are short words.
bool is_harmless(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 14> names{
      "channel", "subtype",    "stream", "camera", "cam",       "profile", "width",
      "height",  "resolution", "fps",    "codec",  "transport", "mode",    "timeout"};
  constexpr std::size_t longest = 16;
  return value.size() <= longest && std::find(names.begin(), names.end(), name) != names.end() &&
         std::all_of(value.begin(), value.end(), [](char c) { return is_in_scheme(c); });
}

/// "name=value", or a value alone.
std::string masked_parameter(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (text.empty()) return {};
  if (equals == text.npos) return std::string(hidden);
  const std::string_view name = text.substr(0, equals);
  if (is_harmless(name, text.substr(equals + 1))) return std::string(text);
  return std::string(name) + "=" + std::string(hidden);
}

/// Parameters with what separates them.
std::string masked_parameters(std::string_view text) {
  std::string result;
  while (true) {
    const std::size_t end = text.find_first_of("&;");
    result += masked_parameter(text.substr(0, end));
    if (end == text.npos) return result;
    result += text[end];
    text.remove_prefix(end + 1);
  }
}

/// What follows the host: some cameras have their parameters in the path.
std::string masked_path(std::string_view text) {
  const std::size_t fragment = std::min(text.find('#'), text.size());
  const std::size_t query = std::min(text.find('?'), fragment);
  const std::string_view path = text.substr(0, query);
  const std::size_t equals = path.find('=');
  const std::size_t before = equals == path.npos ? path.npos : path.find_last_of("/&;", equals);
  const std::size_t parameters = before == path.npos ? path.size() : before + 1;
  std::string result(path.substr(0, parameters));
  result += masked_parameters(path.substr(parameters));
  if (query < fragment) {
    result += '?';
    result += masked_parameters(text.substr(query + 1, fragment - query - 1));
  }
  if (fragment + 1 < text.size()) {
    result += '#';
    result += hidden;
  }
  return result;
}

/// Behind the scheme. A password may hold any sign, so all before the last '@' is one; but what has
/// no ':' before its path has no password there.
std::string masked_rest(std::string_view rest) {
  const std::size_t path = std::min(rest.find_first_of("/?#"), rest.size());
  const bool has_colon = rest.substr(0, path).find(':') != rest.npos;
  std::size_t at = rest.substr(0, path).rfind('@');
  if (has_colon && rest.rfind('@') != rest.npos) at = rest.rfind('@');
  std::string result;
  if (at != rest.npos) {
    result = std::string(hidden) + "@";
    rest.remove_prefix(at + 1);
  }
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  return result + std::string(rest.substr(0, end)) + masked_path(rest.substr(end));
}

/// Behind "scheme:/"; npos: there is none from `from` on.
std::pair<std::size_t, std::size_t> next_scheme(std::string_view text, std::size_t from) {
  constexpr std::size_t shortest = 3;
  for (std::size_t at = text.find(":/", from); at != text.npos; at = text.find(":/", at + 1)) {
    std::size_t begin = at;
    while (begin > from && is_in_scheme(text[begin - 1])) --begin;
    while (begin < at && !is_letter(text[begin])) ++begin;
    if (at - begin < shortest) continue;
    const std::size_t end = std::min(text.find_first_not_of('/', at + 1), text.size());
    return {begin, end};
  }
  return {text.npos, text.npos};
}

}  // namespace

std::string masked_address(std::string_view address) {
  const auto [begin, end] = next_scheme(address, 0);
  if (end == address.npos) return masked_rest(address);
  return std::string(address.substr(0, end)) + masked_rest(address.substr(end));
}

std::string masked(std::string_view text) {
  constexpr std::string_view closing = "'\")]}>,.;:";
  std::string result;
  std::size_t done = 0;
  while (true) {
    const auto [begin, rest] = next_scheme(text, done);
    if (rest == text.npos) break;
    std::size_t end = rest;
    while (end < text.size() && !is_blank(text[end])) ++end;
    std::size_t last = end;
    while (last > rest && closing.find(text[last - 1]) != closing.npos) --last;
    result += text.substr(done, rest - done);
    result += masked_rest(text.substr(rest, last - rest));
    done = last;
  }
  return result += text.substr(done);
}

}  // namespace millrace
