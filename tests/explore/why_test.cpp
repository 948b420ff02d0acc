#include "explore/why.h"

#include <gtest/gtest.h>

#include "explore/contexts.h"
#include "problems.h"

namespace millrace::explore {
namespace {

using test::mapping_of;

/// A chain on a GPU and an accelerator with room for so many subnets; tensors of 8 numbers.
struct Place {
  explicit Place(const std::vector<double>& microseconds, int subnets = 4)
      : network(test::chain_network(microseconds.size())), board(test::accelerated_board(1)) {
    board.devices[1].limits.subnets_together = subnets;
    for (const double each : microseconds) problem_times.push_back(1000 * each);
    problem = test::chain_of(problem_times, 2);
    problem.variants.assign(problem.layers, std::vector<board::Variant>(2));
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  std::string why(const std::vector<std::size_t>& processors, std::size_t layer) const {
    const auto text = reasons(context, mapping_of(processors), LayerId(layer));
    EXPECT_EQ(text.size(), 1u);
    return text.at(0);
  }

  network::Network network;
  board::Board board;
  std::vector<double> problem_times;
  Problem problem;
  plan::BuildOptions build;
  SearchContext context{network, board, problem, build};
};

TEST(Reasons, say_times_bytes_and_what_the_slowest_stage_would_take_instead) {
  Place place({10, 30});
  place.problem.time[0][1] = 12'000;
  EXPECT_EQ(
      place.why({0, 1}, 0),
      "not on npu0: the layer itself takes 12.0 us there and 10.0 us here, slower by 2.00 us; "
      "0 B instead of 32 B would cross between processors, so the slowest stage "
      "would take 42.0 us instead of 30.0 us per frame");
  EXPECT_NE(place.why({0, 0}, 0).find("32 B instead of 0 B would cross"), std::string::npos);
}

TEST(Reasons, say_that_a_layer_would_be_faster_elsewhere) {
  Place place({10, 30});
  place.problem.time[0][1] = 4'000;
  EXPECT_NE(place.why({0, 1}, 0).find("4.00 us there and 10.0 us here, faster by 6.00 us"),
            std::string::npos);
}

TEST(Reasons, count_bytes_in_the_precision_of_who_makes_them) {
  Place place({10, 10, 10});
  place.problem.variants[0][0].precision = board::Precision::f16;
  EXPECT_EQ(crossing_bytes(place.context, mapping_of({0, 1, 0})), Bytes{16 + 32});
}

TEST(Reasons, name_who_says_that_it_cannot_run_and_why) {
  Place place({10, 30});
  place.problem.time[0][1] = std::numeric_limits<double>::infinity();
  place.problem.refusals = {{"", "its SDK does not run Relu, says the board's file"}, {"", ""}};
  EXPECT_EQ(place.why({0, 1}, 0), "not on npu0: its SDK does not run Relu, says the board's file");
}

TEST(Reasons, name_the_limit_that_it_would_break) {
  const Place place({10, 10, 10, 10, 10}, 1);
  EXPECT_NE(place.why({0, 1, 0, 0, 0}, 3)
                .find("; the board does not allow it either: it needs 2 subnets on npu, which has "
                      "room "
                      "for 1"),
            std::string::npos);
  EXPECT_EQ(place.why({0, 1, 0, 0, 0}, 2).find("allow it"), std::string::npos);
}

TEST(Reasons, count_what_joins_a_kernel_alone_where_it_would_leave_it) {
  Place place({10, 0});
  place.problem.fused_into[1] = 0;
  place.problem.alone[1] = {7'000, 8'000};
  EXPECT_NE(place.why({0, 0}, 1).find("8.00 us there and 0 ns here, slower by 8.00 us"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::explore
