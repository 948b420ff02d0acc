#include "product/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "network/npy.h"
#include "product/cache.h"
#include "profile/profile_file.h"
#include "support/onnx_model.h"
#include "support/temporary_folder.h"

namespace millrace::product {
namespace {

using network::Shape;
using test::floats;

class RunModel : public testing::Test {
 protected:
  RunModel() { setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }

  RunTotals run_model(const test::OnnxModel& model, const network::Array& x) const {
    network::write_npy(folder_ / "x.npy", x);
    application::FrameOptions frames;
    frames.inputs = {"x=" + (folder_ / "x.npy").string()};
    return run_frames(model, frames);
  }
  RunTotals run_frames(const test::OnnxModel& model,
                       const application::FrameOptions& frames) const {
    std::ofstream(folder_ / "m.onnx", std::ios::binary) << model.bytes();
    RunRequest request;
    request.runnable.model.source.file = (folder_ / "m.onnx").string();
    request.frames = frames;
    request.output = (folder_ / "y.jsonl").string();
    return run(request);
  }
  /// Profiles of models that were measured for a run. A process has one cache folder.
  std::vector<std::filesystem::path> kept_profiles() const {
    std::vector<std::filesystem::path> found;
    std::error_code none;
    for (const auto& each : std::filesystem::directory_iterator(*cache_folder({}), none))
      if (each.path().string().ends_with(".quick.profile.json")) found.push_back(each.path());
    return found;
  }

  const test::TemporaryFolder folder_;
};

/// Large numbers become inf - inf; what the function makes of it looks usual.
test::OnnxModel overflowing(const std::string& function) {
  test::OnnxModel model;
  model.input("x", {1, 2, 2, 2}).output("y");
  model.weight("w", floats({1, 2, 1, 1}, {1, -1}));
  model.node("Exp", {"x"}, {"e"});
  model.node("Conv", {"e", "w"}, {"c"}).named("conv").set_list("kernel_shape", {1, 1});
  if (function == "MaxPool")
    model.node(function, {"c"}, {"y"}).set_list("kernel_shape", {2, 2});
  else
    model.node(function, {"c"}, {"y"});
  return model;
}

TEST_F(RunModel, names_the_layer_that_makes_nan_which_later_ones_may_hide) {
  const network::Array usual = floats({1, 2, 2, 2}, {.1f, .2f, .3f, .4f, .5f, .6f, .7f, .8f});
  const network::Array large = floats({1, 2, 2, 2}, {1, 200, 1, 1, 1, 200, 1, 1});
  for (const std::string function : {"Relu", "MaxPool", "HardSigmoid", "Sign"}) {
    EXPECT_EQ(run_model(overflowing(function), usual).nan_layer, "") << function;
    EXPECT_EQ(run_model(overflowing(function), large).nan_layer, "conv") << function;
  }
}

TEST_F(RunModel, keeps_nan_in_functions_of_their_own) {
  test::OnnxModel model;
  model.input("x", {1, 20}).output("y");
  model.node("Log", {"x"}, {"l"}).named("log");
  model.node("Relu", {"l"}, {"y"});
  std::vector<float> values(20, 2);
  values[3] = -1;
  const RunTotals totals = run_model(model, floats({1, 20}, values));
  EXPECT_FALSE(totals.finite);
  EXPECT_EQ(totals.nan_layer, "log");
}

TEST_F(RunModel, measures_the_variants_of_a_model_for_many_frames) {
  test::OnnxModel model;
  model.input("x", {1, 16, 24, 24}).output("y");
  model.weight("w", Shape{16, 16, 3, 3});
  model.node("Conv", {"x", "w"}, {"y"}).set_list("pads", {1, 1, 1, 1});
  application::FrameOptions few, many;
  few.random = 3;
  many.random = 40;
  EXPECT_EQ(run_frames(model, few).frames, 3);
  EXPECT_TRUE(kept_profiles().empty());
  EXPECT_EQ(run_frames(model, many).frames, 40);
  const auto kept = kept_profiles();
  ASSERT_EQ(kept.size(), 1u);
  const auto written = std::filesystem::last_write_time(kept[0]);
  const profile::Profile profile = profile::read_profile(kept[0]);
  ASSERT_EQ(profile.processors.size(), 1u);
  const profile::LayerTimes& layer = profile.processors[0].layers.at(0);
  EXPECT_GT(layer.alternatives.size(), 1u);
  EXPECT_EQ(run_frames(model, many).frames, 40);
  EXPECT_EQ(std::filesystem::last_write_time(kept[0]), written);  // measured once
}

}  // namespace
}  // namespace millrace::product
