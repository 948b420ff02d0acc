#include "network/network.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace millrace::network {
namespace {

/// input -> relu -> a; a, a -> add -> b; b and a are outputs.
Network small_network() {
  Network network;
  network.name = "small";
  for (const char* name : {"input", "a", "b"})
    network.tensors.push_back({name, DataType::float32, {2, 3}, {}});
  network.inputs = {TensorId(0)};
  network.layers.push_back({"relu", Unary{UnaryKind::relu}, {TensorId(0)}, {TensorId(1)}});
  network.layers.push_back(
      {"add", Binary{BinaryKind::add}, {TensorId(1), TensorId(1)}, {TensorId(2)}});
  network.outputs = {TensorId(2), TensorId(1)};
  return network;
}

TEST(Network, topology_names_producers_and_each_consumer_once) {
  const Topology topology_of_it = topology(small_network());
  EXPECT_FALSE(topology_of_it.producer[0]);
  EXPECT_EQ(topology_of_it.producer[2], LayerId(1));
  EXPECT_EQ(topology_of_it.consumers[1], std::vector{LayerId(1)});
  EXPECT_EQ(topology_of_it.predecessors[1], std::vector{LayerId(0)});
  EXPECT_TRUE(topology_of_it.is_output[1]);
}

TEST(Network, validation_finds_use_before_making_and_double_making) {
  EXPECT_NO_THROW(validate(small_network()));
  Network swapped = small_network();
  std::swap(swapped.layers[0], swapped.layers[1]);
  EXPECT_THROW(validate(swapped), InputError);
  Network twice = small_network();
  twice.layers[1].outputs = {TensorId(1)};
  EXPECT_THROW(validate(twice), InputError);
  Network dangling = small_network();
  dangling.layers[1].inputs[0] = TensorId(17);
  EXPECT_THROW(validate(dangling), InputError);
}

TEST(Network, validation_finds_dimensions_that_are_not_there) {
  const auto with = [](const Operator& op) {
    Network network = small_network();
    network.layers[0].op = op;
    return network;
  };
  const Reduce all{ReduceKind::sum, {0, 1}};
  const std::vector<Operator> right{
      Normalization{1}, Softmax{0, 2}, Transpose{{1, 0}}, TopK{1}, OneHot{1}, all};
  for (const Operator& op : right) EXPECT_NO_THROW(validate(with(op))) << name_of(op);
  const Reduce beyond{ReduceKind::sum, {1, 2}}, before{ReduceKind::sum, {-1}};
  const std::vector<Operator> wrong{
      Normalization{}, Normalization{-1}, Normalization{2},   Softmax{},         Softmax{1, 3},
      Softmax{2, 1},   Concat{2},         Split{-1},          Gather{2},         ArgMax{-2},
      TopK{2},         OneHot{2},         GatherElements{2},  Transpose{},       Transpose{{1}},
      CumSum{17},      Transpose{{1, 1}}, ScatterElements{-1}, Transpose{{0, 2}}, beyond,
      before};
  for (const Operator& op : wrong) EXPECT_THROW(validate(with(op)), InputError) << name_of(op);
  Network alone = with(Normalization{1});
  alone.layers[0].inputs.clear();
  EXPECT_THROW(validate(alone), InputError);
}

TEST(Network, the_hash_sees_attributes_and_constants_but_not_names) {
  Network renamed = small_network();
  renamed.tensors[1].name = "other";
  EXPECT_EQ(hash_of(renamed), hash_of(small_network()));
  Network leaky = small_network();
  leaky.layers[0].op = Unary{UnaryKind::leaky_relu, 0.1};
  EXPECT_NE(hash_of(leaky), hash_of(small_network()));
}

TEST(Network, a_convolution_costs_one_mac_per_output_element_and_weight_of_its_filter) {
  Network network;
  network.tensors = {{"x", DataType::float32, {1, 4, 8, 8}, {}},
                     {"w", DataType::float32, {6, 2, 3, 3}, {}},
                     {"y", DataType::float32, {1, 6, 8, 8}, {}}};
  network.tensors[1].constant =
      make_array(DataType::float32, {6, 2, 3, 3}, Buffer(Bytes{6 * 2 * 9 * 4}));
  network.inputs = {TensorId(0)};
  network.outputs = {TensorId(2)};
  const Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  network.layers = {{"conv", Conv{window, 2}, {TensorId(0), TensorId(1)}, {TensorId(2)}}};
  const Cost cost = cost_of(network, LayerId(0));
  EXPECT_EQ(cost.macs, 6 * 64 * 2 * 9);
  EXPECT_EQ(cost.parameters, 6 * 2 * 9);
  EXPECT_EQ(cost.read, (Bytes{(4 * 64 + 108) * 4}));
  EXPECT_EQ(cost.written, (Bytes{6 * 64 * 4}));
  EXPECT_EQ(cost.operations, 2 * cost.macs);
}

TEST(Network, operations_count_windows_of_pools_elements_of_arithmetic_and_no_movement) {
  Network network;
  network.tensors = {{"x", DataType::float32, {1, 4, 8, 8}, {}},
                     {"pooled", DataType::float32, {1, 4, 4, 4}, {}},
                     {"relu", DataType::float32, {1, 4, 4, 4}, {}},
                     {"mean", DataType::float32, {1, 4}, {}},
                     {"turned", DataType::float32, {4, 1}, {}}};
  network.inputs = {TensorId(0)};
  network.outputs = {TensorId(4)};
  const Window window{{3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}};
  network.layers = {{"pool", Pool{PoolKind::max, window}, {TensorId(0)}, {TensorId(1)}},
                    {"relu", Unary{UnaryKind::relu}, {TensorId(1)}, {TensorId(2)}},
                    {"mean", Reduce{ReduceKind::mean, {2, 3}}, {TensorId(2)}, {TensorId(3)}},
                    {"turn", Transpose{{1, 0}}, {TensorId(3)}, {TensorId(4)}}};
  EXPECT_EQ(cost_of(network, LayerId(0)).operations, 64 * 9);
  EXPECT_EQ(cost_of(network, LayerId(1)).operations, 64);
  EXPECT_EQ(cost_of(network, LayerId(2)).operations, 64);
  EXPECT_EQ(cost_of(network, LayerId(3)).operations, 0);
  EXPECT_EQ(cost_of(network).operations, 64 * 9 + 64 + 64);
}

}  // namespace
}  // namespace millrace::network
