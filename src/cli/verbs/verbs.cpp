#include "cli/verbs/verbs.h"

namespace millrace::cli {

void take_one_word_each(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    if (!option->get_positional() && option->get_items_expected_max() > 1 &&
        !option->check_lname("input"))
      option->allow_extra_args(false);
}

}  // namespace millrace::cli
