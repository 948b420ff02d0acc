// What holds for subnets as a whole: fusion, borders, memory, threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <thread>

#include "base/error.h"
#include "engine/onednn/onednn.h"
#include "engine/onednn/ways.h"
#include "nets.h"

namespace millrace::engine::onednn {
namespace {

using namespace test::onednn;  // NOLINT: the vocabulary of these tests
using network::BinaryKind;
using network::UnaryKind;

/// A residual block with a shortcut and one without, and a classifier.
network::Network residual_net() {
  Net net;
  const TensorId x = net.relu(net.conv(net.input({1, 3, 16, 16}), 16, 3));
  TensorId y = net.conv(net.relu(net.conv(x, 32, 3, 2)), 32, 3);
  y = net.relu(net.binary(BinaryKind::add, y, net.conv(x, 32, 1, 2)));
  const TensorId z = net.conv(net.relu(net.conv(y, 32, 3)), 32, 3);
  y = net.relu(net.binary(BinaryKind::add, z, y));
  const network::Window all{{8, 8}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  y = net.layer(network::Pool{network::PoolKind::average, all, false, false}, {y}, {1, 32, 1, 1});
  y = net.layer(network::Reshape{}, {y}, {1, 32});
  y = net.layer(network::Gemm{false, true, 1, 1}, {y, net.weights({10, 32}), net.weights({10})},
                {1, 10});
  net.output(net.layer(network::Softmax{1, 2, false}, {y}, {1, 10}));
  return net.build();
}

SubnetRequest request_for(const network::Network& network, std::vector<LayerId> layers) {
  SubnetRequest request;
  request.network = &network;
  request.processor = cores();
  const Border border = border_of(network, layers);
  request.layers = std::move(layers);
  request.outputs = border.outputs;
  for (const TensorId id : border.inputs) request.inputs.push_back({id, plain_layout(network[id])});
  for (const TensorId id : border.outputs) {
    const auto& outputs = network.outputs;
    request.plain.push_back(std::find(outputs.begin(), outputs.end(), id) != outputs.end());
  }
  return request;
}

/// Consecutive stages, each from `begins[i]` up to the next; what the last one gives.
Array chained(Engine& engine, const network::Network& network, std::vector<std::size_t> begins) {
  begins.push_back(network.layers.size());
  std::map<TensorId, std::pair<Layout, network::Buffer>> tensors;
  const auto inputs = inputs_of(network);
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    std::vector<LayerId> layers;
    for (std::size_t i = begins[s]; i < begins[s + 1]; ++i) layers.push_back(LayerId(i));
    SubnetRequest request = request_for(network, layers);
    std::vector<const std::byte*> in;
    for (Port& port : request.inputs) {
      const auto made = tensors.find(port.tensor);
      if (made != tensors.end()) port.layout = made->second.first;
      in.push_back(made != tensors.end() ? made->second.second.data() : inputs[0].memory->data());
    }
    const auto subnet = engine.prepare(request);
    auto out = run(*subnet, in);
    for (std::size_t i = 0; i < out.size(); ++i)
      tensors[subnet->outputs()[i].tensor] = {subnet->outputs()[i].layout, std::move(out[i])};
  }
  const TensorId last = network.outputs[0];
  return network::make_array(network[last].type, network[last].shape,
                             std::move(tensors.at(last).second));
}

std::vector<GroupTime> groups_of(Engine& engine, const network::Network& network) {
  const auto subnet = engine.prepare(whole_network(network, cores()));
  const auto inputs = inputs_of(network);
  network::Buffer out(subnet->outputs()[0].layout.size);
  std::byte* const data = out.data();
  return subnet->run_timed(pointers(inputs), std::span(&data, 1));
}

TEST(subnet, fuses_residual_blocks_into_their_convolutions) {
  const auto engine = make();
  const network::Network net = residual_net();
  std::vector<std::vector<std::size_t>> groups;
  for (const GroupTime& group : groups_of(*engine, net)) {
    groups.emplace_back();
    for (const LayerId layer : group.layers) groups.back().push_back(layer.index);
    EXPECT_FALSE(group.kernel.empty());
  }
  // The shortcut's convolution is the later one: it takes the addition.
  EXPECT_EQ(groups,
            (std::vector<std::vector<std::size_t>>{
                {0, 1}, {2, 3}, {4}, {5, 6, 7}, {8, 9}, {10, 11, 12}, {13}, {14}, {15}, {16}}));
}

TEST(subnet, gives_what_the_loops_give) {
  const auto engine = make();
  const network::Network net = residual_net();
  const auto wanted = network::evaluate(net, inputs_of(net));
  for (const int count : {1, 2})
    EXPECT_LT(
        difference(results(*engine, net, count)[0].values<float>(), wanted[0].values<float>()),
        1e-5);
}

TEST(subnet, a_border_between_groups_changes_no_bit) {
  const auto engine = make();
  const network::Network net = residual_net();
  const auto whole = results(*engine, net)[0];
  for (const std::size_t begin : {2u, 8u, 10u, 13u, 14u, 15u, 16u}) {
    const auto parts = chained(*engine, net, {0, begin});
    EXPECT_EQ(std::memcmp(parts.bytes().data(), whole.bytes().data(), whole.bytes().size()), 0)
        << "border before layer " << begin;
  }
}

TEST(subnet, a_border_inside_a_group_changes_almost_nothing) {
  const auto engine = make();
  const network::Network net = residual_net();
  const auto whole = results(*engine, net)[0];
  for (std::size_t begin = 1; begin < net.layers.size(); ++begin) {
    const auto parts = chained(*engine, net, {0, begin});
    EXPECT_LT(difference(parts.values<float>(), whole.values<float>()), 1e-5) << begin;
  }
  std::vector<std::size_t> every(net.layers.size());
  for (std::size_t i = 0; i < every.size(); ++i) every[i] = i;
  EXPECT_LT(difference(chained(*engine, net, every).values<float>(), whole.values<float>()), 1e-5);
}

TEST(subnet, keeps_its_own_layout_at_borders_unless_plain_is_asked_for) {
  const auto engine = make();
  const network::Network net = residual_net();
  SubnetRequest request = request_for(net, {LayerId(0), LayerId(1)});
  EXPECT_TRUE(engine->prepare(request)->outputs()[0].layout.format.starts_with("onednn:"));
  request.plain = {true};
  EXPECT_EQ(engine->prepare(request)->outputs()[0].layout.format, "plain");
}

TEST(subnet, timed_runs_give_the_same_bits_and_name_every_layer_once) {
  const auto engine = make();
  const network::Network net = residual_net();
  const auto subnet = engine->prepare(whole_network(net, cores()));
  const auto inputs = inputs_of(net);
  const auto a = run(*subnet, pointers(inputs));
  network::Buffer b(subnet->outputs()[0].layout.size);
  std::byte* const data = b.data();
  std::vector<bool> named(net.layers.size());
  for (const GroupTime& group : subnet->run_timed(pointers(inputs), std::span(&data, 1)))
    for (const LayerId layer : group.layers) {
      EXPECT_FALSE(named[layer.index]);
      named[layer.index] = true;
    }
  EXPECT_EQ(std::count(named.begin(), named.end(), false), 0);
  EXPECT_EQ(std::memcmp(a[0].data(), b.data(), static_cast<std::size_t>(b.size().count)), 0);
}

/// Tokens whose heads are turned outwards, attention over them, and the heads turned back.
network::Network attention_net(std::int64_t rows) {
  Net net;
  const auto heads = [&](TensorId x, const Shape& permutation, const Shape& shape) {
    x = net.layer(network::Reshape{}, {x}, {1, rows, 4, 16});
    return net.layer(network::Transpose{permutation}, {x}, shape);
  };
  const Shape tokens{1, rows, 64}, shape{1, 4, rows, 16}, turned{1, 4, 16, rows};
  const TensorId q = heads(net.input(tokens), {0, 2, 1, 3}, shape);
  const TensorId k = heads(net.input(tokens), {0, 2, 3, 1}, turned);
  const TensorId v = heads(net.input(tokens), {0, 2, 1, 3}, shape);
  TensorId y = net.layer(network::MatMul{}, {q, k}, {1, 4, rows, rows});
  y = net.layer(network::Softmax{3, 4, false}, {y}, {1, 4, rows, rows});
  y = net.layer(network::MatMul{}, {y, v}, shape);
  y = net.layer(network::Transpose{{0, 2, 1, 3}}, {y}, {1, rows, 4, 16});
  net.output(net.layer(network::Reshape{}, {y}, tokens));
  return net.build();
}

TEST(subnet, attention_is_one_kernel_and_nothing_moves_before_or_behind_it) {
  std::vector<std::string> kernels;
  for (const GroupTime& group : groups_of(*make(), attention_net(20)))
    if (group.kernel != "none") kernels.push_back(group.kernel);
  EXPECT_EQ(kernels, std::vector<std::string>{"attention"});
}

TEST(subnet, attention_on_tiles_is_one_kernel_too) {
  const network::Network net = attention_net(40);
  SubnetRequest request = whole_network(net, cores());
  request.variants.resize(net.layers.size());
  for (std::size_t i = 0; i < net.layers.size(); ++i)
    for (const board::Variant& way : make()->variants(net, LayerId(i), cores()))
      if (way.algorithm == "amx_bf16x3") request.variants[i] = way;
  const auto count = std::ranges::count(request.variants, "amx_bf16x3", &board::Variant::algorithm);
  if (!has_amx()) GTEST_SKIP() << "this processor has no AMX for bfloat16";
  EXPECT_EQ(count, 1) << "the first of two products leads";
  const auto subnet = make()->prepare(request);
  const auto inputs = inputs_of(net);
  network::Buffer out(subnet->outputs()[0].layout.size);
  std::byte* const data = out.data();
  std::vector<std::string> kernels;
  for (const GroupTime& group : subnet->run_timed(pointers(inputs), std::span(&data, 1)))
    if (group.kernel != "none") kernels.push_back(group.kernel);
  EXPECT_EQ(kernels, std::vector<std::string>{"attention_amx_bf16x3"});
}

TEST(subnet, attention_on_more_cores_than_it_has_rows_for_is_no_kernel_of_ours) {
  const auto kernels_on = [](int count, std::int64_t rows) {
    const network::Network net = attention_net(rows);
    const auto subnet = make()->prepare(whole_network(net, cores(count)));
    const auto inputs = inputs_of(net);
    network::Buffer out(subnet->outputs()[0].layout.size);
    std::byte* const data = out.data();
    std::vector<std::string> kernels;
    for (const GroupTime& group : subnet->run_timed(pointers(inputs), std::span(&data, 1)))
      kernels.push_back(group.kernel);
    return std::ranges::count(kernels, "attention");
  };
  EXPECT_EQ(kernels_on(1, 20), 1);
  EXPECT_EQ(kernels_on(2, 20), 1) << "four heads";
  EXPECT_EQ(kernels_on(3, 20), 0);
  EXPECT_EQ(kernels_on(3, 50), 1) << "three blocks for each head";
}

TEST(subnet, the_products_of_attention_need_no_memory) {
  const Bytes arena = make()->prepare(whole_network(attention_net(500), cores()))->memory().arena;
  EXPECT_LT(arena.count, 4 * 500 * 500 * 4 / 4);
}

TEST(subnet, the_arena_of_a_chain_is_smaller_than_its_buffers) {
  Net net;
  TensorId x = net.input({1, 16, 32, 32});
  for (int i = 0; i < 8; ++i) x = net.relu(net.conv(x, 16, 3));
  net.output(x);
  const auto memory = make()->prepare(whole_network(net.build(), cores()))->memory();
  EXPECT_GE(memory.naive.count, 8 * 16 * 32 * 32 * 4);
  EXPECT_LE(memory.arena.count * 3, memory.naive.count);
}

TEST(subnet, functions_of_one_element_work_in_place) {
  Net net;
  TensorId x = net.input({1, 16, 32, 32});
  for (int i = 0; i < 8; ++i) x = net.unary(UnaryKind::tanh, x);
  net.output(x);
  const auto memory = make()->prepare(whole_network(net.build(), cores()))->memory();
  EXPECT_EQ(memory.arena, Bytes{0});  // all of it happens in the caller's output
}

TEST(subnet, an_output_that_is_read_further_is_written_once_and_stays) {
  Net net;
  const TensorId a = net.unary(UnaryKind::tanh, net.input({1, 4, 4, 4}));
  const TensorId b = net.unary(UnaryKind::exp, a);
  const TensorId c = net.layer(network::Reshape{}, {a}, {4, 16});
  for (const TensorId id : {a, b, c}) net.output(id);
  const auto engine = make();
  const auto wanted = network::evaluate(net.build(), inputs_of(net.build()));
  const auto found = results(*engine, net.build());
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_LT(difference(found[i].values<float>(), wanted[i].values<float>()), 1e-5) << i;
}

TEST(subnet, an_output_may_be_an_input_under_another_name) {
  Net net;
  const TensorId x = net.input({1, 4, 4, 4});
  net.output(net.layer(network::Reshape{}, {x}, {4, 16}));
  net.output(net.layer(network::Transpose{{0, 2, 3, 1}}, {x}, {1, 4, 4, 4}));
  const auto engine = make();
  const auto wanted = network::evaluate(net.build(), inputs_of(net.build()));
  const auto found = results(*engine, net.build());
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(difference(found[i].values<float>(), wanted[i].values<float>()), 0) << i;
}

TEST(subnet, follows_its_memory_from_run_to_run) {
  const network::Network net = residual_net();
  const auto engine = make();
  const auto subnet = engine->prepare(whole_network(net, cores()));
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const std::vector<Array> inputs{noise({1, 3, 16, 16}, seed)};
    const auto wanted = network::evaluate(net, inputs);
    const auto found = run(*subnet, pointers(inputs));
    const std::span values(reinterpret_cast<const float*>(found[0].data()), 10);
    EXPECT_LT(difference(values, wanted[0].values<float>()), 1e-5);
  }
}

TEST(subnet, several_run_at_once_on_threads_of_their_own) {
  const network::Network net = residual_net();
  const auto engine = make();
  const auto wanted = results(*engine, net)[0];
  std::vector<int> equal(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < equal.size(); ++t)
    threads.emplace_back([&, t] {
      const auto subnet = engine->prepare(whole_network(net, cores()));
      const auto inputs = inputs_of(net);
      for (int i = 0; i < 50; ++i) {
        const auto found = run(*subnet, pointers(inputs));
        equal[t] += std::memcmp(found[0].data(), wanted.bytes().data(), wanted.bytes().size()) == 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, std::vector<int>(4, 50));
}

TEST(subnet, functions_between_bytes_are_the_same_wherever_a_border_lies) {
  const auto engine = make();
  using enum UnaryKind;
  for (const UnaryKind kind : {sigmoid, tanh, erf, gelu, mish, exp, softplus, hard_swish, relu}) {
    Net net;
    const Shape shape{1, 16, 32, 5};
    const float steps[]{1.f / 120, 1.f / 70};
    const std::uint8_t zeros[]{125, 90};
    const auto quantise = [&](TensorId x, std::size_t i, network::Operator op, DataType type) {
      const TensorId scale =
          net.constant(network::make_array<float>(DataType::float32, {}, std::span(&steps[i], 1)));
      const TensorId zero = net.constant(
          network::make_array<std::uint8_t>(DataType::uint8, {}, std::span(&zeros[i], 1)));
      const TensorId made = net.layer(std::move(op), {x, scale, zero}, shape);
      net.set_type(made, type);
      return made;
    };
    const TensorId bytes =
        quantise(net.input(shape), 0, network::QuantizeLinear{}, DataType::uint8);
    const TensorId numbers = quantise(bytes, 0, network::DequantizeLinear{}, DataType::float32);
    net.output(quantise(net.unary(kind, numbers), 1, network::QuantizeLinear{}, DataType::uint8));
    const network::Network network = net.build();
    const auto whole = chained(*engine, network, {0});
    for (const std::size_t begin : {1u, 2u, 3u})
      EXPECT_TRUE(std::ranges::equal(chained(*engine, network, {0, begin}).bytes(), whole.bytes()))
          << static_cast<int>(kind) << " cut at " << begin;
  }
}

TEST(subnet, a_layout_of_another_engine_is_refused) {
  const network::Network net = residual_net();
  SubnetRequest request = request_for(net, {LayerId(0)});
  request.inputs[0].layout.format = "other:nchw";
  EXPECT_THROW(make()->prepare(request), InputError);
  request.inputs[0].layout = {"plain", Bytes{16}};
  EXPECT_THROW(make()->prepare(request), InputError);
}

}  // namespace
}  // namespace millrace::engine::onednn
