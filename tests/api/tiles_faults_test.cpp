// Programs of tiles that are broken at random: each break that changes the results is found.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "api/tiles/tiles.h"
#include "base/error.h"
#include "base/random.h"
#include "network/evaluate/evaluate.h"
#include "support/network_builder.h"
#include "support/temporary_folder.h"
#include "workload/check/check.h"
#include "workload/check/effort.h"
#include "workload/executable.h"
#include "workload/facts.h"
#include "workload/program_file.h"

namespace millrace::api {
namespace {

using network::Array;
using network::Buffer;
using network::Network;
using test::NetworkBuilder;
using workload::Program;
using workload::Workload;

/// Convolutions, pools, sums of two branches, joins and a layer without tiles.
Network network_of_tiles(Random& random) {
  NetworkBuilder builder;
  const auto channels = static_cast<std::int64_t>(2 + random.below(5));
  TensorId x = builder.input({1, channels, static_cast<std::int64_t>(6 + random.below(6)),
                              static_cast<std::int64_t>(5 + random.below(6))});
  for (std::uint64_t layers = 2 + random.below(4); layers > 0; --layers) {
    const TensorId before = x;
    x = builder.conv(x, channels, test::window(3, {.pad = 1}));
    if (random.below(2) == 0) x = builder.unary(network::UnaryKind::relu, x);
    if (random.below(2) == 0) x = builder.binary(network::BinaryKind::add, x, before);
    if (random.below(3) == 0) x = builder.unary(network::UnaryKind::softplus, x);
  }
  builder.output(builder.concat(1, {x, builder.unary(network::UnaryKind::tanh, x)}));
  return builder.build();
}

/// All workloads one after the other; what none has written is not a number.
std::vector<Array> results_of(const Program& program, const Network& network,
                              const std::vector<Array>& inputs) {
  std::vector<Buffer> buffers(network.tensors.size());
  workload::TensorTable table(network.tensors.size());
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
  std::int64_t most = 64;
  for (const Workload& one : program.workloads) most = std::max(most, workload::scratch_of(one));
  Buffer scratch(Bytes{most});
  for (const Workload& one : program.workloads)
    workload::Executable(one, network, scratch.data()).run(table);
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

void break_order(Program& program, Random& random) {
  auto& all = program.workloads;
  const std::size_t at = random.below(all.size()), to = random.below(all.size());
  switch (random.below(4)) {
    case 0:
      return std::reverse(all.begin(), all.end());
    case 1:
      return std::swap(all[at], all[to]);
    case 2:
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    default:
      const Workload copy = all[at];
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(to), copy);
  }
}

void break_joint(workload::Joint& joint, Random& random) {
  const std::int64_t by = 4 * (random.below(2) == 0 ? 1 : -1);
  workload::Side& side = joint.sides[random.below(std::max(1u, joint.side_count))];
  switch (random.below(6)) {
    case 0:
      joint.start = std::max<std::int64_t>(0, joint.start + by);
      break;
    case 1:
      side.stride = std::max<std::int64_t>(0, side.stride + by);
      break;
    case 2:
      side.pipe_up = std::max<std::int64_t>(1, side.pipe_up + by / 4);
      break;
    case 3:
      joint.walk[0].first += by;
      break;
    case 4:
      joint.period = std::max<std::int64_t>(1, joint.period + by / 4);
      break;
    default:
      joint.ring.stride = std::max<std::int64_t>(0, joint.ring.stride + by);
  }
}

void break_workload(Workload& one, Random& random) {
  workload::Link& link = one.links[random.below(one.links.size())];
  workload::Region& buffer = one.buffers[random.below(one.buffers.size())];
  switch (random.below(7)) {
    case 0:
      if (one.links.size() == 1) return;
      one.links.erase(one.links.begin() + (&link - one.links.data()));
      break;
    case 1:
      std::swap(link, one.links[random.below(one.links.size())]);
      break;
    case 2:
      link.delay += static_cast<std::int64_t>(random.below(2));
      break;
    case 3:
      if (buffer.tensor) *buffer.tensor ^= 1 + random.below(3);
      break;
    case 4:
      buffer.offset = std::max<std::int64_t>(0, buffer.offset - 64);
      break;
    case 5:
      if (!link.sources.empty()) return break_joint(link.sources[0], random);
      break;
    default:
      break_joint(link.sink, random);
  }
}

/// As a file gives it; nothing if no file could say so, or its check takes long.
std::optional<Program> reread(const Program& program) {
  try {
    const nlohmann::json document = nlohmann::json::parse(workload::to_json(program).dump());
    Program result = workload::program_of(JsonView(document, "broken"));
    for (const Workload& one : result.workloads) {
      const workload::Effort effort = workload::effort_of(one);
      if (effort.touched + effort.marked > 1e7) return std::nullopt;
    }
    return result;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

TEST(TilesFaults, every_break_that_changes_the_results_is_found) {
  Random random(11);
  int breaks = 0, in_order = 0;
  for (int round = 0; round < 40; ++round) {
    const Network network = network_of_tiles(random);
    workload::TileTarget target;
    target.scratchpad = Bytes{static_cast<std::int64_t>(2 + random.below(10)) * 1024};
    target.may_overlap = random.below(2) == 0;
    const Program right = workload::compile(network, target).program;
    ASSERT_EQ(tiles_faults(right, network, 3), std::vector<std::string>{});
    const auto inputs = test::random_inputs(random, network);
    const auto expected = network::evaluate(network, inputs);
    ASSERT_TRUE(are_right(results_of(right, network, inputs), expected));
    for (int k = 0; k < 30; ++k) {
      Program broken = right;
      const bool breaks_order = k < 10;
      if (breaks_order)
        break_order(broken, random);
      else
        break_workload(broken.workloads[random.below(broken.workloads.size())], random);
      const auto program = reread(broken);
      if (!program || !tiles_faults(*program, network, 3).empty()) {
        breaks += program ? 1 : 0;
        in_order += breaks_order ? 1 : 0;
        continue;
      }
      EXPECT_TRUE(are_right(results_of(*program, network, inputs), expected))
          << "round " << round << ", break " << k;
    }
  }
  EXPECT_GE(breaks, 500);
  EXPECT_GE(in_order, 200);
}

/// Of such a tensor, in part over its padding alone.
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
    workload::TileTarget target;
    target.scratchpad = Bytes{1024};
    Program made;
    try {
      made = workload::compile(network, target).program;
    } catch (const InputError&) {
      ++too_large;
      continue;
    }
    empty += made.workloads.empty() ? 1 : 0;
    workload::write_program(file, made);
    const Program read = workload::read_program(file);
    EXPECT_EQ(read, made) << round;
    EXPECT_EQ(workload::violations(read), std::vector<std::string>{}) << round;
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
  const auto geometry = workload::geometry_of(builder.build(), LayerId(0), 4);
  workload::Tiling tiling{geometry.totals, false, false};
  tiling.tile[at(workload::Loop::col)] = 1;
  EXPECT_FALSE(workload::cost_of(geometry, tiling, {}));
  tiling.tile[at(workload::Loop::col)] = 2;
  EXPECT_TRUE(workload::cost_of(geometry, tiling, {}));
}

/// A program of some layers says where it begins and ends.
TEST(TilesFaults, a_missing_workload_of_some_layers_is_found) {
  Random random(7);
  const Network network = network_of_tiles(random);
  const std::vector<LayerId> layers{LayerId(0), LayerId(1), LayerId(2)};
  workload::TileTarget target;
  const Program some = workload::compile(network, {layers, {}, false}, target).program;
  ASSERT_EQ(tiles_faults(some, network, 1), std::vector<std::string>{});
  ASSERT_GT(some.workloads.size(), 1u);
  for (std::size_t i = 0; i < some.workloads.size(); ++i) {
    Program fewer = some;
    fewer.workloads.erase(fewer.workloads.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(tiles_faults(fewer, network, 1).empty()) << i;
  }
}

}  // namespace
}  // namespace millrace::api
