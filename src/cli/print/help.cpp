#include "cli/print/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/terminal.h"
#include "cli/print/words.h"

namespace millrace::cli {
namespace {

std::string joined_names(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What is after an option's text, in brackets.
std::string notes_of(const CLI::Option& option) {
  std::vector<std::string> notes;
  const OptionWords words = words_of(option);
  if (!words.limits.empty()) notes.push_back(words.limits);
  if (!words.kind.empty() && !option.get_default_str().empty())
    notes.push_back("default " + option.get_default_str());
  if (!option.get_needs().empty()) notes.push_back("needs " + joined_names(option.get_needs()));
  if (!option.get_excludes().empty())
    notes.push_back("not with " + joined_names(option.get_excludes()));
  return notes.empty() ? "" : fmt::format(" ({})", fmt::join(notes, "; "));
}

std::string name_of(const CLI::Option& option, bool is_positional) {
  std::string name = option.get_name(is_positional, true);
  const std::size_t flag_value = name.find('{');  // "--no-cache{false}"
  name = name.substr(0, flag_value);
  const std::string kind = words_of(option).kind;
  if (!is_positional && !kind.empty()) name += " " + kind;
  return name;
}

}  // namespace

std::string HelpFormatter::row(const std::string& name, const std::string& text) const {
  const std::size_t indent = get_column_width();
  std::string line = "  " + name;
  if (line.size() + 2 > indent) line += '\n' + std::string(indent, ' ');
  else line.append(indent - line.size(), ' ');
  return line + wrapped(text, width_, indent) + '\n';
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string text = Formatter::make_help(app, std::move(name), mode);
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return row(name_of(*option, is_positional), option->get_description() + notes_of(*option));
}

std::string HelpFormatter::make_subcommand(const CLI::App* verb) const {
  return row(verb->get_name(), verb->get_description());
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), width_, 0) + "\n";
}

}  // namespace millrace::cli
