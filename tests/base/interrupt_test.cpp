#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "support/temporary_folder.h"

namespace millrace {
namespace {

TEST(InterruptGuard, a_signal_becomes_an_error_at_the_next_check) {
  const InterruptGuard guard;
  EXPECT_NO_THROW(guard.check());
  std::raise(SIGINT);
  EXPECT_THROW(guard.check(), EngineError);
  EXPECT_NO_THROW(guard.check());
}

TEST(InterruptGuard, a_signal_that_nobody_checked_ends_the_process_with_the_outermost_guard) {
  const auto interrupted = [] {
    const InterruptGuard outer;
    { const InterruptGuard inner; std::raise(SIGTERM); }
    std::fputs("still here", stderr);
  };
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGTERM), "still here");
}

TEST(InterruptGuard, the_second_signal_ends_the_process_at_once) {
  const auto interrupted = [] {
    const InterruptGuard guard;
    std::raise(SIGINT);
    std::fputs("still here", stderr);
    std::raise(SIGTERM);
  };
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGTERM), "still here");
}

TEST(InterruptGuard, an_ignored_loss_of_the_terminal_stays_ignored) {
  std::signal(SIGHUP, SIG_IGN);
  {
    const InterruptGuard guard;
    std::raise(SIGHUP);
    EXPECT_NO_THROW(guard.check());
  }
  std::signal(SIGHUP, SIG_DFL);
}

TEST(InterruptGuard, a_file_that_is_being_written_when_the_signal_comes_is_whole) {
  const test::TemporaryFolder folder;
  const auto interrupted = [&] {
    write_file(folder / "file", [](std::ostream& out) {
      std::raise(SIGINT);
      out << "all of it";
    });
  };
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGINT), "");
  EXPECT_EQ(read_file(folder / "file"), "all of it");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace millrace
