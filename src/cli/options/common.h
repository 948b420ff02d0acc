#pragma once
// What several verbs share: the groups of options in --help, and texts of equal options.
#include <CLI/CLI.hpp>

namespace millrace::cli {

/// The options added after this one are listed under the title in --help.
inline void begin_group(CLI::App& verb, const char* title) {
  verb.option_defaults()->group(title);
}

inline CLI::Option* bind_json(CLI::App& verb, bool& json) {
  return verb.add_flag("--json", json, "Print the result as JSON, for programs");
}

inline constexpr const char* model_moved = "The plan's model, if the file was moved";

}  // namespace millrace::cli
