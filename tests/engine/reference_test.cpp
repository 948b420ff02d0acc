#include "engine/reference/reference.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/network_builder.h"

namespace millrace::engine {
namespace {

using network::DataType;
using network::UnaryKind;

const board::Processor processor{"core0", board::ProcessorKind::cpu, {0}};

TEST(ReferenceEngine, an_unsupported_type_is_refused_with_layer_operator_and_type) {
  test::NetworkBuilder builder;
  builder.output(builder.unary(UnaryKind::sigmoid, builder.input({3}, DataType::int32)));
  const network::Network network = builder.build();
  const std::unique_ptr<Engine> engine = reference::make();
  const Verdict verdict = engine->supports(network, LayerId(0), processor);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.reason(), "Sigmoid of int32 is not supported");
  try {
    engine->prepare(whole_network(network, processor));
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(error.place(), "layer0");
  }
}

TEST(ReferenceEngine, an_input_that_is_not_plain_is_refused_with_its_layout) {
  test::NetworkBuilder builder;
  builder.output(builder.unary(UnaryKind::relu, builder.input({3})));
  const network::Network network = builder.build();
  SubnetRequest request = whole_network(network, processor);
  request.inputs[0].layout = {"blocked by 16", Bytes{64}};
  try {
    reference::make()->prepare(request);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("blocked by 16"), std::string::npos) << error.what();
  }
}

TEST(ReferenceEngine, memory_is_that_of_the_tensors_between_layers) {
  test::NetworkBuilder builder;
  TensorId x = builder.input({100});
  for (int i = 0; i < 3; ++i) x = builder.unary(UnaryKind::relu, x);
  builder.output(x);
  const network::Network network = builder.build();
  const Memory memory = reference::make()->prepare(whole_network(network, processor))->memory();
  EXPECT_EQ(memory.naive, Bytes{800});
  EXPECT_EQ(memory.arena, memory.naive);
}

}  // namespace
}  // namespace millrace::engine
