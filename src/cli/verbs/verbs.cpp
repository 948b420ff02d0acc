#include "cli/verbs/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

namespace millrace::cli {
namespace {

/// It would pass for none.
std::string fault_of_empty(const std::string& text) {
  return text.empty() ? "is empty; give a value, or leave it out" : "";
}

/// The library would take another number.
std::string fault_of_unsigned(const std::string& text) {
  std::uint64_t value = 0;
  const char* begin = text.data() + std::min(text.find_first_not_of(" \t"), text.size());
  const auto end = std::from_chars(begin, text.data() + text.size(), value);
  if (*begin != '-' && end.ec != std::errc::result_out_of_range) return {};
  return fmt::format("found '{}', expected 0 to {}", text, UINT64_MAX);
}

/// It lies in every range of the library's.
std::string fault_of_real(const std::string& text) {
  double value = 0;
  const bool is_nan = CLI::detail::lexical_cast(text, value) && std::isnan(value);
  return is_nan ? fmt::format("found {}, expected a number", text) : "";
}

CLI::Validator unnamed(std::string (*fault_of)(const std::string&)) {
  return CLI::Validator([fault_of](std::string& text) { return fault_of(text); }, "");
}

}  // namespace

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

void check_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_type_size() == 0) continue;
    const std::string type = option->get_type_name();  // "FLOAT in [0 - 1]"
    option->transform(unnamed(fault_of_empty));        // before all others
    if (type.starts_with("UINT")) option->check(unnamed(fault_of_unsigned));
    if (type.starts_with("FLOAT")) option->check(unnamed(fault_of_real));
  }
}

}  // namespace millrace::cli
