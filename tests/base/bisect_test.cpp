#include "base/bisect.h"

#include <gtest/gtest.h>

#include <limits>

namespace millrace {
namespace {

TEST(Bisect, finds_the_last_number_that_holds) {
  for (std::int64_t last = 3; last <= 20; ++last) {
    int asked = 0;
    const auto found = largest_that(3, 20, [&](std::int64_t number) {
      ++asked;
      return number <= last;
    });
    EXPECT_EQ(found, last);
    EXPECT_LE(asked, 6);
  }
}

TEST(Bisect, finds_nothing_if_not_even_the_first_holds) {
  EXPECT_EQ(largest_that(3, 20, [](std::int64_t) { return false; }), std::nullopt);
}

TEST(Bisect, reaches_the_largest_numbers) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(largest_that(1, most, [](std::int64_t) { return true; }), most);
}

}  // namespace
}  // namespace millrace
