#include "cli/print/completion.h"

#include <fmt/format.h>

#include <string_view>

#include "base/text/escape.h"
#include "cli/print/words.h"

namespace millrace::cli {
namespace {

/// The text with each of `characters` behind a backslash.
std::string escaped(std::string_view text, std::string_view characters) {
  std::string result;
  for (const char one : text) {
    if (characters.find(one) != std::string_view::npos) result += '\\';
    result += one;
  }
  return result;
}

std::string names_of(const std::vector<const CLI::App*>& verbs) {
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs) names.push_back(verb->get_name());
  return fmt::format("{}", fmt::join(names, " "));
}

/// A verb's options, and what comes after those that take one of a few words.
std::string bash_verb(const CLI::App& verb) {
  std::vector<std::string> names;
  std::string values;
  for (const OptionWords& option : options_of(verb)) {
    if (option.is_key) continue;  // a value of --set
    names.insert(names.end(), option.names.begin(), option.names.end());
    if (option.values.empty()) continue;
    values += fmt::format("      [[ $before != {} ]] || words=\"{}\"\n", option.names.back(),
                          fmt::join(option.values, " "));
  }
  return fmt::format("    {})\n      [[ $word != -* ]] || words=\"{}\"\n{}      ;;\n",
                     verb.get_name(), fmt::join(names, " "), values);
}

std::string zsh_option(const OptionWords& option, const std::string& name) {
  const std::string text = escaped(option.text, "[]:\\");
  if (option.kind.empty()) return shell_string(fmt::format("{}[{}]", name, text));
  const std::string value =
      option.values.empty() ? "_files" : fmt::format("({})", fmt::join(option.values, " "));
  return shell_string(fmt::format("*{}[{}]:{}:{}", name, text, option.kind, value));
}

std::string fish_option(const CLI::App& verb, const OptionWords& option) {
  std::string line = fmt::format("complete -c millrace -n '__fish_seen_subcommand_from {}'",
                                 verb.get_name());
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.kind.empty())
    line += option.values.empty() ? " -r"
                                  : fmt::format(" -x -a '{}'", fmt::join(option.values, " "));
  return line + fmt::format(" -d {}\n", fish_string(option.text));
}

std::string man_option(const OptionWords& option) {
  const std::string names = troff_text(fmt::format("{}", fmt::join(option.names, ", ")));
  const std::string kind = option.kind.empty() ? "" : " \\fI" + option.kind + "\\fR";
  std::string text = fmt::format(".TP\n\\fB{}\\fR{}\n{}", names, kind, troff_text(option.text));
  if (!option.limits.empty()) text += fmt::format(" ({})", troff_text(option.limits));
  return text + "\n";
}

std::string man_verb(const CLI::App& verb) {
  std::string text =
      fmt::format(".SH {}\n{}.\n", verb.get_name(), troff_text(verb.get_description()));
  for (const CLI::Option* option : verb.get_options())
    if (option->get_positional())
      text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", option->get_name(true),
                          troff_text(option->get_description()));
  for (const OptionWords& option : options_of(verb)) text += man_option(option);
  return text + ".PP\n.nf\n" + troff_text(verb.get_footer()) + "\n.fi\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* verb : verbs_of(app)) cases += bash_verb(*verb);
  return fmt::format(R"(# bash completion for millrace: source this file, or put it into
# ~/.local/share/bash-completion/completions/millrace
_millrace() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} words=
  ((COMP_CWORD > 1)) || words="{}"
  case ${{COMP_WORDS[1]}} in
{}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -o bashdefault -o default -F _millrace millrace
)",
                     names_of(verbs_of(app)), cases);
}

std::string zsh_completion(const CLI::App& app) {
  std::string list, cases;
  for (const CLI::App* verb : verbs_of(app)) {
    const std::string text = escaped(verb->get_description(), ":\\");
    list += fmt::format("    {}\n", shell_string(verb->get_name() + ":" + text));
    cases += fmt::format("    {})\n      _arguments", verb->get_name());
    for (const OptionWords& option : options_of(*verb))
      for (const std::string& name : option.is_key ? std::vector<std::string>{} : option.names)
        cases += " \\\n        " + zsh_option(option, name);
    cases += " \\\n        '*:file:_files'\n      ;;\n";
  }
  return fmt::format(R"(#compdef millrace
# zsh completion for millrace: put this file into a folder of $fpath, under the name _millrace
_millrace() {{
  local -a verbs=(
{}  )
  if ((CURRENT == 2)); then
    _describe verb verbs
    return
  fi
  local verb=$words[2]
  shift words
  ((CURRENT--))
  case $verb in
{}  esac
}}
_millrace "$@"
)",
                     list, cases);
}

std::string fish_completion(const CLI::App& app) {
  std::string text =
      "# fish completion for millrace: put this file into ~/.config/fish/completions/\n";
  for (const CLI::App* verb : verbs_of(app)) {
    text += fmt::format("complete -c millrace -f -n __fish_use_subcommand -a {} -d {}\n",
                        verb->get_name(), fish_string(verb->get_description()));
    for (const OptionWords& option : options_of(*verb))
      if (!option.is_key) text += fish_option(*verb, option);
  }
  return text;
}

std::string man_page(const CLI::App& app, const std::string& version) {
  std::string text = fmt::format(
      ".TH MILLRACE 1 \"\" \"millrace {}\"\n.SH NAME\nmillrace \\- neural networks as pipelines "
      "on the cores of a board\n.SH SYNOPSIS\n\\fBmillrace\\fR \\fICOMMAND\\fR "
      "[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n{}\n",
      version, troff_text(app.get_description()));
  for (const CLI::App* verb : verbs_of(app)) text += man_verb(*verb);
  return text +
         ".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nThe answer is no: not equal, not schedulable, "
         "below what was asked for.\n.TP\n2\nWrong usage or wrong input.\n.TP\n3\nThe machine "
         "failed.\n";
}

}  // namespace millrace::cli
