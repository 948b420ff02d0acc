#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <ostream>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/operation/interruption_point.h"
#include "support/temporary_folder.h"

namespace millrace {
namespace {

TEST(Interrupt, a_switch_ends_all_work_that_looks_at_it) {
  InterruptSwitch interrupt;
  const InterruptGuard one(&interrupt), other(&interrupt);
  EXPECT_NO_THROW(one.check());
  interrupt.ask();
  EXPECT_THROW(one.check(), EngineError);
  EXPECT_TRUE(other.take());
  EXPECT_TRUE(InterruptGuard(&interrupt).take());
}

TEST(Interrupt, ends_the_long_loops_of_its_thread) {
  InterruptSwitch interrupt, other;
  const InterruptGuard outside(&interrupt), inside(&other);
  interrupt.ask();
  EXPECT_NO_THROW(interruption_point());
  {
    const Interruptible loops(outside);
    EXPECT_THROW(interruption_point(), EngineError);
    {
      const Interruptible within(inside);
      EXPECT_NO_THROW(interruption_point());
    }
    EXPECT_THROW(interruption_point(), EngineError);
    std::thread([] { EXPECT_NO_THROW(interruption_point()); }).join();
  }
  EXPECT_NO_THROW(interruption_point());
}

TEST(Interrupt, without_one_work_goes_on) {
  const InterruptGuard nobody(nullptr);
  EXPECT_NO_THROW(nobody.check());
  EXPECT_FALSE(nobody.take());
}

TEST(Interrupt, hears_when_work_begins_and_ends) {
  struct Counter final : Interrupt {
    bool take() override { return false; }
    void begin() override { ++on; }
    void end() override { --on; }
    int on = 0;
  } counter;
  {
    const InterruptGuard one(&counter), other(&counter);
    EXPECT_EQ(counter.on, 2);
  }
  EXPECT_EQ(counter.on, 0);
  set_interrupt_of_files(&counter);
  const test::TemporaryFolder folder;
  int while_writing = 0;
  write_file(folder / "file", [&](std::ostream&) { while_writing = counter.on; });
  set_interrupt_of_files(nullptr);
  EXPECT_EQ(while_writing, 1);
  EXPECT_EQ(counter.on, 0);
}

TEST(Interrupt, a_file_is_written_without_a_touch_of_the_signals) {
  static volatile std::sig_atomic_t heard = 0;
  std::signal(SIGTERM, [](int) { heard = 1; });
  const test::TemporaryFolder folder;
  write_file(folder / "file", [&](std::ostream&) { std::raise(SIGTERM); });
  EXPECT_EQ(heard, 1);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace
}  // namespace millrace
