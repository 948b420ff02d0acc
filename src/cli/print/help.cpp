#include "cli/print/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/terminal.h"
#include "cli/print/words.h"

namespace millrace::cli {
namespace {

std::string joined_names(const std::set<CLI::Option*>& options, const std::string& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(words_of(*option, verb).names.back());
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What is after an option's text, in brackets.
std::string notes_of(const CLI::Option& option, const std::string& verb) {
  std::vector<std::string> notes;
  const OptionWords words = words_of(option, verb);
  if (!words.limits.empty()) notes.push_back(words.limits);
  if (!words.kind.empty() && !option.get_default_str().empty())
    notes.push_back("default " + option.get_default_str());
  if (!option.get_needs().empty())
    notes.push_back("needs " + joined_names(option.get_needs(), verb));
  if (!option.get_excludes().empty())
    notes.push_back("not with " + joined_names(option.get_excludes(), verb));
  return notes.empty() ? "" : fmt::format(" ({})", fmt::join(notes, "; "));
}

/// "-o,--output TEXT", "--set search.epochs=INT"
std::string name_of(const OptionWords& words) {
  const std::string name = fmt::format("{}", fmt::join(words.names, ","));
  return words.kind.empty() ? name : name + (words.is_key ? '=' : ' ') + words.kind;
}

}  // namespace

std::string HelpFormatter::row(const std::string& name, const std::string& text) const {
  const std::size_t indent = get_column_width();
  std::string line = "  " + name;
  if (line.size() + 2 > indent) line += '\n' + std::string(indent, ' ');
  else line.append(indent - line.size(), ' ');
  return line + wrapped(text, width_, indent) + '\n';
}

std::string HelpFormatter::text_of(const CLI::Option& option, const CLI::App& verb) const {
  const std::string& text = option.get_description();
  if (!shows_all_) return text.substr(0, text.find(". "));
  return text + notes_of(option, verb.get_name());
}

std::string HelpFormatter::options(const CLI::App& verb) const {
  std::string text;
  for (const std::string& group : verb.get_groups()) {
    std::string rows;
    for (const CLI::Option* option : verb.get_options()) {
      if (option->get_group() != group || !option->nonpositional()) continue;
      const OptionWords words = words_of(*option, verb.get_name());
      if (!words.is_key || shows_all_) rows += row(name_of(words), text_of(*option, verb));
    }
    if (!rows.empty()) text += (shows_all_ ? "\n" : "") + group + ":\n" + rows;
  }
  return text;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  const std::string begin = make_description(app) + make_usage(app, std::move(name));
  return begin + make_positionals(app) + options(*app) + make_subcommands(app, mode) + '\n' +
         make_footer(app);
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool) const {
  return row(option->get_name(true, true), option->get_description());
}

std::string HelpFormatter::make_subcommand(const CLI::App* verb) const {
  return row(verb->get_name(), verb->get_description());
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), width_, 0) + "\n";
}

}  // namespace millrace::cli
