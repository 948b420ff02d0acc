#pragma once
// What the user is told of words on the command line that are not known.
#include <CLI/CLI.hpp>
#include <string>

namespace millrace::cli {

/// Whether the command line's first word can only be an unknown verb, and what is said then.
bool is_unknown_verb(const CLI::App& app, const std::string& first);
std::string no_verb(const CLI::App& app, const std::string& first);

/// One sentence: what was found, the nearest known word if one is near, and which --help lists all.
std::string text_of(const CLI::ParseError& error, const CLI::App& app);

}  // namespace millrace::cli
