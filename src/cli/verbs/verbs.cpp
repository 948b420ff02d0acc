#include "cli/verbs/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include "cli/options/record.h"

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

/// An option that may be given again, or with several values between commas, takes one word only:
/// what follows may be the model. Not --input, for which shells write down many files.
void take_one_word_each(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    if (!option->get_positional() && option->get_items_expected_max() > 1 &&
        !option->check_lname("input"))
      option->allow_extra_args(false);
}

/// Each option and positional refuses an empty value; of real numbers also NaN, which lies in every
/// range of the library's; and unsigned ones what they cannot hold.
void check_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_type_size() == 0) continue;
    const std::string type = option->get_type_name();  // "FLOAT in [0 - 1]"
    option->transform(unnamed(fault_of_empty));        // before all others
    if (type.starts_with("UINT")) option->check(unnamed(fault_of_unsigned));
    if (type.starts_with("FLOAT")) option->check(unnamed(fault_of_real));
  }
}

const VerbRecord& verb_named(std::string_view name) {
  return *std::ranges::find(table().verbs, name, &VerbRecord::name);
}

}  // namespace

void add_verbs(CLI::App& app, int& exit_code, bool is_all) {
  for (const auto add : {add_bench,    add_detect,   add_plan,     add_run,      add_verify,
                         add_analyze,  add_simulate, add_inspect,  add_board,    add_classify,
                         add_segment,  add_pose,     add_read,     add_zoo,      add_profile,
                         add_calibrate, add_workload, add_export,  add_bundle,   add_cache,
                         add_report,   add_agent,    add_completion}) {
    add(app, exit_code);
    CLI::App& verb = *app.get_subcommands(nullptr).back();
    const bool is_first = verb_named(verb.get_name()).place == "first";
    verb.group(is_first ? "Commands" : is_all ? "More commands" : "");
  }
}

CLI::App* begin_verb(CLI::App& app, std::string_view name) {
  const VerbRecord& verb = verb_named(name);
  CLI::App* command = app.add_subcommand(std::string(name), std::string(verb.purpose));
  command->footer(fmt::format("Example:\n  {}", verb.example));
  command->set_help_flag("-h,--help", "Show this help; --help-all shows all there is");
  return command;
}

void end_verb(CLI::App& command) {
  const auto has_key = [&](const Area& area) {
    return std::ranges::any_of(area.records, [&](const Record& record) {
      return has_word(record.keys, command.get_name());
    });
  };
  if (std::ranges::any_of(table().areas, has_key))
    command
        .add_option_function<std::vector<std::string>>(
            "--set", [](const std::vector<std::string>&) {},  // understood() read them
            "A rarer option, listed by --help-all. Repeatable; `--set AREA.` lists those of an "
            "area")
        ->type_name("AREA.KEY=VALUE");
  take_one_word_each(command);
  check_values(command);
}

}  // namespace millrace::cli
