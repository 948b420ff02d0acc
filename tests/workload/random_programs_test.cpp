// Random programs over one to three fast memories, in float32 and in 8 bits: values as those of the
// plain loops, no byte outside, and every break that changes the results is found.
// MILLRACE_TILE_PROGRAMS=N: so many programs, and as many breaks that are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "base/error.h"
#include "broken_program.h"
#include "network/evaluate/evaluate.h"
#include "random_byte_network.h"
#include "random_targets.h"
#include "support/network_of_tiles.h"
#include "workload/compile.h"
#include "workload/executable.h"
#include "workload/facts.h"
#include "workload/tiles/tiles.h"

namespace millrace::workload {
namespace {

using network::Array;
using network::Buffer;
using network::Network;

/// All tensors, each between guards. What nobody has written is not a number, or 255.
class GuardedTensors {
 public:
  GuardedTensors(const Network& network, const std::vector<Array>& inputs) {
    for (const network::Tensor& tensor : network.tensors) {
      const std::int64_t size = tensor.size().count;
      buffers_.emplace_back(Bytes{size + 2 * guard});
      std::byte* begin = buffers_.back().data();
      std::fill_n(begin, size + 2 * guard, unwritten);
      if (tensor.constant) std::copy_n(tensor.constant->bytes().data(), size, begin + guard);
      table.push_back(begin + guard);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i)
      std::copy_n(inputs[i].bytes().data(), inputs[i].bytes().size(),
                  table[network.inputs[i].index]);
  }

  bool are_guards_untouched() const {
    return std::ranges::all_of(buffers_, [](const Buffer& buffer) {
      const std::byte* end = buffer.data() + buffer.size().count;
      const auto is_guard = [](std::byte value) { return value == unwritten; };
      return std::all_of(buffer.data(), buffer.data() + guard, is_guard) &&
             std::all_of(end - guard, end, is_guard);
    });
  }

  static constexpr std::byte unwritten{0xff};
  TensorTable table;

 private:
  static constexpr std::int64_t guard = 256;
  std::vector<Buffer> buffers_;
};

/// All workloads one after the other. Nothing if one wrote outside of the tensors.
std::vector<Array> results_of(const Program& program, const Network& network,
                              const std::vector<Array>& inputs) {
  GuardedTensors tensors(network, inputs);
  FastMemories fast(program);
  fast.fill(GuardedTensors::unwritten);
  for (const Workload& one : program.workloads)
    Executable(one, network, fast).run(tensors.table);
  std::vector<Array> results;
  if (!tensors.are_guards_untouched()) return results;
  for (const TensorId id : network.outputs) {
    Buffer copy(network[id].size());
    std::copy_n(tensors.table[id.index], copy.size().count, copy.data());
    results.push_back(make_array(network[id].type, network[id].shape, std::move(copy)));
  }
  return results;
}

/// Bit by bit, but for float32 numbers that are not made of 8-bit ones.
bool are_right(const std::vector<Array>& results, const std::vector<Array>& expected, bool exact) {
  if (results.size() != expected.size()) return false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (exact && !std::ranges::equal(results[i].bytes(), expected[i].bytes())) return false;
    if (exact) continue;
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

struct Counts {
  int programs = 0, breaks = 0, harmless = 0, unreadable = 0;
  std::array<int, 3> memories{};  // programs by fast memories that they use
  int in_8_bits = 0;
};

std::size_t memories_in_use(const Program& program) {
  std::size_t used = 1;
  for (std::size_t memory = 1; memory + 1 < program.memories.size(); ++memory) {
    const auto uses = [&](const Workload& one) { return needed_of(one, memory) > 0; };
    used += std::ranges::any_of(program.workloads, uses) ? 1 : 0;
  }
  return used;
}

/// A program of a network, and what is expected of it.
struct Sample {
  Network network;
  bool exact = false;
  Program program = {};
  std::vector<Array> inputs = {}, expected = {};
};

/// Nothing if the scratchpad is too small for one of the layers.
std::optional<Program> program_of(const Network& network, const TileTarget& target,
                                  Random& random) {
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.emplace_back(i);
  try {
    return compile(network, {layers, {}, random.below(4) == 0}, target).program;
  } catch (const InputError&) {
    return {};
  }
}

/// One, two or three memories are in use, each as often. Three help small scratchpads only.
Sample sample_of(Random& random) {
  const bool in_8_bits = random.below(2) == 0;
  const std::size_t wanted = 1 + random.below(3);
  const std::int64_t least = wanted == 3 ? in_8_bits ? 160 : 360 : in_8_bits ? 400 : 1200;
  const std::int64_t most = wanted == 3 ? in_8_bits ? 600 : 1400 : 5000;
  Sample sample{{}, in_8_bits};
  for (std::optional<Program> made; !made || memories_in_use(*made) != wanted;) {
    sample.network = in_8_bits ? random_byte_network(random) : test::network_of_tiles(random);
    made = program_of(sample.network, random_target(random, {least, most}), random);
    if (made) sample.program = *made;
  }
  sample.inputs = test::random_inputs(random, sample.network);
  sample.expected = network::evaluate(sample.network, sample.inputs);
  return sample;
}

void count(const Sample& sample, Counts& counts) {
  ++counts.programs;
  counts.in_8_bits += sample.exact ? 1 : 0;
  ++counts.memories[memories_in_use(sample.program) - 1];
}

void expect_breaks_to_be_found(const Sample& sample, Random& random, Counts& counts) {
  for (int k = 0; k < 3; ++k) {
    Program broken = sample.program;
    break_at_random(broken, random);
    if (broken == sample.program) continue;
    const auto program = reread(broken);
    if (!program) {
      ++counts.unreadable;
      continue;
    }
    if (!workload::tiles_faults(*program, sample.network, 3).empty()) {
      ++counts.breaks;
      continue;
    }
    ++counts.harmless;
    EXPECT_TRUE(are_right(results_of(*program, sample.network, sample.inputs), sample.expected,
                          sample.exact))
        << "break " << k << ": " << differences(sample.program, *program).front();
  }
}

int programs_to_try() {
  const char* text = std::getenv("MILLRACE_TILE_PROGRAMS");
  return text != nullptr ? std::max(1, std::atoi(text)) : 1000;
}

TEST(RandomPrograms, give_the_values_of_the_loops_and_each_break_is_found) {
  const int most = programs_to_try();
  Random random(11);
  Counts counts;
  for (int round = 0; counts.programs < most || counts.breaks < most; ++round) {
    SCOPED_TRACE(round);
    const Sample sample = sample_of(random);
    count(sample, counts);
    ASSERT_EQ(tiles_faults(sample.program, sample.network, 3), std::vector<std::string>{});
    ASSERT_TRUE(are_right(results_of(sample.program, sample.network, sample.inputs),
                          sample.expected, sample.exact));
    expect_breaks_to_be_found(sample, random, counts);
    if (testing::Test::HasFailure()) return;
  }
  std::cout << counts.programs << " programs, " << counts.in_8_bits << " of them in 8 bits; with "
            << counts.memories[0] << ", " << counts.memories[1] << " and " << counts.memories[2]
            << " fast memories in use; " << counts.breaks << " breaks found, " << counts.unreadable
            << " more not readable, " << counts.harmless << " changes without effect\n";
  for (const int programs : counts.memories) EXPECT_GE(4 * programs, counts.programs);
  EXPECT_GE(3 * counts.in_8_bits, counts.programs);
  EXPECT_LE(counts.harmless, counts.breaks);
}

}  // namespace
}  // namespace millrace::workload
