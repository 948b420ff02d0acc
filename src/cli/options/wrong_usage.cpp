#include "cli/options/wrong_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "cli/print/words.h"

namespace millrace::cli {
namespace {

/// Words of other tools, and what does the same here.
constexpr std::pair<std::string_view, std::string_view> other_words[] = {
    {"--threads", "--processors core0,core1"},
    {"--cores", "--processors core0,core1"},
    {"--device", "--processors gpu0"},
    {"--half", "--precision f32,f16 of plan"},
    {"--fp16", "--precision f32,f16 of plan"},
    {"--bf16", "--precision f32,bf16 of plan"},
    {"--int8", "--precision f32,int8 of plan"},
    {"--batch", "--max-latency 100ms of plan, which allows batches"},
};

std::string near(const std::string& word, const std::vector<std::string>& known) {
  for (const auto& [other, ours] : other_words)
    if (word == other) return fmt::format("; here it is {}", ours);
  return did_you_mean(word, std::vector<std::string_view>(known.begin(), known.end()));
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs_of(app)) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const OptionWords& option : options_of(verb))
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::string with_help(const std::string& text, const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::string command =
      chosen.empty() ? "millrace" : fmt::format("millrace {}", chosen.front()->get_name());
  return fmt::format("{}{} `{} --help` lists what there is", text,
                     text.ends_with('?') ? "" : ";", command);
}

/// Words that nobody takes: options that there are not, or more values than the verb has.
std::string unknown_words(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining(true);
  if (left.empty()) return "a word was not understood";
  for (const std::string& word : left) {
    if (!word.starts_with('-')) continue;
    const std::string option = word.substr(0, word.find('='));
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const CLI::App& asked = chosen.empty() ? app : *chosen.front();
    return fmt::format("there is no option '{}'{}", option,
                       near(option, option_names(asked)));
  }
  return fmt::format("'{}' is one word too many", left.front());
}

}  // namespace

bool is_unknown_verb(const CLI::App& app, const std::string& first) {
  const std::vector<std::string> verbs = verb_names(app);
  return !first.empty() && !first.starts_with('-') &&
         std::find(verbs.begin(), verbs.end(), first) == verbs.end();
}

std::string no_verb(const CLI::App& app, const std::string& first) {
  if (first == "import-jedi")
    return "'import-jedi' is a script of Millrace's source now: bench/papers/import-jedi";
  const std::string nearest = near(first, verb_names(app));
  return with_help(fmt::format("there is no command '{}'{}", first, nearest), app);
}

std::string text_of(const CLI::ParseError& error, const CLI::App& app) {
  const bool is_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  return with_help(is_unknown ? unknown_words(app) : error.what(), app);
}

}  // namespace millrace::cli
