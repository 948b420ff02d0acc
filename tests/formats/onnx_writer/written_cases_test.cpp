// ONNX's own cases: read, written, read back and computed by the plain loops.
#include <gtest/gtest.h>

#include <algorithm>

#include "formats/onnx_writer/write_onnx.h"
#include "formats/read.h"
#include "support/onnx_cases.h"

namespace millrace::test {
namespace {

std::vector<network::Array> compute_written(const network::Network& network,
                                            std::span<const network::Array> inputs) {
  return compute_by_loops(formats::read_onnx(formats::write_onnx(network).bytes, "written", {}),
                          inputs);
}

/// Models of old opsets are read as ones of opset 7.
std::int64_t opset_of(const OnnxCase& test) { return test.opset < 7 ? 7 : 0; }

void expect_written(const OnnxCase& test) {
  const Outcome outcome = run_case(test, compute_written, opset_of(test));
  EXPECT_TRUE(outcome.kind == Outcome::Kind::passed) << test.name << ": " << outcome.text;
}

class WrittenCases : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(each, WrittenCases,
                         testing::Values("node", "pytorch-converted", "pytorch-operator"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(WrittenCases, pass_where_those_that_were_read_pass) {
  if (!std::filesystem::exists(onnx_cases_folder()))
    GTEST_SKIP() << "needs " << onnx_cases_folder().string() << " (package libonnx-testdata)";
  std::size_t passed = 0;
  for (const OnnxCase& test : onnx_cases(GetParam())) {
    if (run_case(test, compute_by_loops, opset_of(test)).kind != Outcome::Kind::passed) continue;
    expect_written(test);
    ++passed;
  }
  EXPECT_GT(passed, 20u);
}

}  // namespace
}  // namespace millrace::test
