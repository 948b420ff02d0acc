#pragma once
// What values of options may be: the words of Record::rule.
#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace millrace::cli {

/// `text` with a unit, as read_duration() and read_bytes() take it: "20" is "20ms" where `unit` is
/// "ms", and of a period "50fps" is "20ms" too. What cannot be read stays as it is.
std::string with_unit(const std::string& text, std::string_view unit);

/// Validators and relations of `option`, whose verb has all options by now.
void apply_rule(CLI::App& verb, CLI::Option& option, std::string_view rule);

}  // namespace millrace::cli
