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

bool is_in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

/// Whether a parameter or folder holds a secret: "access_token", "X-Amz-Signature", "api_key".
bool is_of_secret(std::string_view name) {
  constexpr std::array<std::string_view, 7> parts{"token",  "passw",     "passphrase", "pwd",
                                                  "secret", "signature", "credential"};
  constexpr std::array<std::string_view, 4> words{"key", "auth", "sig", "pass"};
  constexpr std::size_t longest = 64;
  if (name.size() > longest) return false;
  std::string small(name);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto is_inside = [&](std::string_view part) { return small.find(part) != small.npos; };
  if (std::ranges::any_of(parts, is_inside)) return true;
  const std::string last = small.substr(small.find_last_of("-_.") + 1);
  return small == "apikey" || std::ranges::find(words, last) != words.end();
}

/// A path in which what follows a folder such as "token" is hidden.
std::string masked_folders(std::string_view path) {
  std::string result;
  bool is_secret = false;
  while (true) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view folder = path.substr(0, end);
    result += is_secret && !folder.empty() ? hidden : folder;
    is_secret = !is_secret && is_of_secret(folder);
    if (end == path.size()) return result;
    result += '/';
    path.remove_prefix(end + 1);
  }
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
  std::string result = masked_folders(path.substr(0, parameters));
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

bool all(std::string_view text, bool (*is_allowed)(char)) {
  return !text.empty() && std::ranges::all_of(text, is_allowed);
}

/// "host/", "10.0.0.7", "host:554" or "[fe80::1]", and not merely a word.
bool begins_with_host(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  const std::string_view place = text.substr(0, end);
  if (place.starts_with('[')) return place.find(']') != place.npos;
  const std::size_t colon = std::min(place.find(':'), place.size());
  const std::string_view host = place.substr(0, colon), port = place.substr(colon);
  const bool has_port = port.size() > 1 && all(port.substr(1), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  return all(host, is_in_name) && (port.empty() || has_port) &&
         (end < text.size() || has_port || host.find('.') != host.npos || host == "localhost");
}

/// Where "name:password@host" begins in a word; npos: there is none.
std::size_t user_in(std::string_view word) {
  const std::size_t at = word.rfind('@'), colon = word.find(':');
  if (at == word.npos || colon >= at || at - colon < 2) return word.npos;
  std::size_t begin = colon;
  while (begin > 0 && is_in_name(word[begin - 1])) --begin;
  const bool is_in_path = begin > 0 && (word[begin - 1] == '/' || word[begin - 1] == '\\');
  if (begin == colon || is_in_path) return word.npos;
  for (std::size_t host = word.find('@', colon); host != word.npos; host = word.find('@', host + 1))
    if (host > colon + 1 && begins_with_host(word.substr(host + 1))) return begin;
  return word.npos;
}

/// Values of parameters such as "token" behind '?' or '&'.
std::string masked_values(std::string_view word) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = word.find_first_of("?&"); at != word.npos;
       at = word.find_first_of("?&", at + 1)) {
    const std::size_t equals = word.find_first_of("=?&", at + 1);
    if (equals == word.npos || word[equals] != '=' || equals < done ||
        !is_of_secret(word.substr(at + 1, equals - at - 1)))
      continue;
    result += word.substr(done, equals + 1 - done);
    result += hidden;
    done = std::min(word.find_first_of("&;#'\"", equals), word.size());
  }
  return result += word.substr(done);
}

/// Without a scheme only what is unmistakable counts.
std::string masked_word(std::string_view word) {
  const std::size_t user = user_in(word);
  if (user == word.npos) return masked_values(word);
  return std::string(word.substr(0, user)) + masked_rest(word.substr(user));
}

/// A word may end with what closes a quotation or a sentence.
std::size_t end_without_closing(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::string_view closing = "'\")]}>,.;:";
  while (end > begin && closing.find(text[end - 1]) != closing.npos) --end;
  return end;
}

/// A text in which no address has a scheme.
std::string masked_words(std::string_view text) {
  if (text.find_first_of("@=") == text.npos) return std::string(text);
  std::string result;
  for (std::size_t done = 0; done < text.size();) {
    std::size_t begin = done;
    while (begin < text.size() && is_blank(text[begin])) ++begin;
    std::size_t end = begin;
    while (end < text.size() && !is_blank(text[end])) ++end;
    const std::size_t last = end_without_closing(text, begin, end);
    result += text.substr(done, begin - done);
    result += masked_word(text.substr(begin, last - begin));
    result += text.substr(last, end - last);
    done = end;
  }
  return result;
}

}  // namespace

std::string masked_address(std::string_view address) {
  const auto [begin, end] = next_scheme(address, 0);
  if (end == address.npos)
    return address.starts_with('/') ? masked_word(address) : masked_rest(address);
  return std::string(address.substr(0, end)) + masked_rest(address.substr(end));
}

std::string masked(std::string_view text) {
  std::string result;
  std::size_t done = 0;
  while (true) {
    const auto [begin, rest] = next_scheme(text, done);
    if (rest == text.npos) break;
    std::size_t end = rest;
    while (end < text.size() && !is_blank(text[end])) ++end;
    const std::size_t last = end_without_closing(text, rest, end);
    result += masked_words(text.substr(done, begin - done));
    result += text.substr(begin, rest - begin);
    result += masked_rest(text.substr(rest, last - rest));
    done = last;
  }
  return result += masked_words(text.substr(done));
}

}  // namespace millrace
