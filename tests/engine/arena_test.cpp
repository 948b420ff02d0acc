#include "engine/arena.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "network/tensor.h"

namespace millrace::engine {
namespace {

Bytes sum(const std::vector<BufferLife>& buffers) {
  Bytes total;
  for (const auto& buffer : buffers) total += buffer.size;
  return total;
}

TEST(arena, buffers_of_a_chain_take_turns_in_two_places) {
  std::vector<BufferLife> chain;
  for (std::size_t i = 0; i < 10; ++i) chain.push_back({Bytes{1024}, i, i + 1});
  EXPECT_EQ(plan_arena(chain).size, Bytes{2048});
}

TEST(arena, a_small_buffer_fills_a_gap) {
  const std::vector<BufferLife> buffers{
      {Bytes{640}, 0, 1}, {Bytes{640}, 0, 9}, {Bytes{320}, 2, 3}, {Bytes{128}, 2, 3}};
  EXPECT_EQ(plan_arena(buffers).size, Bytes{1280});
}

TEST(arena, of_nothing_is_empty) { EXPECT_EQ(plan_arena({}).size, Bytes{0}); }

TEST(arena, buffers_alive_at_once_never_overlap_and_are_aligned) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<BufferLife> buffers(random.below(30));
    for (auto& buffer : buffers) {
      buffer.size = Bytes{static_cast<std::int64_t>(1 + random.below(5000))};
      buffer.first = random.below(20);
      buffer.last = buffer.first + random.below(6);
    }
    const ArenaPlan plan = plan_arena(buffers);
    EXPECT_LE(plan.size, sum(buffers) + Bytes{64} * static_cast<std::int64_t>(buffers.size()));
    for (std::size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(plan.offsets[a].count % static_cast<std::int64_t>(network::tensor_alignment), 0);
      EXPECT_LE(plan.offsets[a] + buffers[a].size, plan.size);
      for (std::size_t b = 0; b < a; ++b) {
        const bool together =
            buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
        const bool apart = plan.offsets[a] + buffers[a].size <= plan.offsets[b] ||
                           plan.offsets[b] + buffers[b].size <= plan.offsets[a];
        EXPECT_TRUE(apart || !together);
      }
    }
  }
}

}  // namespace
}  // namespace millrace::engine
