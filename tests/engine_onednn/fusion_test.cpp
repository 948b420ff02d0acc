#include "engine/fusion.h"

#include <gtest/gtest.h>

#include <numeric>

#include "nets.h"

namespace millrace::engine {
namespace {

using network::BinaryKind;
using network::UnaryKind;
using test::onednn::Net;

std::vector<std::vector<std::size_t>> grouped(const network::Network& network,
                                              const std::vector<TensorId>& outputs,
                                              const Accepts& accepts) {
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.push_back(LayerId(i));
  std::vector<std::vector<std::size_t>> result;
  for (const Group& group : make_groups({&network, layers, outputs}, accepts)) {
    result.emplace_back();
    for (const LayerId id : layers_of(group)) result.back().push_back(id.index);
  }
  return result;
}

using Groups = std::vector<std::vector<std::size_t>>;
bool always(const Group&) { return true; }

TEST(fusion, the_later_convolution_takes_addition_and_activation) {
  Net net;
  const TensorId x = net.input({1, 8, 6, 6});
  const TensorId a = net.conv(x, 8, 3);
  const TensorId b = net.conv(x, 8, 1);
  const TensorId y = net.relu(net.binary(BinaryKind::add, a, b));
  EXPECT_EQ(grouped(net.build(), {y}, always), (Groups{{0}, {1, 2, 3}}));
}

TEST(fusion, a_kernel_adds_one_residual) {
  Net net;
  const TensorId x = net.input({1, 8, 6, 6}), y = net.input({1, 8, 6, 6});
  const TensorId sum = net.binary(BinaryKind::add, net.conv(x, 8, 1), x);
  const TensorId z = net.binary(BinaryKind::add, net.relu(sum), y);
  EXPECT_EQ(grouped(net.build(), {z}, always), (Groups{{0, 1, 2}, {3}}));
}

TEST(fusion, what_is_needed_outside_is_not_swallowed) {
  Net net;
  const TensorId a = net.conv(net.input({1, 8, 6, 6}), 8, 3);
  const TensorId y = net.relu(a);
  EXPECT_EQ(grouped(net.build(), {a, y}, always), (Groups{{0}, {1}}));
}

TEST(fusion, what_two_read_is_not_swallowed) {
  Net net;
  const TensorId a = net.conv(net.input({1, 8, 6, 6}), 8, 3);
  const TensorId y = net.binary(BinaryKind::add, net.relu(a), net.unary(UnaryKind::tanh, a));
  EXPECT_EQ(grouped(net.build(), {y}, always), (Groups{{0}, {1}, {2}, {3}}));
}

TEST(fusion, a_gate_counts_as_one_activation) {
  Net net;
  const TensorId a = net.conv(net.input({1, 8, 6, 6}), 8, 3);
  const TensorId gated = net.unary(UnaryKind::sigmoid, a);
  const TensorId y = net.binary(BinaryKind::mul, a, gated);
  EXPECT_EQ(grouped(net.build(), {y}, always), (Groups{{0, 1, 2}}));
  EXPECT_EQ(grouped(net.build(), {y, gated}, always), (Groups{{0}, {1}, {2}}));
}

TEST(fusion, stops_where_the_kernel_does) {
  Net net;
  const TensorId a = net.conv(net.input({1, 8, 6, 6}), 8, 3);
  const TensorId y = net.unary(UnaryKind::erf, net.relu(a));
  const auto one = [](const Group& group) { return group.tail.size() == 1; };
  EXPECT_EQ(grouped(net.build(), {y}, one), (Groups{{0, 1}, {2}}));
}

TEST(fusion, a_tensor_added_to_itself_stays_apart) {
  Net net;
  const TensorId a = net.conv(net.input({1, 8, 6, 6}), 8, 3);
  const TensorId y = net.binary(BinaryKind::add, a, a);
  EXPECT_EQ(grouped(net.build(), {y}, always), (Groups{{0}, {1}}));
}

TEST(fusion, a_group_runs_when_its_last_operand_is_there) {
  Net net;
  const TensorId x = net.input({1, 8, 6, 6});
  const TensorId a = net.conv(x, 8, 3);
  const TensorId b = net.unary(UnaryKind::tanh, x);
  const TensorId y = net.binary(BinaryKind::add, a, b);
  EXPECT_EQ(grouped(net.build(), {y}, always), (Groups{{1}, {0, 2}}));
}

/// Queries and keys, a scale, a mask, softmax, and values.
struct AttentionNet {
  Net net;
  TensorId products, powers, result;

  explicit AttentionNet(const network::Softmax& softmax = {3, 4, false}) {
    const TensorId q = net.input({1, 2, 10, 8}), k = net.input({1, 2, 8, 12});
    products = net.layer(network::MatMul{}, {q, k}, {1, 2, 10, 12});
    const TensorId scaled = net.binary(BinaryKind::mul, products, net.constant({1}));
    const TensorId masked = net.binary(BinaryKind::add, scaled, net.input({1, 1, 10, 12}));
    powers = net.layer(softmax, {masked}, {1, 2, 10, 12});
    const TensorId v = net.input({1, 2, 12, 8});
    result = net.layer(network::MatMul{}, {powers, v}, {1, 2, 10, 8});
  }
};

TEST(fusion, attention_is_one_group) {
  AttentionNet a;
  const TensorId y = a.net.relu(a.result);
  EXPECT_EQ(grouped(a.net.build(), {y}, always), (Groups{{0, 1, 2, 3, 4}, {5}}));
}

TEST(fusion, the_second_product_of_attention_leads_no_other_one) {
  AttentionNet a;
  const TensorId powers = a.net.layer(network::Softmax{3, 4, false}, {a.result}, {1, 2, 10, 8});
  const TensorId y =
      a.net.layer(network::MatMul{}, {powers, a.net.input({1, 2, 8, 8})}, {1, 2, 10, 8});
  EXPECT_EQ(grouped(a.net.build(), {y}, always), (Groups{{0, 1, 2, 3, 4}, {5}, {6}}));
}

TEST(fusion, attention_whose_products_are_needed_is_not) {
  AttentionNet a;
  EXPECT_EQ(grouped(a.net.build(), {a.products, a.result}, always),
            (Groups{{0}, {1}, {2}, {3}, {4}}));
  EXPECT_EQ(grouped(a.net.build(), {a.powers, a.result}, always), (Groups{{0, 1}, {2}, {3}, {4}}));
}

TEST(fusion, the_logarithm_of_a_softmax_or_that_of_columns_is_no_attention) {
  for (const network::Softmax& other :
       {network::Softmax{3, 4, true}, {2, 3, false}, {2, 4, false}}) {
    AttentionNet a(other);
    EXPECT_EQ(grouped(a.net.build(), {a.result}, always), (Groups{{0, 1}, {2}, {3}, {4}}));
  }
}

}  // namespace
}  // namespace millrace::engine
