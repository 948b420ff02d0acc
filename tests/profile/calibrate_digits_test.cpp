// The ranges found for the trained network of models/ keep its accuracy at 8 bits.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/registry.h"
#include "formats/read.h"
#include "network/evaluate/evaluate.h"
#include "network/npy.h"
#include "profile/calibrate.h"
#include "profile/loss.h"
#include "support/needs_engine.h"
#include "support/quantised_loops.h"

namespace millrace::profile {
namespace {

using network::Array;

const std::filesystem::path models = std::filesystem::path(MILLRACE_SOURCE_DIR) / "models";

class CalibrateDigits : public testing::TestWithParam<RangeMethod> {
 protected:
  void SetUp() override { MILLRACE_NEEDS_ENGINE("onednn"); }
  std::vector<Array> frame(std::size_t i) const {
    return {network::make_array<float>(network::DataType::float32, {1, 1, 8, 8},
                                       images.values<float>().subspan(i * 64, 64))};
  }
  Samples samples(std::size_t first, std::size_t count) const {
    return {count, [this, first](std::size_t i) { return frame(first + i); }};
  }
  network::Calibration calibrated(const Samples& frames) const {
    const auto engine = engine::make_engine("onednn");
    const board::Processor processor = board::this_machine().processors.front();
    return calibrate({&network, engine.get(), processor}, frames, {.method = GetParam()})
        .table.calibration;
  }

  network::Network network = formats::read_network(models / "digits.onnx");
  Array images = network::read_npy(models / "digits_test_images.npy");
};

TEST_P(CalibrateDigits, one_half_of_the_images_serves_the_other) {
  const network::Calibration table = calibrated(samples(0, 180));
  EXPECT_TRUE(network::fits(table, network));
  const network::Network rounded = test::with_rounded_weights(network);
  Loss loss;
  for (std::size_t i = 180; i < 360; ++i) {
    const auto expected = network::evaluate(network, frame(i));
    const auto found = test::compute_rounded(rounded, table, frame(i));
    add_frame(loss, expected, found, compare_top_answers(expected, found));
  }
  RecordProperty("changed", std::to_string(loss.changed));
  RecordProperty("mean_error", std::to_string(loss.mean_error));
  EXPECT_LE(loss.changed_share(), 0.01);
  EXPECT_GT(loss.mean_error, 0);  // it was rounded
  EXPECT_LT(loss.mean_error, 0.02);
}

TEST_P(CalibrateDigits, the_engine_keeps_the_answers_in_int8) {
  const auto engine = engine::make_engine("onednn");
  const board::Processor processor = board::this_machine().processors.front();
  const board::Variant low{board::Precision::int8, {}};
  std::vector<board::Variant> variants(network.layers.size());
  std::size_t lowered = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const auto ways = engine->variants(network, LayerId(i), processor);
    if (std::find(ways.begin(), ways.end(), low) == ways.end()) continue;
    variants[i] = low;
    ++lowered;
  }
  if (lowered == 0) GTEST_SKIP() << "needs a processor with instructions for int8";
  EXPECT_EQ(lowered, 5u);  // four convolutions and the product
  const network::Calibration table = calibrated(samples(0, 180));
  const Loss loss =
      LossMeter({&network, engine.get(), processor}, samples(180, 180)).measure(variants, &table);
  RecordProperty("changed", std::to_string(loss.changed));
  RecordProperty("mean_error", std::to_string(loss.mean_error));
  EXPECT_LE(loss.changed_share(), 0.01);
  EXPECT_GT(loss.mean_error, 0);
  EXPECT_LT(loss.mean_error, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Every, CalibrateDigits,
                         testing::Values(RangeMethod::minmax, RangeMethod::percentile,
                                         RangeMethod::entropy, RangeMethod::squares),
                         [](const auto& method) { return to_text(method.param); });

}  // namespace
}  // namespace millrace::profile
