#include "runtime/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "support/message_of.h"
#include "support/room_for_threads.h"

namespace millrace::runtime {
namespace {

/// Numbers from 0 on, with something to do for each; what was given, in the order in which it was.
struct Numbers {
  std::int64_t count = 0;
  std::function<void(std::int64_t)> work = [](std::int64_t) {};
  std::int64_t taken = 0;
  std::vector<std::int64_t> given = {};

  Pool::Take take() {
    return [this]() -> std::optional<Job> {
      if (taken == count) return std::nullopt;
      const std::int64_t n = taken++;
      return Job{[this, n] { work(n); },
                 [this, n] {
                   given.push_back(n);
                   return true;
                 }};
    };
  }
};

std::vector<std::int64_t> first(std::int64_t count) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

PoolOptions with_threads(int threads) {
  PoolOptions options;
  options.threads = threads;
  return options;
}

class PoolOf : public testing::TestWithParam<int> {};

TEST_P(PoolOf, threads_gives_all_items_in_order) {
  Numbers numbers{500};
  std::atomic<std::int64_t> sum = 0;
  numbers.work = [&](std::int64_t n) {
    for (std::int64_t i = 0; i < (n % 7) * 1000; ++i) sum.fetch_add(1, std::memory_order_relaxed);
  };
  Pool pool(numbers.take(), with_threads(GetParam()));
  pool.wait();
  EXPECT_EQ(numbers.given, first(500));
}

TEST_P(PoolOf, threads_gives_everything_before_an_error_and_nothing_behind_it) {
  Numbers numbers{100};
  numbers.work = [](std::int64_t n) {
    if (n == 40 || n == 41) throw InputError("item", std::to_string(n));
  };
  std::atomic<int> ends = 0;
  PoolOptions options = with_threads(GetParam());
  options.at_end = [&](std::exception_ptr error) { ends += error ? 1 : 100; };
  Pool pool(numbers.take(), options);
  EXPECT_EQ(test::message_of([&] { pool.wait(); }), "item: 40");
  EXPECT_EQ(numbers.given, first(40));
  EXPECT_EQ(ends, 1);
}

TEST_P(PoolOf, threads_passes_on_an_error_of_whoever_is_asked_for_items) {
  Numbers numbers{1000};
  const Pool::Take take = numbers.take();
  Pool pool(
      [&] {
        if (numbers.taken == 10) throw InputError("source", "gone");
        return take();
      },
      with_threads(GetParam()));
  EXPECT_EQ(test::message_of([&] { pool.wait(); }), "source: gone");
  EXPECT_EQ(numbers.given, first(10));
}

TEST_P(PoolOf, threads_ends_when_nobody_wants_more) {
  std::int64_t taken = 0;
  std::int64_t given = 0;
  Pool pool(
      [&]() -> std::optional<Job> {
        ++taken;
        return Job{[] {}, [&] { return ++given < 5; }};
      },
      with_threads(GetParam()));
  pool.wait();
  EXPECT_EQ(given, 5);
  EXPECT_LE(taken, 5 + GetParam());
}

TEST_P(PoolOf, threads_stops_while_items_are_on_their_way) {
  Numbers numbers{1'000'000};
  std::latch begun(1);
  numbers.work = [&](std::int64_t n) {
    if (n == 0) begun.count_down();
  };
  Pool pool(numbers.take(), with_threads(GetParam()));
  begun.wait();
  pool.stop();
  pool.wait();
  EXPECT_EQ(numbers.given, first(static_cast<std::int64_t>(numbers.given.size())));
}

INSTANTIATE_TEST_SUITE_P(Threads, PoolOf, testing::Values(1, 2, 3, 8));

TEST(pool, has_no_more_items_than_threads) {
  std::atomic<int> inside = 0, most = 0;
  std::int64_t taken = 0;
  Pool pool(
      [&]() -> std::optional<Job> {
        if (taken++ == 200) return std::nullopt;
        const int now = ++inside;
        if (now > most) most = now;
        return Job{[] {},
                   [&] {
                     --inside;
                     return true;
                   }};
      },
      with_threads(3));
  pool.wait();
  EXPECT_LE(most, 3);
}

TEST(pool, works_on_as_many_items_at_once_as_it_has_threads) {
  Numbers numbers{4};
  std::latch all(4);  // would wait for ever with fewer
  numbers.work = [&](std::int64_t) { all.arrive_and_wait(); };
  Pool pool(numbers.take(), with_threads(4));
  pool.wait();
  EXPECT_EQ(numbers.given, first(4));
}

TEST(pool, says_whether_it_has_ended) {
  std::latch go(1);
  Numbers numbers{1};
  numbers.work = [&](std::int64_t) { go.wait(); };
  Pool pool(numbers.take(), with_threads(2));
  EXPECT_FALSE(pool.wait_for(std::chrono::milliseconds(1)));
  go.count_down();
  while (!pool.wait_for(std::chrono::milliseconds(100))) {
  }
  EXPECT_EQ(numbers.given, first(1));
}

TEST(pool, ends_if_a_thread_cannot_be_started) {
  Numbers numbers{10};
  const test::RoomForThreads room(1);
  EXPECT_THROW(Pool(numbers.take(), with_threads(2)), EngineError);
}

TEST(pool, refuses_cores_that_are_not_there) {
  Numbers numbers{1};
  PoolOptions options = with_threads(1);
  options.cores = {8000};
  EXPECT_THROW(Pool(numbers.take(), options), EngineError);
}

}  // namespace
}  // namespace millrace::runtime
