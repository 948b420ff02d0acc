// Which engines are left out of a plan, and which not.
#include "product/planning/fewer_engines.h"

#include <gtest/gtest.h>

#include "engine/registry.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "plan/build.h"
#include "support/onnx_cases.h"

namespace millrace::product {
namespace {

/// The plan's engines, if all layers run on the first core with the first of these.
std::string engines_left(const std::string& engines) {
  const network::Network network =
      formats::read_onnx(formats::zoo_model("squeezenet1_1"), "squeezenet1_1", {});
  const board::Board board = board::only(board::this_machine(), {"core0"});
  const plan::Mapping mapping{std::vector<ProcessorId>(network.layers.size(), ProcessorId(0))};
  const plan::Plan plan = plan::build(network, board, mapping, {.engine = engines});
  const auto engine = engine::make_engine(engines);
  return with_fewer_engines(plan, network, *engine, {}).stages.front().engine;
}

TEST(FewerEngines, those_that_run_no_layer_are_left_out) {
  EXPECT_EQ(engines_left("tiled,reference"), "tiled");
}

TEST(FewerEngines, one_that_other_plans_need_on_another_core_stays) {
  if (board::this_machine().processors.size() < 2) GTEST_SKIP() << "needs two cores";
  EXPECT_EQ(engines_left("reference@core1,tiled"), "reference@core1,tiled");
}

}  // namespace
}  // namespace millrace::product
