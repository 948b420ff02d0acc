#include "base/process/signals.h"

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

/// As the verbs have it.
class Guard : public InterruptGuard {
 public:
  Guard() : InterruptGuard(&signals()) {}
};

TEST(signals, a_signal_becomes_an_error_at_the_next_check) {
  const Guard guard;
  EXPECT_NO_THROW(guard.check());
  std::raise(SIGINT);
  EXPECT_THROW(guard.check(), EngineError);
  EXPECT_NO_THROW(guard.check());
}

TEST(signals, a_signal_that_nobody_checked_ends_the_process_with_the_outermost_guard) {
  const auto interrupted = [] {
    const Guard outer;
    {
      const Guard inner;
      std::raise(SIGTERM);
    }
    std::fputs("still here", stderr);
  };
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGTERM), "still here");
}

TEST(signals, the_second_signal_ends_the_process_at_once) {
  const auto interrupted = [] {
    const Guard guard;
    std::raise(SIGINT);
    std::fputs("still here", stderr);
    std::raise(SIGTERM);
  };
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGTERM), "still here");
}

TEST(signals, one_that_begins_after_the_signal_leaves_it_to_the_outermost) {
  const Guard outer;
  std::raise(SIGTERM);
  { const Guard inner; }
  EXPECT_THROW(outer.check(), EngineError);
  { const Guard inner; }
}

TEST(signals, the_second_signal_ends_the_process_although_others_began_in_between) {
  const auto interrupted = [] {
    const Guard guard;
    std::raise(SIGINT);
    EXPECT_TRUE(guard.take());
    const Guard inner;
    std::fputs("still here", stderr);
    std::raise(SIGINT);
    std::fputs("and here", stderr);
  };
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGINT), "still here$");
}

TEST(signals, the_last_of_those_that_overlap_counts) {
  auto first = std::make_unique<Guard>();
  auto second = std::make_unique<Guard>();
  first.reset();
  std::raise(SIGTERM);
  first = std::make_unique<Guard>();
  second.reset();
  EXPECT_THROW(first->check(), EngineError);
  first.reset();
  struct sigaction after {};
  sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
}

TEST(signals, threads_that_write_files_meanwhile_do_not_end_the_process) {
  const test::TemporaryFolder folder;
  set_interrupt_of_files(&signals());
  const Guard outer;
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

TEST(signals, an_ignored_loss_of_the_terminal_stays_ignored) {
  std::signal(SIGHUP, SIG_IGN);
  {
    const Guard guard;
    std::raise(SIGHUP);
    EXPECT_NO_THROW(guard.check());
  }
  std::signal(SIGHUP, SIG_DFL);
}

TEST(signals, a_file_that_is_being_written_when_the_signal_comes_is_whole) {
  const test::TemporaryFolder folder;
  set_interrupt_of_files(&signals());
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
