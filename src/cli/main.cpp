// The millrace command: parse, call a verb, turn errors into one sentence and an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/excerpt.h"
#include "base/terminal.h"
#include "cli/options/wrong_usage.h"
#include "cli/print/help.h"
#include "base/process/signals.h"
#include "cli/verbs/verbs.h"

namespace {

constexpr int wrong_input = 2;
constexpr const char* no_thread =
    "a thread cannot be started: the system has no memory or number left for it; allow more "
    "memory (ulimit -v) and threads (ulimit -u), or use fewer stages, replicas and streams";
using millrace::cli::machine_failed;

/// Precondition: the text is printable.
int report(std::string_view text, int exit_code) {
  const std::string name = millrace::coloured("millrace:", millrace::Colour::red, stderr);
  millrace::write_error({name, " ", text, "\n"});
  return exit_code;
}

/// A standard stream that the caller closed would give its number to the next file that is
/// opened, and notes would be written into results.
void open_closed_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF) open("/dev/null", O_RDWR);
}

/// Whoever read standard output has seen enough: the usual end, with nothing left behind.
void end_by_broken_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

/// Results that did not get out are a failure, even if the disk says so only at the end.
int flushed(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  if (errno == EPIPE) end_by_broken_pipe();
  return report(fmt::format("standard output cannot be written: {}", std::strerror(errno)),
                machine_failed);
}

using millrace::cli::VerbGroup;
constexpr VerbGroup verb_groups[] = {
    {"Look at networks and boards",
     {millrace::cli::add_inspect, millrace::cli::add_zoo, millrace::cli::add_board}},
    {"Measure", {millrace::cli::add_profile, millrace::cli::add_calibrate}},
    {"Decide and prove",
     {millrace::cli::add_plan, millrace::cli::add_analyze, millrace::cli::add_simulate}},
    {"Decide for several networks", {millrace::cli::add_deploy, millrace::cli::add_admit}},
    {"Run", {millrace::cli::add_run, millrace::cli::add_bench, millrace::cli::add_verify}},
    {"Look into layers", {millrace::cli::add_workload}},
    {"Work with other tools", {millrace::cli::add_export, millrace::cli::add_import_jedi}},
    {"Analyse without networks", {millrace::cli::add_dataflow, millrace::cli::add_realtime}},
    {"Take it elsewhere", {millrace::cli::add_bundle}},
    {"This installation", {millrace::cli::add_cache, millrace::cli::add_completion}},
};

void set_up(CLI::App& app, int& exit_code) {
  app.name("millrace");
  app.set_version_flag("--version", std::string("millrace ") + MILLRACE_VERSION);
  app.require_subcommand(0, 1);
  const std::size_t width = millrace::terminal_width();
  app.formatter(std::make_shared<millrace::cli::HelpFormatter>(width));
  app.footer(
      "Begin with:\n"
      "  millrace inspect MODEL    show the layers, and which engine supports them\n"
      "  millrace plan MODEL       measure, search and prove; write MODEL.plan.json\n"
      "  millrace verify PLAN      compare its outputs with those of the reference engine\n"
      "  millrace bench PLAN       compare its speed with other ways to use the cores\n"
      "  millrace run PLAN --input pictures/\n"
      "`millrace COMMAND --help` lists the options of a command and gives an example.");
  for (const VerbGroup& group : verb_groups) add_group(app, exit_code, group);
}

int parse_and_run(int argc, char** argv) {
  CLI::App app(
      "Millrace runs neural networks as pipelines on the cores of a board. It measures every "
      "layer, searches for the best way to spread the network, and proves that the pipeline cannot "
      "deadlock. For GPUs and NPUs it plans and simulates; an engine that supports one runs its "
      "layers.");
  int exit_code = 0;
  set_up(app, exit_code);
  const std::string first = argc > 1 ? argv[1] : "";
  using namespace millrace::cli;
  if (is_unknown_verb(app, first))
    return report(millrace::short_message(no_verb(app, first)), wrong_input);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return report(millrace::short_message(text_of(error, app)), wrong_input);
  }
  if (app.get_subcommands().empty()) fmt::print("{}", app.help());
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  for (const int signal : {SIGPIPE, SIGXFSZ})
    std::signal(signal, SIG_IGN);  // becomes an error, so that temporary files are removed
  millrace::set_interrupt_of_files(&millrace::signals());
  try {
    return flushed(parse_and_run(argc, argv));
  } catch (const millrace::InputError& error) {
    return report(error.what(), wrong_input);
  } catch (const millrace::EngineError& error) {
    return report(error.what(), machine_failed);
  } catch (const std::system_error& error) {
    if (error.code().value() == EPIPE) end_by_broken_pipe();
    if (error.code() == std::errc::resource_unavailable_try_again)
      return report(no_thread, machine_failed);
    return report(millrace::short_message(error.what()), machine_failed);
  } catch (const std::bad_alloc&) {
    return report("out of memory; use a smaller model or batch, or fewer streams", machine_failed);
  } catch (const std::exception& error) {
    return report(millrace::short_message(error.what()), machine_failed);
  }
}
