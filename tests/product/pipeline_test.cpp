#include "product/pipeline.h"

#include <gtest/gtest.h>

#include "board/board.h"
#include "formats/read.h"
#include "network/random_values.h"
#include "product/heard.h"
#include "product/loaded.h"

namespace millrace::product {
namespace {

class PipelineTest : public testing::Test {
 protected:
  plan::Assessed plan() const {
    const auto made =
        one_processor_plan(network_, board::this_machine().processors.front(), "reference");
    return {made, plan::no_evidence(made)};
  }
  /// What the pipeline finds in the frame, and what is expected.
  void expect_right(Pipeline& pipeline) {
    pipeline.submit(frame_);
    const auto result = pipeline.next();
    ASSERT_TRUE(result);
    if (first_.empty())
      first_ = result->outputs;
    else
      EXPECT_EQ(result->outputs, first_);
  }

  const network::Network network_ = formats::read_network(test::digits);
  const std::vector<network::Array> frame_ = network::random_inputs(network_, 3);
  std::vector<network::Array> first_;
};

/// Memory that somebody else takes at once.
void use_memory() {
  std::vector<std::vector<std::byte>> taken;
  for (std::size_t size = 16; size < 4096; size += 16)
    taken.emplace_back(size, std::byte{0x5a});
}

TEST_F(PipelineTest, keeps_a_network_that_nobody_else_keeps) {
  const auto assessed = plan();
  Pipeline lasting = deploy(assessed, network_);
  expect_right(lasting);
  Pipeline pipeline = deploy(assessed, formats::read_network(test::digits));
  use_memory();
  for (int i = 0; i < 3; ++i) expect_right(pipeline);
  EXPECT_NO_THROW(pipeline.session().trace());
}

TEST_F(PipelineTest, another_takes_its_place_while_it_runs) {
  const auto assessed = plan();
  Pipeline pipeline = deploy(assessed, network_);
  for (int round = 0; round < 5; ++round) {
    for (std::int64_t i = 0; i < pipeline.session().frame_counts().depth; ++i)
      pipeline.submit(frame_);
    pipeline = deploy(assessed, formats::read_network(test::digits));
    use_memory();
    expect_right(pipeline);
  }
}

}  // namespace
}  // namespace millrace::product
