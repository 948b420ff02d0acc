// Real networks as pipelines: the searched mapping and random ones agree with a sequential run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "agreement/known_networks.h"
#include "base/random.h"
#include "engine/registry.h"
#include "explore/choose.h"
#include "network/random_values.h"
#include "plan/build.h"
#include "profile/measure.h"
#include "runtime/compare.h"
#include "support/needs_engine.h"

namespace millrace {
namespace {

#ifdef MILLRACE_SANITIZED
constexpr int random_mappings = 5;
#else
constexpr int random_mappings = 20;
#endif
constexpr double same_kernels_differently_fused = 1e-5;

/// One engine for all tests, so that packed weights are shared and each network is packed once.
class Networks : public testing::TestWithParam<test::KnownNetwork> {
 protected:
  void SetUp() override {
    if (const auto missing = test::why_absent(GetParam()); !missing.empty())
      GTEST_SKIP() << missing;
    MILLRACE_NEEDS_ENGINE("onednn");
    engine = engine::make_engine("onednn");
    network = test::load(GetParam());
    board = board::this_machine();
    if (board.processors.size() > 2) board.processors.resize(2);
    // What runs on one processor only, as a test beside this one does, is not always on the same.
    if (GetParam().name.size() % 2 == 1)
      std::reverse(board.processors.begin(), board.processors.end());
    frames = {network::random_inputs(network, 1), network::random_inputs(network, 2)};
    own = std::make_unique<runtime::Sequential>(network, *engine, board.processors.front());
    references = runtime::run_sequentially(*own, frames);
  }

  runtime::Frames sequentially(const std::vector<board::Variant>& variants) const {
    runtime::Sequential sequential(network, *engine, board.processors.front(),
                                   {.variants = variants});
    return runtime::run_sequentially(sequential, frames);
  }

  runtime::Comparison compare(const plan::Plan& plan) const {
    const auto results = runtime::run_pipeline(plan, network, {{"onednn", engine.get()}}, frames);
    return runtime::compare(plan.variants.empty() ? references : sequentially(plan.variants),
                            results);
  }

  /// Measured on one processor: what the others take does not matter to what the plan computes.
  profile::Profile some_profile() const {
    profile::MeasureOptions measure;
    measure.warmup = 0;
    measure.least = 1;
    measure.duration = Time{};
    measure.alone = false;
    board::Board measured = board;
    measured.processors.resize(1);
    profile::Profile result = profile::measure(network, measured, *engine, measure);
    result.board = board::hash_of(board);
    for (std::size_t p = 1; p < board.processors.size(); ++p) {
      result.processors.push_back(result.processors.front());
      result.processors.back().processor = board.processors[p];
    }
    return result;
  }

  plan::Plan searched() const {
    explore::ChooseOptions choose;
    choose.genetic.population = 100;
    choose.genetic.epochs = 30;
    return explore::choose(network, board, some_profile(), choose).winner().plan;
  }

  plan::Plan random_plan(Random& random) const {
    plan::Mapping mapping;
    for (std::size_t i = 0; i < network.layers.size(); ++i)
      mapping.processors.emplace_back(random.below(board.processors.size()));
    return plan::build(network, board, mapping);
  }

  std::unique_ptr<engine::Engine> engine;
  network::Network network;
  board::Board board;
  runtime::Frames frames, references;
  std::unique_ptr<runtime::Sequential> own;  // in the engine's own variants; keeps weights packed
};

/// Nothing is proved by outputs that are the same whatever the network computes.
bool differ(const runtime::Frames& references) {
  return !runtime::compare({references[0]}, {references[1]}).bit_equal;
}

TEST_P(Networks, run_as_pipelines_equal_to_a_sequential_run) {
  EXPECT_TRUE(differ(references)) << "the outputs do not depend on the inputs";
  const runtime::Comparison comparison = compare(searched());
  EXPECT_LE(comparison.error, same_kernels_differently_fused) << "the searched mapping";
  int bit_equal = comparison.bit_equal ? 1 : 0;
  Random random(7);
  for (int i = 0; i < random_mappings; ++i) {
    const runtime::Comparison one = compare(random_plan(random));
    EXPECT_LE(one.error, same_kernels_differently_fused) << "random mapping " << i;
    bit_equal += one.bit_equal ? 1 : 0;
  }
  RecordProperty("bit_equal", bit_equal);
  std::printf("%s: %d of %d mappings bit-equal\n", GetParam().name.c_str(), bit_equal,
              random_mappings + 1);
}

std::string name_of(const testing::TestParamInfo<test::KnownNetwork>& parameter) {
  std::string name = parameter.param.name;
  const auto is_odd = [](unsigned char c) { return std::isalnum(c) == 0; };
  std::replace_if(name.begin(), name.end(), is_odd, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Networks, testing::ValuesIn(test::known_networks()), name_of);

}  // namespace
}  // namespace millrace
