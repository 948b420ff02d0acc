// Networks shared between processors with different engines agree with the plain loops.
#include <gtest/gtest.h>

#include "engine/registry.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "network/random_values.h"
#include "plan/build.h"
#include "plan/variants.h"
#include "runtime/compare.h"
#include "support/needs_engine.h"

namespace millrace {
namespace {

/// Contiguous parts with about these shares of the multiply-accumulates, on the board's processors.
plan::Mapping parted(const network::Network& network, const std::vector<double>& shares) {
  const auto macs = [&](LayerId layer) {
    return static_cast<double>(network::cost_of(network, layer).macs);
  };
  double all = 0, before = 0, end = shares[0];
  for (std::size_t i = 0; i < network.layers.size(); ++i) all += macs(LayerId(i));
  plan::Mapping mapping;
  std::size_t part = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    mapping.processors.emplace_back(part);
    before += macs(LayerId(i)) / all;
    if (part + 1 < shares.size() && before >= end) end += shares[++part];
  }
  return mapping;
}

class SharedNetworks : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    MILLRACE_NEEDS_ENGINE("onednn");
    network_ = formats::read_onnx(formats::zoo_model(GetParam()), GetParam(), {});
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
      frames_.push_back(network::random_inputs(network_, seed));
  }

  void expect_the_results_of_the_loops(const plan::Plan& plan,
                                       const std::map<std::string, engine::Engine*>& engines) {
    const auto reference = engine::make_engine("reference");
    runtime::Sequential sequential(network_, *reference, board::this_machine().processors.front());
    const runtime::Comparison comparison =
        runtime::compare(runtime::run_sequentially(sequential, frames_),
                         runtime::run_pipeline(plan, network_, engines, frames_));
    EXPECT_EQ(comparison.frames, std::ssize(frames_));
    EXPECT_LE(comparison.error, 1e-3);
  }

  network::Network network_;
  runtime::Frames frames_;
};

TEST_P(SharedNetworks, run_on_two_cores_and_a_device_at_once) {
  const auto reached = engine::reached_devices();
  if (reached.empty()) GTEST_SKIP() << "no engine reaches a GPU or NPU here";
  board::Board board = board::this_machine();
  if (board.processors.size() > 2) board.processors.resize(2);
  const board::Processor device = board::processors_of(reached.front().device).front();
  board.processors.push_back(device);
  const std::string name = "onednn," + reached.front().engine + "@" + device.name;
  const auto engine = engine::make_engine(name);
  const std::vector<double> shares =
      board.processors.size() == 3 ? std::vector{0.45, 0.45, 0.1} : std::vector{0.9, 0.1};
  const plan::Plan plan = plan::build(network_, board, parted(network_, shares), {.engine = name});
  EXPECT_EQ(plan.stages.size(), board.processors.size());
  expect_the_results_of_the_loops(plan, {{name, engine.get()}});
}

TEST_P(SharedNetworks, run_with_another_engine_on_each_core) {
  board::Board board = board::this_machine();
  if (board.processors.size() < 2) GTEST_SKIP() << "needs two cores";
  board.processors.resize(2);
  bool any = false;
  for (const char* name : {"openvino", "onnxruntime"}) {
    const auto all = engine::engine_names();
    if (std::ranges::find(all, name) == all.end() || !engine::can_start(name)) continue;
    any = true;
    const auto first = engine::make_engine("onednn"), second = engine::make_engine(name);
    const plan::Plan plan = plan::with_engine(
        plan::build(network_, board, parted(network_, {0.5, 0.5})),
        [](const plan::Stage& stage) { return stage.name == "stage1"; }, name);
    expect_the_results_of_the_loops(plan, {{"onednn", first.get()}, {name, second.get()}});
  }
  if (!any) GTEST_SKIP() << "neither OpenVINO nor ONNX Runtime is here";
}

INSTANTIATE_TEST_SUITE_P(each, SharedNetworks,
                         testing::Values("resnet18", "mobilenet_v2", "squeezenet1_1",
                                         "yolov4_tiny"),
                         [](const auto& network) { return network.param; });

}  // namespace
}  // namespace millrace
