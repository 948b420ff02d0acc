#include "base/operation/ranks.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "base/error.h"
#include "explore/ranks_in_threads.h"

namespace millrace {
namespace {

using test::on_ranks;

/// Of unlike lengths, with values that no text would keep.
Numbers numbers_of(std::size_t i) {
  Numbers numbers(i % 3, 1.0 / static_cast<double>(i + 3));
  if (i % 3 == 1) numbers.front() = -std::numeric_limits<double>::infinity();
  return numbers;
}

TEST(Ranks, have_all_numbers_and_each_computes_its_share) {
  const std::vector<Numbers> alone = shared_out(nullptr, 10, numbers_of);
  for (const std::size_t count : {1u, 2u, 3u, 12u}) {
    struct Seen {
      std::vector<Numbers> all;
      std::set<std::size_t> computed;
    };
    const auto seen = on_ranks<Seen>(count, [](Ranks& ranks) {
      Seen result;
      result.all = shared_out(&ranks, 10, [&](std::size_t i) {
        result.computed.insert(i);
        return numbers_of(i);
      });
      return result;
    });
    std::set<std::size_t> computed;
    for (const Seen& each : seen) {
      EXPECT_EQ(each.all, alone) << count << " ranks";
      EXPECT_LE(each.computed.size(), (10 + count - 1) / count) << count << " ranks";
      for (const std::size_t i : each.computed) EXPECT_TRUE(computed.insert(i).second) << i;
    }
    EXPECT_EQ(computed.size(), 10u);
  }
}

TEST(Ranks, of_which_none_has_anything_to_do_agree_too) {
  const auto seen = on_ranks<std::size_t>(3, [](Ranks& ranks) {
    return shared_out(&ranks, 0, numbers_of).size() + shared_out(&ranks, 1, numbers_of).size();
  });
  EXPECT_EQ(seen, std::vector<std::size_t>(3, 1));
}

TEST(Ranks, take_from_the_first_what_only_that_one_knows) {
  const auto texts = on_ranks<std::string>(3, [](Ranks& ranks) {
    return of_first(&ranks, [&] { return "rank " + std::to_string(ranks.rank()); });
  });
  EXPECT_EQ(texts, std::vector<std::string>(3, "rank 0"));
  EXPECT_EQ(of_first(nullptr, [] { return std::string("alone"); }), "alone");
}

TEST(Ranks, find_out_who_has_something_else) {
  const auto texts = on_ranks<std::string>(3, [](Ranks& ranks) {
    try {
      check_same(&ranks, "its model is", ranks.rank() == 2 ? "b" : "a");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  });
  EXPECT_EQ(texts, std::vector<std::string>(
                       3,
                       "rank 2: its model is not the same as on rank 0; start all ranks with the "
                       "same command, build and files"));
}

}  // namespace
}  // namespace millrace
