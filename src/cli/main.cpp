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
#include "base/text/log.h"
#include "base/process/crash.h"
#include "base/process/signals.h"
#include "base/terminal.h"
#include "cli/options/old_words.h"
#include "cli/options/wrong_usage.h"
#include "cli/print/help.h"
#include "cli/print/progress.h"
#include "cli/verbs/afar.h"
#include "cli/verbs/verbs.h"

namespace {

using namespace millrace::cli;

constexpr int wrong_input = 2;
constexpr const char* no_thread =
    "a thread cannot be started: the system has no memory or number left for it; allow more "
    "memory (ulimit -v) and threads (ulimit -u), or use fewer stages, replicas and streams";

/// Precondition: the text is printable.
int report(std::string_view text, int exit_code) {
  const std::string message = millrace::cli::in_options(text);
  if (millrace::is_log_json())
    return millrace::write_error({millrace::json_log_line("error", message)}), exit_code;
  const std::string name = millrace::coloured("millrace:", millrace::Colour::red, stderr);
  millrace::write_error({name, " ", message, "\n"});
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

void set_up(CLI::App& app, int& exit_code, const Words& words) {
  app.name("millrace");
  app.set_version_flag("--version", std::string("millrace ") + MILLRACE_VERSION);
  app.require_subcommand(0, 1);
  const std::size_t width = millrace::terminal_width();
  app.formatter(std::make_shared<millrace::cli::HelpFormatter>(width, words.shows_all));
  app.footer(
      "Begin with `millrace bench MODEL`.\n"
      "`millrace COMMAND --help` lists the options of a command and gives an example.\n"
      "`millrace help --all` lists all commands.");
  add_verbs(app, exit_code, words.words == std::vector<std::string>{"help", "--all"});
}

int parse_and_run(const Words& words) {
  CLI::App app(
      "Millrace runs neural networks on all processors of a board at once. It measures every "
      "layer, searches for the best way to spread them, and proves that nothing can deadlock.");
  int exit_code = 0;
  set_up(app, exit_code, words);
  const std::string first = words.words.empty() ? "help" : words.words.front();
  if (first == "help") return fmt::print("{}", app.help()), 0;
  const auto told = [&](const std::string& text) {
    return report(millrace::short_message(words.in_typed_words(text)), wrong_input);
  };
  if (is_unknown_verb(app, first)) return told(no_verb(app, first));
  if (!words.note.empty()) note(words.note);
  do_on_board(app, exit_code, words.words);
  try {
    app.parse(std::vector<std::string>{words.words.rbegin(), words.words.rend()});
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return told(text_of(error, app));
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);  // errors instead
  millrace::set_interrupt_of_files(&millrace::signals());
  Words words;
  millrace::explain_crashes();
  try {
    words = understood({argv + 1, argv + argc});
    if (!words.listed.empty()) return fmt::print("{}", words.listed), flushed(0);
    return flushed(parse_and_run(words));
  } catch (const millrace::InputError& error) {
    return report(words.in_typed_words(error.what()), wrong_input);
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
