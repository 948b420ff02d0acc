// Random networks on every engine that computes, in every precision, against the plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "agreement.h"
#include "base/random.h"
#include "engine/registry.h"
#include "network/evaluate/evaluate.h"
#include "support/varied_network.h"

namespace millrace::test {
namespace {

/// More on request: MILLRACE_RANDOM_NETWORKS=20000.
std::uint64_t network_count() {
  const char* const asked = std::getenv("MILLRACE_RANDOM_NETWORKS");
  return asked == nullptr ? 2000 : std::strtoull(asked, nullptr, 10);
}

TEST(RandomNetworks, give_the_results_of_the_loops) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 1; seed <= network_count(); ++seed) {
    Random random(seed);
    const network::Network network = varied_network(random, 12);
    if (!can_run_in_one_piece(network, {})) continue;
    ++compared;
    EXPECT_LE(error_in_one_piece(network, {.seed = seed}), 1e-4) << "seed " << seed << "\n"
                                                            << text_of(network);
  }
  EXPECT_GE(compared, engine_under_test() == "onednn" ? network_count() : network_count() / 2);
}

/// Each layer in one of all ways that the engines have, by chance.
void expect_agreement_of(const std::string& engines, std::uint64_t networks) {
  const auto engine = engine::make_engine(engines);
  const board::Processor core = board::this_machine().processors.front();
  for (std::uint64_t seed = 1; seed <= networks; ++seed) {
    Random random(seed);
    const network::Network network = varied_network(random, 12);
    AgreementOptions options{.engine = engines, .seed = seed};
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      std::vector<board::Variant> ways = engine->variants(network, LayerId(i), core);
      std::erase_if(
          ways, [](const board::Variant& way) { return way.precision != board::Precision::f32; });
      options.variants.push_back(ways.at(random.below(ways.size())));
    }
    EXPECT_LE(error_in_one_piece(network, options), 1e-4) << "seed " << seed << "\n"
                                                          << text_of(network);
  }
}

// The layouts between engines fit, and no tensor is lost.
TEST(RandomNetworks, give_the_same_results_with_engines_that_share_the_layers) {
  expect_agreement_of("onednn,reference", network_count() / 4);
}

TEST(RandomNetworks, give_the_same_results_with_libraries_that_share_the_layers) {
  std::string engines = "onednn";
  for (const char* name : {"openvino", "onnxruntime"})
    if (const auto all = engine::engine_names();
        std::ranges::find(all, name) != all.end() && engine::can_start(name))
      engines += std::string(",") + name;
  if (engines == "onednn") GTEST_SKIP() << "neither OpenVINO nor ONNX Runtime is here";
  expect_agreement_of(engines, network_count() / 40);
}

/// As far as OpenVINO runs them, which takes longer to compile them.
TEST(RandomNetworks, give_the_results_of_the_loops_on_openvino) {
  const std::vector<std::string> engines = engine::engine_names();
  if (std::ranges::find(engines, "openvino") == engines.end())
    GTEST_SKIP() << "this build has no engine openvino";
  if (const Verdict verdict = engine::can_start("openvino"); !verdict)
    GTEST_SKIP() << verdict.reason();
  const auto openvino = engine::make_engine("openvino");
  const board::Processor core = board::this_machine().processors.front();
  std::uint64_t compared = 0;
  const std::uint64_t asked = network_count() / 20;
  for (std::uint64_t seed = 1; seed <= asked; ++seed) {
    Random random(seed);
    const network::Network network = varied_network(random, 12);
    if (!openvino->supports(network, engine::whole_network(network, core).layers, core)) continue;
    ++compared;
    EXPECT_LE(error_in_one_piece(network, {.engine = "openvino", .seed = seed}), 1e-4)
        << "seed " << seed << "\n"
        << text_of(network);
  }
  EXPECT_GE(compared, asked / 2);
}

}  // namespace
}  // namespace millrace::test
