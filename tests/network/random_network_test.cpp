#include <gtest/gtest.h>

#include "network/evaluate/evaluate.h"
#include "support/network_builder.h"

namespace millrace::network {
namespace {

TEST(RandomNetwork, is_valid_bounded_in_layers_and_evaluates) {
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    const Network network = test::random_network(random, 1 + random.below(40));
    validate(network);
    EXPECT_LE(network.layers.size(), 40u);
    EXPECT_FALSE(network.outputs.empty());
    const Topology links = topology(network);
    for (const TensorId input : network.inputs)
      EXPECT_FALSE(links.consumers[input.index].empty());
    const std::vector<Array> outputs = evaluate(network, test::random_inputs(random, network));
    EXPECT_EQ(outputs.size(), network.outputs.size());
  }
}

TEST(RandomNetwork, is_the_same_for_the_same_seed) {
  Random first(3), second(3);
  EXPECT_EQ(hash_of(test::random_network(first, 30)), hash_of(test::random_network(second, 30)));
}

TEST(RandomNetwork, has_tensors_with_several_readers_and_outputs_that_are_read) {
  Random random(11);
  bool several_readers = false, read_output = false, several_outputs = false;
  for (int i = 0; i < 20; ++i) {
    const Network network = test::random_network(random, 30);
    const Topology links = topology(network);
    several_outputs |= network.outputs.size() > 1;
    for (std::size_t t = 0; t < network.tensors.size(); ++t) {
      several_readers |= links.consumers[t].size() > 1;
      read_output |= links.is_output[t] && !links.consumers[t].empty();
    }
  }
  EXPECT_TRUE(several_readers && read_output && several_outputs);
}

}  // namespace
}  // namespace millrace::network
