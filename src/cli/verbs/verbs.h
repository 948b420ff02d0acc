#pragma once
// The verbs of the command. Each adds its subcommand; when chosen, its callback does the work and
// sets the exit code: 0 done, 1 the answer is no, 2 wrong usage or input, 3 the machine failed.
#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>

#include "cli/options/places.h"

namespace millrace::cli {

constexpr int answer_is_no = 1;
constexpr int machine_failed = 3;

void add_board(CLI::App& app, int& exit_code);
void add_zoo(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);
void add_profile(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_plan(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);
void add_analyze(CLI::App& app, int& exit_code);
void add_simulate(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_workload(CLI::App& app, int& exit_code);
void add_cache(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_bundle(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_detect(CLI::App& app, int& exit_code);
void add_classify(CLI::App& app, int& exit_code);
void add_segment(CLI::App& app, int& exit_code);
void add_pose(CLI::App& app, int& exit_code);
void add_read(CLI::App& app, int& exit_code);
void add_agent(CLI::App& app, int& exit_code);

/// All that the table has; `is_all`: --help lists them all.
void add_verbs(CLI::App& app, int& exit_code, bool is_all);

/// A verb whose options live in one struct: `bind` says where each goes, `run` uses them and
/// returns the exit code.
template <class Options>
struct Verb {
  const char* name;
  void (*bind)(Places&, Options&);
  int (*run)(const Options&, const CLI::App&);
};

CLI::App* begin_verb(CLI::App& app, std::string_view name);
/// --set, and what holds for the values of all options.
void end_verb(CLI::App& command);

template <class Options>
void add_verb(CLI::App& app, int& exit_code, const Verb<Options>& verb) {
  // Shared by the app, which keeps the callback, and its copies.
  const auto options = std::make_shared<Options>();
  CLI::App* command = begin_verb(app, verb.name);
  Places places(*command);
  verb.bind(places, *options);
  places.finish();
  end_verb(*command);
  command->preparse_callback([options](std::size_t) {});  // they outlive another callback
  command->callback(
      [options, command, run = verb.run, &exit_code] { exit_code = run(*options, *command); });
}

}  // namespace millrace::cli
