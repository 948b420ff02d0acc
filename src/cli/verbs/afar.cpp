// millrace agent, and commands with --on
#include "cli/verbs/afar.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/process/signals.h"
#include "base/terminal.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "product/cache.h"
#include "remote/agent.h"
#include "remote/client.h"
#include "remote/command_line.h"

namespace millrace::cli {
namespace {

std::string given(const CLI::App& verb, const char* name, const char* otherwise = "") {
  const CLI::Option* option = verb.get_option_no_throw(name);
  return option == nullptr || option->count() == 0 ? otherwise : option->results().back();
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Adds the files that a verb makes without being asked.
void add_usual_files(const CLI::App& verb, const std::string& model, remote::Command& command) {
  if (verb.get_name() != "plan" || !given(verb, "--output").empty()) return;
  for (const char* ending : {".plan.json", ".deployment.json"})
    command.writes.push_back({std::filesystem::path(model).stem().string() + ending});
}

remote::OptionUse use_of(const CLI::App& verb, const std::string& name) {
  const CLI::Option* option = verb.get_option_no_throw(name);
  if (option == nullptr || option->get_lnames().empty()) return {};
  const Found found = find_record(verb.get_name(), option->get_lnames().front());
  const std::string_view rule = found.record == nullptr ? "" : found.record->rule;
  const bool is_ours = found.area != nullptr && found.area->name == "afar";
  return {option->get_type_size() != 0, has_word(rule, "reads"), has_word(rule, "writes"), is_ours};
}

struct NoOptions {};

int serve(const NoOptions&, const CLI::App&) {
  if (isatty(STDIN_FILENO) != 0)
    throw InputError("agent", "is started by --on, from another machine; type `millrace bench "
                              "MODEL --on USER@HOST` there");
  const auto cache = product::make_cache_folder();
  if (!cache) throw EngineError("there is no folder of the user's; set HOME or XDG_CACHE_HOME");
  remote::serve({.program = std::filesystem::read_symlink("/proc/self/exe"),
                 .version = MILLRACE_VERSION, .folder = *cache / "remote", .interrupt = &signals()},
                STDIN_FILENO, STDOUT_FILENO);
  return 0;
}

int run_there(const CLI::App& verb, const std::vector<std::string>& words) {
  std::string model;
  for (const CLI::Option* option : verb.get_options())
    if (option->get_positional() && option->count() > 0) model = option->results().front();
  remote::Command command = remote::command_of(
      words, [&](const std::string& name) { return use_of(verb, name); },
      {"", given(verb, "--weights"), given(verb, "--model"), given(verb, "--scenario-script")});
  add_usual_files(verb, model, command);
  for (const remote::Written& written : command.writes)
    if (!std::filesystem::is_directory(written.path)) check_writable(written.path);
  return remote::run_there(
      {.board = {given(verb, "--on"), given(verb, "--ssh", variable("MILLRACE_SSH").c_str()),
                 given(verb, "--program", "millrace")},
       .version = MILLRACE_VERSION,
       .terminals = {isatty(STDOUT_FILENO) != 0, isatty(STDERR_FILENO) != 0,
                     static_cast<std::int64_t>(terminal_width()),
                     variable("NO_COLOR").empty() ? variable("TERM") : ""},
       .context = at_terminal()},
      command);
}

}  // namespace

void do_on_board(CLI::App& app, int& exit_code, const std::vector<std::string>& words) {
  const auto is_board = [](const std::string& word) {
    return word == "--on" || word.starts_with("--on=");
  };
  if (std::ranges::none_of(words, is_board)) return;
  const auto is_verb = [&](const CLI::App* each) { return each->get_name() == words.front(); };
  for (CLI::App* verb : app.get_subcommands(is_verb))
    verb->callback([verb, words, &exit_code] { exit_code = run_there(*verb, words); });
}

void add_agent(CLI::App& app, int& exit_code) {
  add_verb<NoOptions>(app, exit_code, {"agent", [](Places&, NoOptions&) {}, serve});
}

}  // namespace millrace::cli
