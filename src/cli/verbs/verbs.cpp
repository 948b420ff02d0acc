#include "cli/verbs/verbs.h"

namespace millrace::cli {

void add_group(CLI::App& app, int& exit_code, const VerbGroup& group) {
  const auto has_no_title = [](const CLI::App* verb) { return verb->get_group() == "Subcommands"; };
  for (const AddVerb add : group.verbs) {
    if (add == nullptr) continue;
    add(app, exit_code);
    for (CLI::App* verb : app.get_subcommands(has_no_title)) verb->group(group.title);
  }
}

void list_few_options_without_groups(CLI::App& command) {
  constexpr std::size_t few = 8;
  if (command.get_options().size() > few) return;
  for (CLI::Option* option : command.get_options()) option->group("Options");
}

void take_one_word_each(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    if (!option->get_positional() && option->get_items_expected_max() > 1 &&
        !option->check_lname("input"))
      option->allow_extra_args(false);
}

}  // namespace millrace::cli
