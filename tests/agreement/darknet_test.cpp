// Trained Darknet detectors on every engine against the outputs of the original.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "base/random.h"
#include "engine/registry.h"
#include "plan/build.h"
#include "runtime/compare.h"
#include "support/compare.h"
#include "support/darknet.h"
#include "support/needs_engine.h"
#include "support/shared.h"

namespace millrace {
namespace {

constexpr double tolerance = 1e-3;  // of the largest absolute value of the original

plan::Plan random_plan(const network::Network& network, const board::Board& board,
                       const std::string& engine) {
  Random random(11);
  plan::Mapping mapping;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    mapping.processors.emplace_back(random.below(board.processors.size()));
  plan::BuildOptions options;
  options.engine = engine;
  return plan::build(network, board, mapping, options);
}

class DarknetDetectors : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(DarknetDetectors, give_the_originals_outputs_as_pipelines) {
  MILLRACE_NEEDS_SHARED("models/darknet");
  const auto& [name, engine_name] = GetParam();
  MILLRACE_NEEDS_ENGINE(engine_name);
  const auto stored = test::read_stored_darknet(test::shared_folder() / "models/darknet", name);
  const network::Network& network = stored.model.network;
  const auto engine = engine::make_engine(engine_name);
  const plan::Plan plan = random_plan(network, board::this_machine(), engine_name);
  const auto results =
      runtime::run_pipeline(plan, network, {{engine_name, engine.get()}}, {{stored.input}});
  ASSERT_EQ(results[0].size(), stored.layers.size());
  double worst = 0;
  for (std::size_t i = 0; i < stored.layers.size(); ++i)
    worst = std::max(worst, test::relative_error(results[0][i], stored.layers[i].values));
  EXPECT_LT(worst, tolerance);
  std::printf("%s on %s: %.1e\n", name, engine_name, worst);
}

std::string name_of(const testing::TestParamInfo<DarknetDetectors::ParamType>& parameter) {
  std::string name = std::string(std::get<0>(parameter.param)) + "_" + std::get<1>(parameter.param);
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, DarknetDetectors,
                         testing::Combine(testing::Values("yolo-fastest-1.1",
                                                          "yolo-fastest-1.1_body",
                                                          "MobileNetV2-YOLOv3-Nano-coco"),
                                          testing::Values("onednn", "reference")),
                         name_of);

}  // namespace
}  // namespace millrace
