// Faults live where kernels are fused: every heavy layer, followed by all pairs and some triples of
// what may be fused into it, against the plain loops.
#include "chains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "agreement.h"
#include "base/random.h"
#include "engine/registry.h"

namespace millrace::test {
namespace {

/// Also as many as the heads' results have rows or columns.
constexpr std::array<std::int64_t, 10> channel_counts{1, 2, 3, 5, 6, 8, 12, 16, 20, 32};

std::int64_t channels_at(std::size_t turn) { return channel_counts[turn % channel_counts.size()]; }

/// Engines that compile for each network take a share of them only.
std::size_t step_of(std::size_t share) {
  const std::string engine = engine_under_test();
  return engine == "openvino" || engine == "onnxruntime" ? share : 1;
}

constexpr double tolerance = 2e-5;

class Chains : public testing::TestWithParam<ChainHead> {
 protected:
  void SetUp() override {
    if (const Verdict verdict = engine::can_start(engine_under_test()); !verdict)
      GTEST_SKIP() << "the engine cannot start: " << verdict.reason();
  }

  void expect_right(const std::vector<const ChainStep*>& steps, std::int64_t channels) {
    const network::Network network = chain_of(GetParam(), channels, steps);
    if (!can_run_in_one_piece(network, {})) return;
    const double error = error_in_one_piece(network, {});
    std::string names = GetParam().name + " of " + std::to_string(channels) + " channels";
    for (const ChainStep* step : steps) names += ", " + step->name;
    EXPECT_LE(error, tolerance) << names;
  }

  std::vector<ChainStep> steps_ = chain_steps();
};

/// Each with two numbers of channels; with which moves on from pair to pair.
TEST_P(Chains, of_all_pairs_are_right) {
  std::size_t turn = 0;
  for (const ChainStep& first : steps_)
    for (const ChainStep& second : steps_) {
      if (turn++ % step_of(11) != 0) continue;
      expect_right({&first, &second}, channels_at(turn));
      expect_right({&first, &second}, channels_at(turn + 3));
    }
}

TEST_P(Chains, of_some_triples_are_right) {
  Random random(7);
  const auto any = [&]() { return &steps_[static_cast<std::size_t>(random.below(steps_.size()))]; };
  for (std::size_t i = 0; i < 400 / step_of(4); ++i)
    expect_right({any(), any(), any()}, channels_at(random.below(channel_counts.size())));
}

TEST_P(Chains, of_each_step_before_another_heavy_layer_are_right) {
  const ChainStep heavy = heavy_step();
  std::size_t turn = 0;
  for (const ChainStep& step : steps_)
    for (const std::int64_t channels : channel_counts)
      if (turn++ % step_of(3) == 0) expect_right({&step, &heavy}, channels);
}

/// Libraries fuse so many functions and no more; the rest must run too. Steps that keep the size of
/// results, so that rounding does not add up.
TEST_P(Chains, of_some_lengths_that_no_library_fuses_are_right) {
  constexpr std::array names{"tanh", "relu", "clip", "max_by_column", "min_number", "add_computed"};
  for (const std::size_t length : {31u, 33u, 34u, 67u})
    for (std::size_t from = 0; from < names.size(); ++from) {
      std::vector<const ChainStep*> steps;
      for (std::size_t i = 0; i < length; ++i) {
        const bool alone = from < 2;  // one function again and again
        const std::string name = names[alone ? from : (from + i) % names.size()];
        const auto is_it = [&](const ChainStep& step) { return step.name == name; };
        steps.push_back(&*std::ranges::find_if(steps_, is_it));
      }
      expect_right(steps, channels_at(from + length));
    }
}

INSTANTIATE_TEST_SUITE_P(each, Chains, testing::ValuesIn(chain_heads()),
                         [](const auto& head) { return head.param.name; });

}  // namespace
}  // namespace millrace::test
