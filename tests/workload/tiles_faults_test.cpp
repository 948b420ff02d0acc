// What is made can be read, checked and run, whatever the sizes of tensors.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"
#include "network/evaluate/evaluate.h"
#include "support/network_builder.h"
#include "support/network_of_tiles.h"
#include "support/temporary_folder.h"
#include "workload/check/check.h"
#include "workload/executable.h"
#include "workload/facts.h"
#include "workload/program_file.h"
#include "workload/tiles/tiles.h"

namespace millrace::workload {
namespace {

using network::Array;
using network::Buffer;
using network::Network;
using test::network_of_tiles;
using test::NetworkBuilder;

/// All workloads one after the other; what none has written is not a number.
std::vector<Array> results_of(const Program& program, const Network& network,
                              const std::vector<Array>& inputs) {
  std::vector<Buffer> buffers(network.tensors.size());
  TensorTable table(network.tensors.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto& constant = network.tensors[i].constant;
    const std::int64_t size = network.tensors[i].size().count;
    buffers[i] = Buffer(Bytes{size});
    if (constant) std::copy_n(constant->bytes().data(), size, buffers[i].data());
    if (!constant && network.tensors[i].type == network::DataType::float32)
      std::fill_n(reinterpret_cast<float*>(buffers[i].data()), size / 4,
                  std::numeric_limits<float>::quiet_NaN());
    table[i] = buffers[i].data();
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    std::copy_n(inputs[i].bytes().data(), inputs[i].bytes().size(),
                table[network.inputs[i].index]);
  const FastMemories fast(program);
  for (const Workload& one : program.workloads)
    Executable(one, network, fast).run(table);
  std::vector<Array> results;
  for (const TensorId id : network.outputs)
    results.push_back(
        make_array(network[id].type, network[id].shape, std::move(buffers[id.index])));
  return results;
}

bool are_right(const std::vector<Array>& results, const std::vector<Array>& expected) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    double largest = 0;
    for (const float value : expected[i].values<float>())
      largest = std::max(largest, std::fabs(static_cast<double>(value)));
    for (std::size_t k = 0; k < results[i].values<float>().size(); ++k)
      if (!(std::fabs(results[i].values<float>()[k] - expected[i].values<float>()[k]) <=
            1e-3 * largest))
        return false;
  }
  return true;
}

/// A window over a tensor of this shape, in part over its padding alone.
network::Window degenerate_window(const network::Shape& shape, Random& random) {
  const auto pad = static_cast<std::int64_t>(random.below(3));
  const auto kernel = static_cast<std::int64_t>(1 + random.below(3));
  const bool fits = std::min(shape[2], shape[3]) + 2 * pad >= kernel;
  const auto stride = static_cast<std::int64_t>(1 + random.below(2));
  return test::window(fits ? kernel : 1, {.stride = stride, .pad = pad});
}

/// Layers of tensors with no element, one, or few.
Network degenerate_network(Random& random) {
  NetworkBuilder builder;
  const auto size = [&] {
    return static_cast<std::int64_t>(random.below(3) == 0 ? 4 + random.below(8) : random.below(3));
  };
  const network::Shape shape{1, 1 + size(), size(), size()};
  const TensorId x = builder.input(shape);
  const TensorId conv = builder.conv(x, 1 + size(), degenerate_window(shape, random));
  const TensorId y = builder.unary(network::UnaryKind::relu, conv);
  builder.output(builder.binary(network::BinaryKind::add, x, x));
  builder.output(builder.concat(1, {y, y}));
  const network::Shape flat{network::element_count(shape)};
  builder.output(builder.unary(network::UnaryKind::tanh,
                               builder.layer(network::Reshape{}, {x}, flat)));
  return builder.build();
}

TEST(TilesFaults, what_is_made_can_be_read_and_run_for_tensors_of_any_size) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "program.json";
  Random random(5);
  int empty = 0, too_large = 0;
  for (int round = 0; round < 300; ++round) {
    const Network network = degenerate_network(random);
    TileTarget target;
    target.scratchpad = Bytes{1024};
    Program made;
    try {
      made = compile(network, target).program;
    } catch (const InputError&) {
      ++too_large;
      continue;
    }
    empty += made.workloads.empty() ? 1 : 0;
    write_program(file, made);
    const Program read = read_program(file);
    EXPECT_EQ(read, made) << round;
    EXPECT_EQ(violations(read), std::vector<std::string>{}) << round;
    EXPECT_EQ(tiles_faults(read, network, 2), std::vector<std::string>{}) << round;
    const auto inputs = test::random_inputs(random, network);
    EXPECT_TRUE(are_right(results_of(read, network, inputs), network::evaluate(network, inputs)))
        << round;
  }
  EXPECT_GT(empty, 0);
  EXPECT_LT(empty + too_large, 150);
}

/// A tile of one column at the begin would lie in the padding alone.
TEST(TilesFaults, no_tile_lacks_columns_of_the_input) {
  NetworkBuilder builder;
  network::Window window = test::window(1, {.pad = 1});
  window.pads_end = {0, 0};
  builder.output(builder.conv(builder.input({1, 11, 22, 16}), 11, window, 11));
  const auto geometry = geometry_of(builder.build(), LayerId(0), 4);
  Tiling tiling{geometry.totals, false, false};
  tiling.tile[at(Loop::col)] = 1;
  EXPECT_FALSE(cost_of(geometry, tiling, {}));
  tiling.tile[at(Loop::col)] = 2;
  EXPECT_TRUE(cost_of(geometry, tiling, {}));
}

/// A program of some layers says where it begins and ends.
TEST(TilesFaults, a_missing_workload_of_some_layers_is_found) {
  Random random(7);
  const Network network = network_of_tiles(random);
  const std::vector<LayerId> layers{LayerId(0), LayerId(1), LayerId(2)};
  TileTarget target;
  const Program some = compile(network, {layers, {}, false}, target).program;
  ASSERT_EQ(tiles_faults(some, network, 1), std::vector<std::string>{});
  ASSERT_GT(some.workloads.size(), 1u);
  for (std::size_t i = 0; i < some.workloads.size(); ++i) {
    Program fewer = some;
    fewer.workloads.erase(fewer.workloads.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(tiles_faults(fewer, network, 1).empty()) << i;
  }
}

}  // namespace
}  // namespace millrace::workload
