#include "cli/print/words.h"

#include <string>
#include <string_view>

#include "base/split.h"
#include "cli/options/record.h"

namespace millrace::cli {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// "1 - 8" as "1 to 8". An upper limit that nobody reaches is none for the reader.
std::string range_text(std::string range) {
  constexpr double unreached = 1e12;
  constexpr std::string_view sign = " - ";
  const std::size_t at = range.find(sign);
  if (at == std::string::npos) return range;
  if (std::stod(range.substr(at + sign.size())) >= unreached)
    return "at least " + range.substr(0, at);
  return range.replace(at, sign.size(), " to ");
}

}  // namespace

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_name().empty(); });
}

OptionWords words_of(const CLI::Option& option, const std::string& verb) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) {
    const Found found = find_record(verb, name);
    words.is_key = found.is_key;
    if (found.is_key) words.names = {"--set " + found.key()};
    else if (found.record != nullptr || option.get_lnames().size() == 1)
      words.names.push_back("--" + name);
  }
  words.text = option.get_description();
  if (option.get_type_size() == 0) return words;
  const std::string type = option.get_type_name();  // "INT:[1 - 16]", "TEXT:{a,b}"
  words.kind = type.substr(0, type.find(':'));
  const std::size_t open = type.find_first_of("[{");
  if (open == std::string::npos) return words;
  words.limits = type.substr(open + 1, type.find_last_of("]}") - open - 1);
  if (type[open] == '{') words.values = split(words.limits, ',');
  if (type[open] == '[')
    words.limits = range_text(words.limits);
  else
    replace_all(words.limits, ",", ", ");
  return words;
}

std::vector<OptionWords> options_of(const CLI::App& verb) {
  std::vector<OptionWords> all;
  std::vector<std::string> keys;
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->nonpositional()) continue;
    all.push_back(words_of(*option, verb.get_name()));
    if (all.back().is_key) keys.push_back(all.back().names.front().substr(6) + "=");
  }
  for (OptionWords& option : all)
    if (option.names.front() == "--set") option.values = keys;
  return all;
}

}  // namespace millrace::cli
