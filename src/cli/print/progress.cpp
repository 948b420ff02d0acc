#include "cli/print/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/excerpt.h"
#include "base/text/log.h"
#include "base/process/signals.h"
#include "base/terminal.h"
#include "cli/options/old_words.h"

namespace millrace::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// If it goes on as it did; empty: too early to tell.
std::string time_left(double share, Clock::duration since_start) {
  constexpr double enough = 0.02, least_s = 1;
  const double spent_s = std::chrono::duration<double>(since_start).count();
  if (share < enough || spent_s < least_s) return {};
  const double left_s = spent_s * (1 - share) / share;
  return left_s < 100 ? fmt::format("{:.0f} s left", left_s)
                      : fmt::format("{:.0f} min left", left_s / 60);
}

constexpr const char* begin_of_line = "\r\033[K";

class Progress : public product::Work {
 public:
  explicit Progress(const std::string& title)
      : title_(short_name(title)), terminal_(isatty(STDERR_FILENO) && !is_log_json()) {}
  ~Progress() override {
    if (terminal_ && shown_) write_error({begin_of_line});
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(double share, const std::string& text) override {
    const auto now = Clock::now();
    const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
    if (!shown_ && !terminal_) {  // short work stays silent in logs
      shown_ = true;
      last_ = now;
      return;
    }
    if (shown_ && now - last_ < pause) return;
    last_ = now;
    share = std::clamp(share, 0.0, 1.0);
    print(100 * share, time_left(share, now - started_), text);
    shown_ = true;
  }

 private:
  void print(double percent, const std::string& left, const std::string& text) const {
    const char* comma = left.empty() || text.empty() ? "" : ", ";
    const std::string rest = left + comma + short_name(text);
    if (terminal_) {
      const auto filled = static_cast<std::size_t>(percent / 4);
      write_error({begin_of_line, fmt::format("{} [{:<25}] {:3.0f} %  {}", title_,
                                              std::string(filled, '='), percent, rest)});
    } else {
      note(fmt::format("{}: {:.0f} % {}", title_, percent, rest));
    }
  }

  std::string title_;
  bool terminal_ = false;
  bool shown_ = false;
  const Clock::time_point started_ = Clock::now();
  Clock::time_point last_{};
};

class Terminal : public product::Listener {
 public:
  void note(const std::string& text) override { cli::note(text); }
  std::unique_ptr<product::Work> begin(const std::string& title) override {
    return std::make_unique<Progress>(title);
  }
};

}  // namespace

void note(const std::string& text) {
  const std::string message = short_message(in_options(text));
  write_error({is_log_json() ? json_log_line("note", message) : message + "\n"});
}

void show(const std::string& answer) { fmt::print("{}", in_options(answer)); }

void attach_terminal(product::Context& context) {
  static Terminal terminal;  // keeps nothing
  context.listener = &terminal;
  context.interrupt = &signals();
}

product::Context at_terminal() {
  product::Context context;
  attach_terminal(context);
  return context;
}

}  // namespace millrace::cli
