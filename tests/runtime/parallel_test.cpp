#include "runtime/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "board/board.h"

namespace millrace::runtime {
namespace {

TEST(InParallel, does_everything_once) {
  std::vector<std::atomic<int>> done(1000);
  in_parallel(board::cores_of_this_thread(), done.size(), [&](std::size_t i) { ++done[i]; });
  for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
}

TEST(InParallel, works_on_each_core_with_a_thread_bound_to_it) {
  const std::vector<int> cores = board::cores_of_this_thread();
  in_parallel(cores, 100,
              [&](std::size_t) { EXPECT_EQ(board::cores_of_this_thread().size(), 1u); });
  EXPECT_EQ(board::cores_of_this_thread(), cores);
}

TEST(InParallel, passes_on_what_is_thrown) {
  EXPECT_THROW(in_parallel(board::cores_of_this_thread(), 10,
                           [](std::size_t i) {
                             if (i == 3) throw std::runtime_error("three");
                           }),
               std::runtime_error);
}

}  // namespace
}  // namespace millrace::runtime
