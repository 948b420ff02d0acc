// Whether the importer and the plain loops agree with ONNX's own cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "support/onnx_cases.h"

namespace millrace::test {
namespace {

constexpr std::string_view old = "supported are 7 to 25";
constexpr std::string_view other_data = "the network expects float32 3x4";  // than the model says
constexpr std::string_view training = "only inference is supported";

/// What is refused, each with words of the message that says why.
const Exceptions node_exceptions{
    {"node/test_training_dropout", training},
    {"node/test_training_dropout_default", training},
    {"node/test_training_dropout_default_mask", training},
    {"node/test_training_dropout_mask", training},
    {"node/test_castlike_BFLOAT16_to_FLOAT", other_data},
    {"node/test_castlike_BFLOAT16_to_FLOAT_expanded", other_data},
    {"node/test_castlike_FLOAT_to_BFLOAT16", other_data},
    {"node/test_castlike_FLOAT_to_BFLOAT16_expanded", other_data},
    {"node/test_cast_FLOAT_to_STRING", "string"},
    {"node/test_cast_STRING_to_FLOAT", "string"},
    {"node/test_castlike_FLOAT_to_STRING_expanded", "string"},
    {"node/test_castlike_STRING_to_FLOAT_expanded", "string"},
    {"node/test_identity_opt", "not a tensor"},
    {"node/test_identity_sequence", "not a tensor"},
    {"node/test_castlike_FLOAT_to_STRING", "string"},
    {"node/test_castlike_STRING_to_FLOAT", "string"},
    {"node/test_if_opt", "'Optional' is not supported"},
    {"node/test_if_seq", "'SequenceConstruct' is not supported"},
    {"node/test_loop13_seq", "not a tensor"},
    {"node/test_loop16_seq_none", "not a tensor"},
    {"node/test_instancenorm_epsilon", old},
    {"node/test_instancenorm_example", old},
    {"node/test_not_2d", old},
    {"node/test_not_3d", old},
    {"node/test_not_4d", old},
    {"node/test_reduce_log_sum", old},
    {"node/test_selu", old},
    {"node/test_selu_default", old},
    {"node/test_selu_example", old},
    {"node/test_softsign", old},
    {"node/test_softsign_example", old},
    {"node/test_elu", old},
    {"node/test_elu_default", old},
    {"node/test_elu_example", old},
    {"node/test_globalaveragepool", old},
    {"node/test_globalaveragepool_precomputed", old},
    {"node/test_globalmaxpool", old},
    {"node/test_globalmaxpool_precomputed", old},
    {"node/test_hardsigmoid", old},
    {"node/test_hardsigmoid_default", old},
    {"node/test_hardsigmoid_example", old},
    {"node/test_softplus", old},
    {"node/test_softplus_example", old},
};

/// Operators whose meaning changed with opset 7, in models of opset 6.
const Exceptions raised_exceptions{
    {"pytorch-converted/test_BatchNorm1d_3d_input_eval", "'is_test'"},
    {"pytorch-converted/test_BatchNorm2d_eval", "'is_test'"},
    {"pytorch-converted/test_BatchNorm2d_momentum_eval", "'is_test'"},
    {"pytorch-converted/test_BatchNorm3d_eval", "'is_test'"},
    {"pytorch-converted/test_BatchNorm3d_momentum_eval", "'is_test'"},
    {"pytorch-converted/test_Linear", "'broadcast'"},
    {"pytorch-converted/test_PReLU_1d_multiparam", "slope '1' has shape 3"},
    {"pytorch-converted/test_PReLU_2d_multiparam", "slope '1' has shape 3"},
    {"pytorch-converted/test_PReLU_3d_multiparam", "slope '1' has shape 3"},
    {"pytorch-converted/test_Softsign", "'broadcast'"},
    {"pytorch-operator/test_operator_add_broadcast", "'broadcast'"},
    {"pytorch-operator/test_operator_add_size1_broadcast", "'broadcast'"},
    {"pytorch-operator/test_operator_add_size1_right_broadcast", "'broadcast'"},
    {"pytorch-operator/test_operator_add_size1_singleton_broadcast", "'broadcast'"},
    {"pytorch-operator/test_operator_addconstant", "'broadcast'"},
    {"pytorch-operator/test_operator_addmm", "'broadcast'"},
    {"pytorch-operator/test_operator_mm", "'broadcast'"},
};

std::vector<OnnxCase> cases_where(const std::vector<std::string>& groups,
                                  const std::function<bool(const OnnxCase&)>& wanted) {
  std::vector<OnnxCase> result;
  for (const std::string& group : groups)
    std::ranges::copy_if(onnx_cases(group), std::back_inserter(result), wanted);
  return result;
}

class OnnxCases : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(onnx_cases_folder()))
      GTEST_SKIP() << "needs " << onnx_cases_folder().string() << " (package libonnx-testdata)";
  }
  static void expect_none(const Tally& tally) {
    for (const std::string& surprise : tally.surprises) ADD_FAILURE() << surprise;
  }
};

