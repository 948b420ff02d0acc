#include "cli/options/old_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/error.h"
#include "base/file.h"
#include "base/terminal.h"
#include "base/text/settings.h"
#include "cli/options/record.h"

namespace millrace::cli {
namespace {

struct OldVerb {
  const char *name, *now, *option, *value;  // option: what it is said by; null: nothing
};
constexpr OldVerb old_verbs[] = {{"deploy", "plan", nullptr, nullptr},
                                 {"admit", "plan", "--method", "admission"},
                                 {"dataflow", "analyze", nullptr, nullptr},
                                 {"realtime", "analyze", nullptr, nullptr}};

void replace_old_verb(Words& words) {
  for (const OldVerb& old : old_verbs) {
    if (words.words.empty() || words.words.front() != old.name) continue;
    const std::string option =
        old.option == nullptr ? "" : fmt::format(" {} {}", old.option, old.value);
    words.note = fmt::format("`millrace {}` is now `millrace {}{}`", old.name, old.now, option);
    words.words.front() = old.now;
    if (old.option == nullptr) return;
    words.words.insert(words.words.begin() + 1, {old.option, old.value});
    return;
  }
}

std::vector<std::string> areas_of(std::string_view verb) {
  std::vector<std::string> names;
  for (const Area& area : table().areas)
    if (std::ranges::any_of(area.records,
                            [&](const Record& record) { return has_word(record.keys, verb); }))
      names.emplace_back(area.name);
  return names;
}

/// The keys of an area, or of all areas.
std::vector<std::string> keys_of(const std::string& verb, std::string_view of) {
  std::vector<std::string> keys;
  for (const Area& area : table().areas)
    for (const Record& record : area.records)
      if ((of.empty() || area.name == of) && has_word(record.keys, verb))
        keys.push_back(fmt::format("{}.{}", area.name, record.name));
  return keys;
}

std::string list_of(const std::string& verb, std::string_view of) {
  std::string text;
  constexpr std::size_t column = 30;
  for (const Area& area : table().areas)
    for (const Record& record : area.records) {
      if (area.name != of || !has_word(record.keys, verb)) continue;
      text += fmt::format("  {:<{}}{}\n", fmt::format("{}.{}", area.name, record.name), column - 2,
                          wrapped(record.help, terminal_width(), column));
    }
  return text;
}

[[noreturn]] void refuse_key(const std::string& verb, const std::string& key) {
  const std::vector<std::string> keys = keys_of(verb, "");
  const std::string hint =
      did_you_mean(key, std::vector<std::string_view>(keys.begin(), keys.end()));
  throw InputError("--set " + key,
                   fmt::format("is no key of {}{} `--set AREA.` lists those of {}", verb,
                               hint.empty() ? ";" : hint, fmt::join(areas_of(verb), ", ")));
}

/// "search.epochs=50" as "--epochs=50".
void set(Words& words, const std::string& verb, const std::string& text,
         std::vector<std::string>& into) {
  const std::string key = text.substr(0, text.find('='));
  const std::size_t dot = key.find('.');
  if (dot != key.npos && dot + 1 == key.size() && key == text) {
    words.listed += list_of(verb, key.substr(0, dot));
    if (!words.listed.empty()) return;
  }
  if (dot == key.npos) refuse_key(verb, key);
  const std::string name = key.substr(dot + 1);
  const Found found = find_record(verb, name);
  if (found.record == nullptr || found.key() != key) refuse_key(verb, key);
  words.typed["--" + name] = "--set " + key;
  into.push_back("--" + name + text.substr(key.size()));
}

}  // namespace

std::string option_of(std::string_view setting) {
  std::string option = "--" + std::string(setting);
  std::ranges::replace(option, '_', '-');
  return option;
}

std::string in_options(std::string_view text) { return with_settings(text, option_of); }

std::string Words::in_typed_words(const std::string& message) const {
  std::string text = in_options(message);
  for (const auto& [name, key] : typed)
    for (std::size_t at = 0; (at = text.find(name, at)) != text.npos; at += key.size()) {
      const std::size_t end = at + name.size();
      const bool is_whole = end == text.size() || (text[end] != '-' && !std::isalnum(text[end]));
      if (is_whole) text.replace(at, name.size(), key);
    }
  return text;
}

Words understood(std::vector<std::string> words) {
  Words result{.words = std::move(words)};
  if (result.words.size() > 1 && result.words.front() == "help" && result.words[1] != "--all")
    result.words = {result.words[1], result.words.back() == "--all" ? "--help-all" : "--help"};
  replace_old_verb(result);
  const std::string verb = result.words.empty() ? "" : result.words.front();
  std::vector<std::string> into;
  for (std::size_t i = 0; i < result.words.size(); ++i) {
    const std::string& word = result.words[i];
    if (word == "--help-all") {
      result.shows_all = true;
      into.push_back("--help");
    } else if (word.starts_with("--set=")) {
      set(result, verb, word.substr(6), into);
    } else if (word == "--set" && i + 1 < result.words.size()) {
      set(result, verb, result.words[++i], into);
    } else {
      into.push_back(word);
    }
  }
  result.words = std::move(into);
  return result;
}

}  // namespace millrace::cli
