#include "base/text/settings.h"

#include <algorithm>

namespace millrace {
namespace {

constexpr std::string_view open = "⟨", close = "⟩";

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::string with_settings(std::string_view text,
                          const std::function<std::string(std::string_view)>& word) {
  std::string result;
  for (std::size_t at; (at = text.find(open)) != text.npos;) {
    const std::size_t begin = at + open.size(), end = text.find(close, begin);
    const std::string_view name =
        end == text.npos ? std::string_view() : text.substr(begin, end - begin);
    result += text.substr(0, at);
    result += is_name(name) ? word(name) : std::string(open);
    text.remove_prefix(is_name(name) ? end + close.size() : begin);
  }
  return result += text;
}

}  // namespace millrace