TEST_F(OnnxCases, of_single_operators_pass_but_for_the_exceptions) {
  const std::vector<OnnxCase> cases = onnx_cases("node");
  if (cases.size() != 866)
    GTEST_SKIP() << "the exceptions are for the 866 cases of Debian 12's package, not for "
                 << cases.size();
  const Tally tally = run_cases(cases, compute_by_loops, node_exceptions);
  EXPECT_EQ(tally.passed + node_exceptions.size(), cases.size());
  EXPECT_GE(tally.passed, 810u);
  expect_none(tally);
}

/// Whichever ONNX they come from: what cannot be computed is refused.
TEST_F(OnnxCases, of_single_operators_never_give_wrong_values) {
  const std::vector<OnnxCase> cases = onnx_cases("node");
  const Tally tally = run_cases(cases, compute_by_loops, {});
  EXPECT_GE(tally.passed, 810u);
  for (const std::string& wrong : tally.wrong) ADD_FAILURE() << wrong;
}

TEST_F(OnnxCases, from_frameworks_pass_without_exception) {
  const std::vector<OnnxCase> cases =
      cases_where({"pytorch-converted", "pytorch-operator", "simple"},
                  [](const OnnxCase& test) { return test.opset >= 7; });
  EXPECT_FALSE(cases.empty());
  expect_none(run_cases(cases, compute_by_loops, {}));
}

/// Most of the package's models are of opset 6 or older, and mean the same in opset 7.
TEST_F(OnnxCases, of_older_opsets_pass_as_opset_7_but_for_what_changed) {
  const std::vector<OnnxCase> cases =
      cases_where({"node", "pytorch-converted", "pytorch-operator"},
                  [](const OnnxCase& test) { return test.opset < 7; });
  EXPECT_GT(cases.size(), 100u);
  expect_none(run_cases(cases, compute_by_loops, raised_exceptions, 7));
}

/// What ONNX Runtime itself made of them, in a folder here.
void expect_all_pass(const std::string& name, std::size_t least) {
  const std::filesystem::path folder =
      std::filesystem::path(MILLRACE_SOURCE_DIR) / "tests/formats/onnx" / name;
  std::vector<OnnxCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    cases.push_back({entry.path().filename().string(), entry.path(), 17});
  EXPECT_GE(cases.size(), least);
  const Tally tally = run_cases(cases, compute_by_loops, {});
  EXPECT_EQ(tally.passed, cases.size());
  for (const std::string& surprise : tally.surprises) ADD_FAILURE() << surprise;
}

/// write_quantised_cases.py
TEST(QuantisedCases, of_onnx_runtimes_quantiser_pass) { expect_all_pass("quantised_cases", 36); }
/// write_fused_cases.py
TEST(FusedCases, of_onnx_runtimes_optimisers_pass) { expect_all_pass("fused_cases", 99); }

}  // namespace
}  // namespace millrace::test
