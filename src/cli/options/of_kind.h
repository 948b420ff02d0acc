#pragma once
// Options that go with one kind of file only.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/error.h"

namespace millrace::cli {

/// InputError if one of them was given: they are for `kind`, which the file is not.
inline void refuse_given(const std::vector<CLI::Option*>& options, const std::string& file,
                         const std::string& kind) {
  for (const CLI::Option* option : options)
    if (option->count() > 0)
      throw InputError(option->get_name(),
                       "is for " + kind + "; '" + file + "' is none, leave it out");
}

/// If another option does not have the value that they work with: `with` is "--times drawn".
inline void refuse_unless(bool holds, const std::vector<CLI::Option*>& options,
                          const std::string& with) {
  for (const CLI::Option* option : options)
    if (!holds && option->count() > 0)
      throw InputError(option->get_name(),
                       "only " + with + " uses it; give that too, or leave it out");
}

}  // namespace millrace::cli
