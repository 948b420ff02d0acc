#pragma once
// The verbs of the command. Each adds its subcommand; when chosen, its callback does the work and
// sets the exit code: 0 done, 1 the answer is no, 2 wrong usage or input, 3 the machine failed.
#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>

namespace millrace::cli {

constexpr int answer_is_no = 1;
constexpr int machine_failed = 3;

void add_admit(CLI::App& app, int& exit_code);
void add_board(CLI::App& app, int& exit_code);
void add_zoo(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);
void add_profile(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_plan(CLI::App& app, int& exit_code);
void add_deploy(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);
void add_analyze(CLI::App& app, int& exit_code);
void add_simulate(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_dataflow(CLI::App& app, int& exit_code);
void add_realtime(CLI::App& app, int& exit_code);
void add_workload(CLI::App& app, int& exit_code);
void add_cache(CLI::App& app, int& exit_code);
void add_import_jedi(CLI::App& app, int& exit_code);
void add_bundle(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);

/// Verbs that --help lists under one title.
using AddVerb = void (*)(CLI::App&, int&);
struct VerbGroup {
  const char* title;
  std::array<AddVerb, 3> verbs;  // null: none
};
void add_group(CLI::App& app, int& exit_code, const VerbGroup& group);

struct VerbText {
  const char* name;
  const char* purpose;
  const char* example;  // shown below the help
};

/// A verb whose options live in one struct: `bind` declares them, `run` uses them and returns the
/// exit code.
template <class Options>
struct Verb {
  VerbText text;
  void (*bind)(CLI::App&, Options&);
  int (*run)(const Options&);
};

/// An option that may be given again, or with several values between commas, takes one word only:
/// what follows may be the model. Not --input, for which shells write down many files.
void take_one_word_each(CLI::App& command);

/// Each option and positional refuses an empty value; of real numbers also NaN, which lies in every
/// range of the library's; and unsigned ones what they cannot hold.
void check_values(CLI::App& command);

void list_few_options_without_groups(CLI::App& command);

template <class Options>
void add_verb(CLI::App& app, int& exit_code, const Verb<Options>& verb) {
  // Shared by the app, which keeps the callback, and its copies.
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(verb.text.name, verb.text.purpose);
  command->footer(std::string("Example:\n  ") + verb.text.example);
  verb.bind(*command, *options);
  take_one_word_each(*command);
  check_values(*command);
  list_few_options_without_groups(*command);
  command->callback([options, run = verb.run, &exit_code] { exit_code = run(*options); });
}

}  // namespace millrace::cli
