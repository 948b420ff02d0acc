// A million frames take seconds at most, and no memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <ctime>

#include "applications.h"

namespace millrace::simulate {
namespace {

using namespace test;

std::int64_t most_kib_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

TEST(Speed, a_million_frames_of_four_stages_take_less_than_two_seconds) {
  for (const bool drawn : {false, true}) {
    Application application = chain({7ms, 5ms, 6ms, 4ms});
    if (drawn) application.durations[1][0] = {3ms, 12ms};
    run({application});
    [[maybe_unused]] const std::int64_t before = most_kib_so_far();
    application.frames = 1'000'000;
    const double start = processor_seconds();
    const ApplicationResult result = run({application}).applications[0];
    const double took = processor_seconds() - start;
    fmt::print("a million frames, times {}: {:.3f} s of processor time\n",
               drawn ? "drawn" : "fixed", took);
    EXPECT_EQ(result.frames, 1'000'000);
#if defined(NDEBUG) && !defined(MILLRACE_SANITIZED)  // optimised
    EXPECT_LT(took, 2);
    EXPECT_LT(most_kib_so_far() - before, 1024);
#endif
  }
}

}  // namespace
}  // namespace millrace::simulate
