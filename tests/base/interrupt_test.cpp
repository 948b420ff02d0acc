#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <ostream>
#include <thread>
#include <vector>

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
    {
      const InterruptGuard inner;
      std::raise(SIGTERM);
    }
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

TEST(InterruptGuard, one_that_begins_after_the_signal_leaves_it_to_the_outermost) {
  const InterruptGuard outer;
  std::raise(SIGTERM);
  { const InterruptGuard inner; }
  EXPECT_THROW(outer.check(), EngineError);
  { const InterruptGuard inner; }
}

TEST(InterruptGuard, the_second_signal_ends_the_process_although_others_began_in_between) {
  const auto interrupted = [] {
    const InterruptGuard guard;
    std::raise(SIGINT);
    EXPECT_TRUE(guard.take());
    const InterruptGuard inner;
    std::fputs("still here", stderr);
    std::raise(SIGINT);
    std::fputs("and here", stderr);
  };
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGINT), "still here$");
}

TEST(InterruptGuard, the_last_of_those_that_overlap_counts) {
  auto first = std::make_unique<InterruptGuard>();
  auto second = std::make_unique<InterruptGuard>();
  first.reset();
  std::raise(SIGTERM);
  first = std::make_unique<InterruptGuard>();
  second.reset();
  EXPECT_THROW(first->check(), EngineError);
  first.reset();
  struct sigaction after {};
  sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
}

TEST(InterruptGuard, threads_that_write_files_meanwhile_do_not_end_the_process) {
  const test::TemporaryFolder folder;
  const InterruptGuard outer;
  std::atomic<bool> enough{false};
  std::atomic<int> written{0};
  std::vector<std::thread> writers;
  for (const char* name : {"a", "b", "c"})
    writers.emplace_back([&, name] {
      while (!enough) {
        write_file(folder / name, "x");
        ++written;
      }
    });
  while (written < 20) std::this_thread::yield();
  std::raise(SIGTERM);
  const int before = written;
  while (written < before + 20) std::this_thread::yield();
  enough = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_TRUE(outer.take());
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
