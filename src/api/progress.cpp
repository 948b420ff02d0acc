#include "api/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/printable.h"

namespace millrace::api {

Progress::Progress(std::string title)
    : title_(printable(title)), terminal_(isatty(STDERR_FILENO)) {}

Progress::~Progress() {
  if (terminal_ && shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::show(double share, const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
  if (!shown_ && !terminal_) {  // short work stays silent in logs
    shown_ = true;
    last_ = now;
    return;
  }
  if (shown_ && now - last_ < pause) return;
  last_ = now;
  const double percent = 100 * std::clamp(share, 0.0, 1.0);
  if (terminal_) {
    const auto filled = static_cast<std::size_t>(percent / 4);
    fmt::print(stderr, "\r\033[K{} [{:<25}] {:3.0f} %  {}", title_, std::string(filled, '='),
               percent, printable(text));
    std::fflush(stderr);
  } else {
    fmt::print(stderr, "{}: {:.0f} % {}\n", title_, percent, printable(text));
  }
  shown_ = true;
}

void note(const std::string& text) { fmt::print(stderr, "{}\n", printable(text)); }

}  // namespace millrace::api
