// Cores that work together: where the work runs, and whose it is.
#include "engine/onednn/threads/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "board/board.h"

namespace millrace::engine::onednn {
namespace {

std::vector<int> two_cores() {
  const std::vector<int> usable = board::cores_of_this_thread();
  return usable.size() < 2 ? std::vector<int>{} : std::vector<int>{usable[0], usable[1]};
}

class TeamOfTwo : public testing::Test {
 protected:
  void SetUp() override {
    if (cores_.empty()) GTEST_SKIP() << "needs two cores";
  }
  const std::vector<int> cores_ = two_cores();
};

TEST_F(TeamOfTwo, works_on_the_first_core_and_leaves_the_caller_where_it_is) {
  const std::vector<int> before = board::cores_of_this_thread();
  const auto caller = std::this_thread::get_id();
  std::thread::id worker;
  std::vector<int> there;
  run_on(cores_, [&] {
    worker = std::this_thread::get_id();
    there = board::cores_of_this_thread();
  });
  EXPECT_NE(worker, caller);
  EXPECT_EQ(there, std::vector<int>{cores_[0]});
  EXPECT_EQ(board::cores_of_this_thread(), before);
}

TEST_F(TeamOfTwo, is_the_same_for_all_who_ask) {
  std::thread::id first, second;
  run_on(cores_, [&] { first = std::this_thread::get_id(); });
  std::thread([&] { run_on(cores_, [&] { second = std::this_thread::get_id(); }); }).join();
  EXPECT_EQ(first, second);
}

TEST_F(TeamOfTwo, does_one_piece_of_work_at_a_time) {
  constexpr int threads = 4, pieces = 200;
  std::atomic<int> inside{0}, most{0};
  int done = 0;  // by whose turn it is
  const auto ask = [&] {
    for (int i = 0; i < pieces; ++i)
      run_on(cores_, [&] {
        most = std::max(most.load(), ++inside);
        ++done;
        --inside;
      });
  };
  {
    std::vector<std::jthread> asking;
    for (int t = 0; t < threads; ++t) asking.emplace_back(ask);
  }
  EXPECT_EQ(most, 1);
  EXPECT_EQ(done, threads * pieces);
}

TEST_F(TeamOfTwo, hands_an_error_to_its_caller_and_goes_on) {
  const auto fail = [] { throw std::runtime_error("the seventh layer"); };
  std::string message;
  try {
    run_on(cores_, fail);
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  EXPECT_EQ(message, "the seventh layer");
  bool done = false;
  run_on(cores_, [&] { done = true; });
  EXPECT_TRUE(done);
}

TEST_F(TeamOfTwo, takes_turns_with_one_that_shares_a_core) {
  std::vector<int> others{cores_[1], cores_[0]};  // of other cores as far as the process knows
  std::thread::id here, there;
  for (int i = 0; i < 20; ++i) {
    run_on(cores_, [&] { here = std::this_thread::get_id(); });
    run_on(others, [&] { there = std::this_thread::get_id(); });
  }
  EXPECT_NE(here, there);
}

TEST(RunOn, one_core_is_the_callers_thread) {
  std::thread::id worker;
  run_on(std::vector<int>{0}, [&] { worker = std::this_thread::get_id(); });
  EXPECT_EQ(worker, std::this_thread::get_id());
}

}  // namespace
}  // namespace millrace::engine::onednn
