#include "sample_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "network/evaluate/evaluate.h"
#include "support/network_builder.h"
#include "workload/check/check.h"
#include "workload/executable.h"
#include "workload/facts.h"

namespace millrace::workload {
namespace {

using network::Array;
using network::Buffer;
using network::Network;

/// Every tensor that is no constant in memory of its own.
struct Memories {
  explicit Memories(const Network& network)
      : buffers(network.tensors.size()), table(network.tensors.size()) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (const auto& constant = network.tensors[i].constant) {
        table[i] = const_cast<std::byte*>(constant->memory->data());
        continue;
      }
      buffers[i] = Buffer(network.tensors[i].size());
      table[i] = buffers[i].data();
    }
  }
  std::vector<Buffer> buffers;
  TensorTable table;
};

/// The difference of integers is 0 or 1.
double largest_difference(const Array& a, const Array& b) {
  if (a.type != network::DataType::float32)
    return std::ranges::equal(a.bytes(), b.bytes()) ? 0 : 1;
  const auto x = a.values<float>(), y = b.values<float>();
  double difference = 0, largest = 1e-30;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = std::max(difference, std::fabs(static_cast<double>(x[i]) - y[i]));
    largest = std::max(largest, std::fabs(static_cast<double>(y[i])));
  }
  return difference / largest;
}

}  // namespace

Network sample_network() {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({1, 8, 12, 12});
  builder.output(builder.conv(x, 16, test::window(3, {.pad = 1})));
  return builder.build();
}

TileTarget sample_target() {
  TileTarget target;
  target.scratchpad = Bytes{6 * 1024};
  target.may_overlap = true;
  target.run_seconds = 1e-8;
  return target;
}

std::vector<Array> run_program(const Program& program, const Network& network,
                               const std::vector<Array>& inputs) {
  Memories memories(network);
  const FastMemories fast(program);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    std::copy_n(inputs[i].memory->data(), inputs[i].memory->size().count,
                memories.table[network.inputs[i].index]);
  for (const Workload& workload : program.workloads)
    Executable(workload, network, fast).run(memories.table);
  std::vector<Array> outputs;
  for (const TensorId id : network.outputs) {
    Buffer copy(network[id].size());
    std::copy_n(memories.table[id.index], copy.size().count, copy.data());
    outputs.push_back(make_array(network[id].type, network[id].shape, std::move(copy)));
  }
  return outputs;
}

void expect_equal_to_the_loops(const Network& network, const TileTarget& target) {
  const Compiled compiled = compile(network, target);
  EXPECT_EQ(violations(compiled.program), std::vector<std::string>{});
  EXPECT_EQ(violations(compiled.program, network), std::vector<std::string>{});
  Random random(9);
  const auto inputs = test::random_inputs(random, network);
  const auto expected = network::evaluate(network, inputs);
  const auto found = run_program(compiled.program, network, inputs);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(largest_difference(found[i], expected[i]), 1e-5);
}

}  // namespace millrace::workload
