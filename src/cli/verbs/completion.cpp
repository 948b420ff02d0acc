// What a shell or man(1) needs to know of the command.
#include <fmt/format.h>

#include "cli/print/completion.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {
namespace {

struct CompletionOptions {
  std::string form;
};

std::string text_in(const std::string& form, const CLI::App& app) {
  if (form == "bash") return bash_completion(app);
  if (form == "zsh") return zsh_completion(app);
  if (form == "fish") return fish_completion(app);
  return man_page(app, MILLRACE_VERSION);
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<CompletionOptions>();
  CLI::App* command = app.add_subcommand(
      "completion",
      "Write the file with which a shell completes millrace commands, or a manual page");
  command->footer(
      "Example:\n  millrace completion bash > "
      "~/.local/share/bash-completion/completions/millrace");
  command->add_option("form", options->form, "The shell; man: the manual page")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  command->callback([options, &app, &exit_code] {
    fmt::print("{}", text_in(options->form, app));
    exit_code = 0;
  });
}

}  // namespace millrace::cli
