#pragma once
// What values of options may be: the words of Record::rule.
#include <CLI/CLI.hpp>
#include <string_view>

namespace millrace::cli {

/// Validators and relations of `option`, whose verb has all options by now.
void apply_rule(CLI::App& verb, CLI::Option& option, std::string_view rule);

}  // namespace millrace::cli
