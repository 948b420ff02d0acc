#include "questions.h"

#include <gtest/gtest.h>

#include "a_subnet.h"

namespace millrace::test {
namespace {

using namespace millrace_rknn;

TEST(RknnQuestions, a_convolution_and_its_relu_run) {
  const ASubnet given;
  EXPECT_EQ(can_run(given.subnet).reason, millrace_runs);
  EXPECT_TRUE(has_int8(given.subnet));
}

TEST(RknnQuestions, an_operator_that_is_not_known_is_to_blame) {
  ASubnet given;
  given.nodes[1].op = "NonMaxSuppression";
  const NpuAnswer answer = can_run(given.subnet);
  EXPECT_EQ(answer.reason, millrace_no_operator);
  EXPECT_EQ(answer.node, 1U);
}

TEST(RknnQuestions, types_shapes_and_precisions_are_limited) {
  ASubnet given;
  given.tensors[0].rank = 5;
  EXPECT_EQ(can_run(given.subnet).reason, millrace_no_shape);
  given.tensors[0].type = millrace_int64;
  EXPECT_EQ(can_run(given.subnet).reason, millrace_no_type);
  given.layers[0].precision = millrace_f32;
  EXPECT_EQ(can_run(given.subnet).reason, millrace_no_precision);
}

}  // namespace
}  // namespace millrace::test
