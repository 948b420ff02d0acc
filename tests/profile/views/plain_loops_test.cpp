#include "profile/views/plain_loops.h"

#include <gtest/gtest.h>

namespace millrace::profile {
namespace {

LayerTimes layer(std::int64_t us, const char* kernel) {
  LayerTimes times;
  times.together.median = std::chrono::microseconds(us);
  times.kernel = kernel;
  return times;
}

/// On core1 the same layers take other times.
Profile some_profile() {
  Profile profile;
  profile.layer_names = {"a", "b", "c", "d", "e"};
  profile.processors.resize(2);
  profile.processors[0].processor.name = "core0";
  profile.processors[0].layers = {layer(60, "jit"), layer(10, "loops"), layer(30, "loops"),
                                  layer(0, "loops"), layer(100, "jit")};
  profile.processors[1].processor.name = "core1";
  profile.processors[1].layers = {layer(50, "jit"), layer(10, "loops"), layer(40, "loops"),
                                  layer(0, "loops"), layer(0, "jit")};
  return profile;
}

TEST(PlainLoopsText, names_the_slowest_first_where_they_cost_the_largest_share) {
  EXPECT_EQ(plain_loops_text(some_profile()),
            "2 of 5 layers run in plain loops, 50 % of the time on core1: c, b");
}

TEST(PlainLoopsText, is_empty_where_they_cost_nothing_or_all_is_the_reference) {
  Profile profile = some_profile();
  for (auto& processor : profile.processors) processor.engine = "reference";
  EXPECT_EQ(plain_loops_text(profile), "");
  profile = some_profile();
  for (auto& processor : profile.processors) processor.layers[0] = layer(100'000, "jit");
  EXPECT_EQ(plain_loops_text(profile), "");
}

}  // namespace
}  // namespace millrace::profile
