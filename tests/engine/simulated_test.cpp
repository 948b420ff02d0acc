#include "engine/simulated/simulated.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "support/network_builder.h"

namespace millrace::engine {
namespace {

using network::Array;
using network::Network;

const board::Processor simulated_core{"core0", board::ProcessorKind::cpu, {0}};

Time no_time(const Network&, LayerId, const board::Processor&) { return Time(0); }

using Tensors = std::map<TensorId, network::Buffer>;

Tensors inputs_of(const Network& network, const std::vector<Array>& arrays) {
  Tensors tensors;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    network::Buffer buffer(arrays[i].memory->size());
    std::ranges::copy(arrays[i].bytes(), buffer.data());
    tensors[network.inputs[i]] = std::move(buffer);
  }
  return tensors;
}

void run_layers(Engine& engine, const Network& network, const std::vector<LayerId>& layers,
                Tensors& tensors) {
  const Border border = border_of(network, layers);
  SubnetRequest request{&network, simulated_core, layers, {}, border.outputs, {}};
  request.plain.assign(border.outputs.size(), false);
  std::vector<const std::byte*> in;
  for (const TensorId id : border.inputs) {
    request.inputs.push_back({id, plain_layout(network[id])});
    in.push_back(tensors.at(id).data());
  }
  std::vector<std::byte*> out;
  for (const TensorId id : border.outputs)
    out.push_back((tensors[id] = network::Buffer(network[id].size())).data());
  engine.prepare(request)->run(in, out);
}

std::vector<std::vector<std::byte>> results(const Network& network, const Tensors& tensors) {
  std::vector<std::vector<std::byte>> all;
  for (const TensorId id : network.outputs) {
    const auto bytes = tensors.at(id).bytes();
    all.emplace_back(bytes.begin(), bytes.end());
  }
  return all;
}

TEST(SimulatedEngine, marks_do_not_depend_on_how_the_network_is_cut) {
  Random random(1);
  const std::unique_ptr<Engine> engine = simulated::make(no_time);
  for (int i = 0; i < 50; ++i) {
    const Network network = test::random_network(random, 30);
    Tensors whole = inputs_of(network, test::random_inputs(random, network)), cut;
    for (const auto& [id, buffer] : whole) {
      cut[id] = network::Buffer(buffer.size());
      std::ranges::copy(buffer.bytes(), cut[id].data());
    }
    run_layers(*engine, network, whole_network(network, simulated_core).layers, whole);
    for (std::size_t layer = 0; layer < network.layers.size(); ++layer)
      run_layers(*engine, network, {LayerId(layer)}, cut);
    EXPECT_EQ(results(network, whole), results(network, cut));
  }
}

TEST(SimulatedEngine, one_changed_input_byte_changes_every_output_that_depends_on_it) {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({50}), y = builder.input({50});
  builder.output(
      builder.unary(network::UnaryKind::relu, builder.binary(network::BinaryKind::add, x, y)));
  builder.output(builder.unary(network::UnaryKind::relu, y));
  const Network network = builder.build();
  Random random(2);
  std::vector<Array> arrays = test::random_inputs(random, network);
  const std::unique_ptr<Engine> engine = simulated::make(no_time);
  const auto layers = whole_network(network, simulated_core).layers;
  Tensors tensors = inputs_of(network, arrays);
  run_layers(*engine, network, layers, tensors);
  const auto before = results(network, tensors);
  tensors[x].bytes()[137] ^= std::byte{1};
  run_layers(*engine, network, layers, tensors);
  const auto after = results(network, tensors);
  EXPECT_NE(before[0], after[0]);
  EXPECT_EQ(before[1], after[1]);
}

TEST(SimulatedEngine, takes_at_least_the_time_of_its_layers) {
  test::NetworkBuilder builder;
  TensorId x = builder.input({4});
  for (int i = 0; i < 4; ++i) x = builder.unary(network::UnaryKind::relu, x);
  builder.output(x);
  const Network network = builder.build();
  const std::unique_ptr<Engine> engine =
      simulated::make([](const Network&, LayerId layer, const board::Processor&) {
        return std::chrono::milliseconds(layer.index + 1);
      });
  const std::unique_ptr<Subnet> subnet = engine->prepare(whole_network(network, simulated_core));
  const network::Buffer input(Bytes{16});
  network::Buffer output(Bytes{16});
  const std::vector<const std::byte*> in{input.data()};
  const std::vector<std::byte*> out{output.data()};
  const auto start = std::chrono::steady_clock::now();
  subnet->run(in, out);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(10));
  const std::vector<GroupTime> times = subnet->run_timed(in, out);
  ASSERT_EQ(times.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_GE(times[i].time, std::chrono::milliseconds(i + 1));
}

TEST(SimulatedEngine, by_default_a_multiply_accumulate_takes_a_nanosecond) {
  test::NetworkBuilder builder;
  builder.output(builder.conv(builder.input({1, 16, 10, 10}), 32, test::window(3, {.pad = 1})));
  const Network network = builder.build();
  const Time time = simulated::one_gmac_per_second(network, LayerId(0), simulated_core);
  EXPECT_GE(time.count(), 460800);
  EXPECT_LE(time.count(), 460800 + 10000);
}

}  // namespace
}  // namespace millrace::engine
