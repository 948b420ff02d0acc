// Plans of format 2 give the results that they gave: those of the network.
#include <gtest/gtest.h>

#include "engine/reference/reference.h"
#include "network/evaluate/evaluate.h"
#include "network/random_values.h"
#include "network/read.h"
#include "plan/variants.h"
#include "runtime/compare.h"
#include "runtime/session.h"
#include "schedule/read_plan.h"

namespace millrace {
namespace {

constexpr std::size_t frames = 21;  // full batches and a part of one

const std::filesystem::path folder =
    std::filesystem::path(MILLRACE_SOURCE_DIR) / "tests/plan/format_2";

class OldPlans : public testing::TestWithParam<const char*> {};

TEST_P(OldPlans, give_the_results_of_the_network) {
  const network::Network network =
      network::read_network(std::filesystem::path(MILLRACE_SOURCE_DIR) / "models/digits.onnx");
  const auto file = schedule::read_plan(folder / (GetParam() + std::string(".plan.json")), network);
  const auto reference = engine::reference::make();
  const plan::Plan plan = plan::with_variants(file.plan, plan::Variants{});
  runtime::Session session = runtime::deploy(
      plan, network, {{"onednn", reference.get()}, {plan::simulated_engine, reference.get()}},
      {.pin = false});
  std::size_t submitted = 0;
  for (std::size_t f = 0; f < frames; ++f) {
    while (submitted < frames &&
           session.submit_unless_result(network::random_inputs(network, submitted)))
      ++submitted;
    if (submitted == frames) session.finish();
    const auto result = session.next();
    ASSERT_TRUE(result);
    const auto expected = network::evaluate(network, network::random_inputs(network, f));
    EXPECT_TRUE(runtime::compare({expected}, {result->outputs}).bit_equal) << f;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OldPlans,
                         testing::Values("batches", "f16", "first_free_batches",
                                         "replicas_of_a_part", "replicas_of_all_parts",
                                         "skipped_edges"));

}  // namespace
}  // namespace millrace
