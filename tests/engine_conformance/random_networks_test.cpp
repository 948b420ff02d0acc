// Random networks on every engine that computes, in every precision, against the plain loops.
#include <gtest/gtest.h>

#include <cstdlib>

#include "agreement.h"
#include "base/random.h"
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
  for (std::uint64_t seed = 1; seed <= network_count(); ++seed) {
    Random random(seed);
    const network::Network network = varied_network(random, 12);
    EXPECT_LE(error_in_one_piece(network, {.seed = seed}), 1e-4) << "seed " << seed << "\n"
                                                            << text_of(network);
  }
}

// Each layer with an engine of its own: the layouts between them fit, and no tensor is lost.
TEST(RandomNetworks, give_the_same_results_with_engines_that_share_the_layers) {
  for (std::uint64_t seed = 1; seed <= network_count() / 4; ++seed) {
    Random random(seed);
    const network::Network network = varied_network(random, 12);
    AgreementOptions options{.engine = "onednn,reference", .seed = seed};
    for (std::size_t i = 0; i < network.layers.size(); ++i)
      options.variants.push_back({board::Precision::f32, random.below(2) == 0 ? "" : "reference"});
    EXPECT_LE(error_in_one_piece(network, options), 1e-4) << "seed " << seed << "\n"
                                                          << text_of(network);
  }
}

}  // namespace
}  // namespace millrace::test
