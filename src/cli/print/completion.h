#pragma once
// What shells and manual pages know of the command, made from its verbs and options.
#include <CLI/CLI.hpp>
#include <string>

namespace millrace::cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);
/// In troff, for man(1).
std::string man_page(const CLI::App& app, const std::string& version);

}  // namespace millrace::cli
