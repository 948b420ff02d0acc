#pragma once
// What several verbs share: the groups of options in --help, and texts of equal options.
#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "base/file.h"

namespace millrace::cli {

/// The options added after this one are listed under the title in --help.
inline void begin_group(CLI::App& verb, const char* title) {
  verb.option_defaults()->group(title);
}

inline CLI::Option* bind_json(CLI::App& verb, bool& json) {
  return verb.add_flag("--json", json, "Print the result as JSON, for programs");
}

/// InputError if the file that is written would go where the JSON goes.
inline void refuse_two_results(bool json, const std::string& output) {
  if (json && output == standard_output)
    throw InputError("--json",
                     "prints to standard output, as '-o -' does; name a file with "
                     "--output, or leave out one of the two");
}

inline constexpr const char* model_moved = "The plan's model, if the file was moved";

}  // namespace millrace::cli
