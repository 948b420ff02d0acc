#include "remote/places.h"

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::remote {
namespace {

/// What may stand before a path in YAML and JSON, and what ends it.
constexpr std::string_view before_path = "\"' \t\n=:[,{", after_path = "\"'\n,]}#";

/// Whether the path is one of `paths` or lies in one of them.
bool is_path(std::string_view path, const std::set<std::string>& paths) {
  while (!path.empty() && (path.back() == ' ' || path.back() == '/')) path.remove_suffix(1);
  for (std::size_t end = path.size(); end != 0 && end != path.npos;
       end = path.substr(0, end).rfind('/'))
    if (paths.contains(std::string(path.substr(0, end)))) return true;
  return false;
}

}  // namespace

std::string with_root(std::string_view text, const std::string& root,
                      const std::set<std::string>& paths) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool may_begin =
        text[at] == '/' && (at == 0 || before_path.find(text[at - 1]) != before_path.npos);
    const std::size_t end = may_begin ? std::min(text.find_first_of(after_path, at), text.size())
                                      : at;
    if (may_begin && is_path(text.substr(at, end - at), paths)) result += root;
    result += text[at];
  }
  return result;
}

std::string RootRemover::pass(std::string_view bytes) {
  if (root_.empty()) return std::string(bytes);
  std::string text = std::exchange(kept_, {}).append(bytes);
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = text.find(root_, done)) != text.npos; done = at + root_.size())
    result.append(text, done, at - done);
  std::size_t kept = std::min(root_.size() - 1, text.size() - done);
  while (kept > 0 && !std::string_view(text).ends_with(root_.substr(0, kept))) --kept;
  result.append(text, done, text.size() - kept - done);
  kept_ = text.substr(text.size() - kept);
  return result;
}

std::string RootRemover::end() { return std::exchange(kept_, {}); }

bool is_text(std::string_view name) {
  constexpr std::array<std::string_view, 12> endings{".json", ".jsonl", ".yaml", ".yml",
                                                     ".svg",  ".html",  ".csv",  ".txt",
                                                     ".h",    ".log",   ".dot",  ".xml"};
  return std::ranges::any_of(endings, [&](std::string_view each) { return name.ends_with(each); });
}

}  // namespace millrace::remote
