#include "profile/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/registry.h"
#include "formats/read.h"
#include "network/evaluate/evaluate.h"
#include "network/npy.h"
#include "support/message_of.h"
#include "support/network_builder.h"

namespace millrace::profile {
namespace {

using network::Array;
using network::DataType;
using network::Network;
using network::Range;
using network::UnaryKind;

Samples samples_of(const std::vector<std::vector<float>>& frames, const network::Shape& shape) {
  return {
      frames.size(), [=](std::size_t i) {
        return std::vector<Array>{network::make_array<float>(DataType::float32, shape, frames[i])};
      }};
}

/// input -> relu -> scaled by -2
Network small_network() {
  test::NetworkBuilder builder;
  const TensorId input = builder.input({1, 4});
  const TensorId relu = builder.unary(UnaryKind::relu, input);
  const TensorId two =
      builder.constant(network::make_array<float>(DataType::float32, {1}, std::vector<float>{-2}));
  builder.output(builder.binary(network::BinaryKind::mul, relu, two));
  return builder.build();
}

CalibrationResult calibrated(const Network& network, const Samples& samples,
                             const CalibrateOptions& options) {
  const auto engine = engine::make_engine("reference");
  return calibrate({&network, engine.get(), board::this_machine().processors.front()}, samples,
                   options);
}

TEST(Calibrate, finds_what_inputs_and_every_layer_reach_over_all_frames) {
  const Network network = small_network();
  const auto result = calibrated(network, samples_of({{-3, 0, 1, 2}, {-1, 0, 5, 1}}, {1, 4}),
                                 {.method = RangeMethod::minmax});
  const auto range = [&](TensorId id) {
    return result.table.calibration.ranges.at(network[id].name);
  };
  EXPECT_EQ(result.table.calibration.ranges.size(), 3u);
  EXPECT_EQ(range(network.inputs[0]), (Range{-3, 5}));
  EXPECT_EQ(range(network.layers[0].outputs[0]), (Range{0, 5}));
  EXPECT_EQ(range(network.layers[1].outputs[0]), (Range{-10, 0}));
  EXPECT_EQ(result.table.calibration.network, network::hash_of(network));
  EXPECT_EQ(result.table.frames, 2);
  EXPECT_EQ(result.table.method, "minmax");
}

TEST(Calibrate, finds_the_means_of_what_convolutions_read_if_that_is_asked_for) {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({1, 2, 2, 2});
  builder.output(builder.conv(builder.unary(UnaryKind::relu, x), 3, test::window(1)));
  const Network network = builder.build();
  const Samples samples =
      samples_of({{1, 2, 3, 4, 0, 0, 0, 8}, {1, 1, 1, 1, -4, 0, 0, 0}}, {1, 2, 2, 2});
  EXPECT_TRUE(calibrated(network, samples, {}).table.calibration.means.empty());
  const auto means = calibrated(network, samples, {.means = true}).table.calibration.means;
  ASSERT_EQ(means.size(), 1u);
  EXPECT_EQ(means.at(network[network.layers[1].inputs[0]].name), (std::vector<float>{1.75f, 1.f}));
}

TEST(Calibrate, finds_the_same_in_one_run_and_in_many) {
  const Network network = small_network();
  const Samples samples = samples_of({{-3, 0, 1, 2}, {-1, 0, 5, 1}}, {1, 4});
  for (const RangeMethod method :
       {RangeMethod::minmax, RangeMethod::percentile, RangeMethod::entropy, RangeMethod::squares}) {
    const auto together = calibrated(network, samples, {.method = method});
    const auto apart = calibrated(network, samples, {.method = method, .observed = Bytes{1}});
    EXPECT_EQ(together.table, apart.table) << to_text(method);
  }
}

TEST(Calibrate, gives_tensors_that_share_a_name_a_range_that_holds_both) {
  Network network = small_network();
  for (network::Tensor& tensor : network.tensors) tensor.name = "same";
  const auto result =
      calibrated(network, samples_of({{-3, 0, 1, 2}}, {1, 4}), {.method = RangeMethod::minmax});
  ASSERT_EQ(result.table.calibration.ranges.size(), 1u);
  EXPECT_EQ(result.table.calibration.ranges.at("same"), (Range{-4, 2}));
}

TEST(Calibrate, refuses_frames_that_say_nothing) {
  const Network network = small_network();
  EXPECT_NE(test::message_of([&] {
              calibrated(network, samples_of({}, {1, 4}), {});
            }).find("no frames"),
            std::string::npos);
  EXPECT_NE(test::message_of([&] {
              calibrated(network, samples_of({{1, 1, 1, 1}, {1, std::nanf(""), 1, 1}}, {1, 4}), {});
            }).find("not a number on frame 1"),
            std::string::npos);
  EXPECT_NE(test::message_of([&] {
              calibrated(network, samples_of({{1, 2}}, {1, 2}), {});
            }).find("found float32 1x2, expected float32 1x4"),
            std::string::npos);
}

TEST(Calibrate, reports_its_progress_up_to_the_end) {
  double last = 0;
  CalibrateOptions options;
  options.progress = [&](double share) { last = share; };
  calibrated(small_network(), samples_of({{1, 2, 3, 4}}, {1, 4}), options);
  EXPECT_EQ(last, 1);
}

}  // namespace
}  // namespace millrace::profile
