#include "base/process/crash.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "base/process/foreign_call.h"

namespace millrace {
namespace {

/// Nothing can be done if it fails.
void say(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

extern "C" void explain_crash(int signal) {
  if (const std::string_view call = ForeignCall::of_this_thread(); !call.empty()) {
    say("millrace: ");
    say(call);
    say(" crashed; try it with millrace-plugin-check, and ask its maker to mend it\n");
  }
  std::raise(signal);  // ends the process: the action was reset
}

}  // namespace

void explain_crashes() {
  struct sigaction action {};
  action.sa_handler = explain_crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    ::sigaction(signal, &action, nullptr);
}

}  // namespace millrace
