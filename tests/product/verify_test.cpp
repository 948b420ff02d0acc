#include "product/verify.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "network/evaluate/evaluate.h"
#include "network/npy.h"
#include "plan/plan_file.h"
#include "product/calibrate.h"
#include "product/heard.h"
#include "product/planning/make_plan.h"
#include "support/network_builder.h"
#include "support/onnx_model.h"
#include "support/temporary_folder.h"

namespace millrace::product {
namespace {

using test::digits;

class Verify : public testing::Test {
 protected:
  Verify() { setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }

  VerifyResult verify_plan(const plan::Plan& plan, const network::Network& network) const {
    const auto path = folder_ / "a.plan.json";
    plan::Origin origin;
    origin.network = plan.network_hash;
    origin.model.file = digits;
    plan::write_plan(path, {plan, origin, plan::no_evidence(plan)}, network);
    VerifyRequest request;
    request.runnable.model.source.file = path;
    request.mappings = 0;
    return verify(request);
  }

  const test::TemporaryFolder folder_;
};

TEST_F(Verify, a_model_and_its_random_mappings_agree) {
  VerifyRequest request;
  request.runnable.model.source.file = digits;
  request.mappings = 3;
  const VerifyResult result = verify(request);
  EXPECT_TRUE(result.equal()) << result.why;
  ASSERT_EQ(result.plans.size(), 4u);
  EXPECT_EQ(result.plans[0].name, "one processor");
  EXPECT_EQ(result.plans[3].name, "random mapping 3");
}

/// The root of a difference that is zero to the reference: rounded otherwise it may be below zero.
TEST_F(Verify, what_is_no_number_where_the_reference_has_one_is_a_difference) {
  constexpr std::int64_t count = 4096;
  Random random(3);
  const network::Array x =
      test::random_array(random, network::DataType::float32, {1, count}, {-4, 4});
  network::write_npy(folder_ / "x.npy", x);
  test::OnnxModel logistic;
  logistic.input("x", {1, count}).output("y").node("Sigmoid", {"x"}, {"y"});
  test::OnnxModel model;
  model.input("x", {1, count}).output("y");
  model.weight("same", network::evaluate(logistic.read(), std::vector{x}).at(0));
  model.node("Sigmoid", {"x"}, {"s"});
  model.node("Sub", {"s", "same"}, {"d"});
  model.node("Sqrt", {"d"}, {"y"});
  std::ofstream(folder_ / "roots.onnx", std::ios::binary) << model.bytes();
  VerifyRequest request;
  request.runnable.model.source.file = (folder_ / "roots.onnx").string();
  request.frames.inputs = {"x=" + (folder_ / "x.npy").string()};
  request.mappings = 0;
  const VerifyResult result = verify(request);
  EXPECT_FALSE(result.equal());
  EXPECT_NE(result.why.find("no finite number"), std::string::npos) << result.why;
}

TEST_F(Verify, a_doctored_plan_differs_and_the_first_layer_is_named) {
  CalibrateRequest calibration;
  calibration.setup.source.file = digits;
  calibration.frames.random = 8;
  calibration.output = (folder_ / "digits.calibration.json").string();
  PlanRequest request;
  request.setup.source.file = digits;
  request.variants.precisions = {board::Precision::int8};
  request.loss.calibration = calibration.output;
  request.measure_s = 0;
  request.genetic.epochs = 5;
  PlanResult made;
  try {
    calibrate(calibration);
    made = make_plan(request);
  } catch (const InputError& error) {
    GTEST_SKIP() << "no int8 here: " << error.what();
  }
  EXPECT_TRUE(verify_plan(made.file.plan, made.network).equal());
  plan::Plan doctored = made.file.plan;
  for (auto& [name, range] : doctored.calibration->ranges)
    range = {range.low / 100, range.high / 100};
  const VerifyResult result = verify_plan(doctored, made.network);
  EXPECT_FALSE(result.equal());
  EXPECT_FALSE(result.plans.front().within_tolerance);
  EXPECT_NE(result.why.find("the first layer that differs is "), std::string::npos) << result.why;
}

}  // namespace
}  // namespace millrace::product
