#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "network/evaluate/evaluate.h"
#include "network/random_values.h"
#include "workload/check/check.h"
#include "workload/executable.h"
#include "workload/facts.h"
#include "workload/tiles/tiles.h"

namespace millrace::workload {
namespace {

using network::Network;

std::vector<std::string> violations_of(const Program& program, const Network& network) {
  std::vector<std::string> found = violations(program, network);
  return found.empty() ? violations(program) : found;
}

void check_tiles(const Program& program, const Network& network) {
  const std::vector<std::string> found = violations_of(program, network);
  if (!found.empty()) throw InputError(program.network, found.front());
}

/// The network's inputs: random between -amplitude and amplitude.
struct RandomInputs {
  std::uint64_t seed = 1;
  float amplitude = 1;
};

/// Every tensor of the network, as the plain loops compute it.
class AllTensors {
 public:
  AllTensors(const Network& network, const RandomInputs& inputs)
      : network_(network), buffers_(network.tensors.size()), table_(network.tensors.size()) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const auto& constant = network.tensors[i].constant;
      if (!constant) buffers_[i] = network::Buffer(network.tensors[i].size());
      // Only ever read.
      table_[i] = constant ? const_cast<std::byte*>(constant->memory->data()) : buffers_[i].data();
    }
    Random random(inputs.seed);
    for (const TensorId input : network.inputs) fill(input, random, inputs.amplitude);
    for (const network::Layer& layer : network.layers) evaluate(layer);
  }

  const TensorTable& table() const { return table_; }

 private:
  void fill(TensorId id, Random& random, float amplitude) {
    if (network_[id].type == network::DataType::int8 ||
        network_[id].type == network::DataType::uint8)
      for (std::int64_t i = 0; i < network_[id].size().count; ++i)
        table_[id.index][i] = static_cast<std::byte>(random.below(256));
    if (network_[id].type != network::DataType::float32) return;
    auto* values = reinterpret_cast<float*>(table_[id.index]);
    for (std::int64_t i = 0; i < network_[id].size().count / 4; ++i)
      values[i] = random.uniform(-amplitude, amplitude);
  }

  void evaluate(const network::Layer& layer) {
    std::vector<network::ConstView> inputs;
    std::vector<network::View> outputs;
    for (const TensorId id : layer.inputs) {
      if (!id.valid())
        inputs.emplace_back();
      else
        inputs.push_back({network_[id].type, network_[id].shape, table_[id.index]});
    }
    for (const TensorId id : layer.outputs) {
      if (!id.valid())
        outputs.emplace_back();
      else
        outputs.push_back({network_[id].type, network_[id].shape, table_[id.index]});
    }
    network::evaluate(layer, inputs, outputs);
  }

  const Network& network_;
  std::vector<network::Buffer> buffers_;
  TensorTable table_;
};

double largest_of(const network::Tensor& tensor, const std::byte* values) {
  if (tensor.type != network::DataType::float32) return 0;
  double largest = 0;
  const auto* numbers = reinterpret_cast<const float*>(values);
  for (std::int64_t i = 0; i < tensor.size().count / 4; ++i)
    largest = std::max(largest, std::fabs(static_cast<double>(numbers[i])));
  return largest;
}

/// So small a share of the inputs is no larger than 32 roundings of them to 24 bits. One program of
/// 2,000 random ones needs it: a convolution of 18 products, and nearly all of its sums were below
/// zero. The activation left 9e-5 beside inputs of 2, and 4e-8 of it was rounding.
constexpr double rounded_share = 32 * 0x1p-24 / tiles_tolerance;

/// The largest of the float32 numbers that change from frame to frame.
double largest_input(const Workload& workload, const Network& network,
                     const TensorTable& table) {
  double largest = 0;
  for (const Link& link : workload.links)
    for (const Joint& source : link.sources) {
      const auto& buffer = workload.buffers[static_cast<std::size_t>(source.buffer)];
      if (buffer.memory == 0 && buffer.tensor && !buffer.constant)
        largest = std::max(largest, largest_of(network.tensors[*buffer.tensor],
                                               table[*buffer.tensor]));
    }
  return largest;
}

/// `least`: at least that is taken for the largest result.
double difference_of(const network::Tensor& tensor, const std::byte* found,
                     const std::byte* expected, double least) {
  const auto size = static_cast<std::size_t>(tensor.size().count);
  if (tensor.type != network::DataType::float32)
    return std::equal(found, found + size, expected) ? 0 : 1;
  const auto* a = reinterpret_cast<const float*>(found);
  const auto* b = reinterpret_cast<const float*>(expected);
  double most = 0, largest = least;
  for (std::size_t i = 0; i < size / 4; ++i) {
    const double d = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(d <= most)) most = d;
    largest = std::max(largest, std::fabs(static_cast<double>(b[i])));
  }
  return largest == 0 ? most : most / largest;
}

/// The tensors that the workload writes.
std::vector<TensorId> outputs_of(const Workload& workload, const Network& network) {
  std::vector<TensorId> outputs;
  const auto add = [&](TensorId id) {
    if (id.valid() && std::ranges::find(outputs, id) == outputs.end()) outputs.push_back(id);
  };
  for (const Link& link : workload.links) {
    const auto& buffer = workload.buffers[static_cast<std::size_t>(link.sink.buffer)];
    if (buffer.memory == 0 && buffer.tensor) add(TensorId(*buffer.tensor));
    if (link.operation != TileOperation::whole) continue;
    for (const TensorId id : network.layers[workload.layer].outputs) add(id);
  }
  return outputs;
}

/// The shortest of the repetitions.
void time_it(Executable& executable, const TensorTable& table, int repetitions,
             TilesRun& run) {
  for (int i = 0; i < repetitions; ++i) {
    Executable::Spent spent;
    const auto begin = std::chrono::steady_clock::now();
    executable.run_timed(table, spent);
    const Time total(std::chrono::steady_clock::now() - begin);
    if (i > 0 && total >= run.total) continue;
    run.total = total;
    run.transfers = Time(spent.transfers);
    run.kernels = Time(spent.kernels);
  }
}

std::vector<TilesRun> run_on(const Program& program, const Network& network,
                             const RandomInputs& inputs, int repetitions) {
  const AllTensors all(network, inputs);
  const FastMemories memories(program);
  std::vector<TilesRun> runs;
  for (const Workload& workload : program.workloads) {
    TensorTable table = all.table();
    std::vector<network::Buffer> buffers;
    const std::vector<TensorId> outputs = outputs_of(workload, network);
    for (const TensorId id : outputs) {
      buffers.emplace_back(network[id].size());
      table[id.index] = buffers.back().data();
    }
    Executable executable(workload, network, memories);
    TilesRun run{workload.name};
    time_it(executable, table, repetitions, run);
    const double least = rounded_share * largest_input(workload, network, all.table());
    for (const TensorId id : outputs)
      run.difference =
          std::max(run.difference,
                   difference_of(network[id], table[id.index], all.table()[id.index], least));
    runs.push_back(run);
  }
  return runs;
}

/// On how many inputs: one may hide a fault behind an activation. Some seconds of the plain loops.
int trials_for(const Network& network) {
  constexpr double most_macs = 2e9;
  double macs = 1;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    macs += static_cast<double>(cost_of(network, LayerId(i)).macs);
  return static_cast<int>(std::clamp(most_macs / macs, 2.0, 16.0));
}

}  // namespace

std::vector<TilesRun> run_tiles(const Program& program, const Network& network,
                                std::uint64_t seed, int repetitions) {
  check_tiles(program, network);
  return run_on(program, network, {seed}, repetitions);
}

std::vector<std::string> tiles_faults(const Program& program, const Network& network,
                                      std::uint64_t seed) {
  std::vector<std::string> found = violations_of(program, network);
  constexpr std::array amplitudes{1.0f, 0.1f, 4.0f, 0.5f};
  const int trials = trials_for(network);
  for (int trial = 0; trial < trials && found.empty(); ++trial) {
    const auto number = static_cast<std::size_t>(trial);
    const RandomInputs inputs{seed + number, amplitudes[number % amplitudes.size()]};
    for (const TilesRun& run : run_on(program, network, inputs, 1))
      if (!(run.difference <= tiles_tolerance))
        found.push_back(
            fmt::format("workload '{}': its result differs from the layer's by {:.1e} of the "
                        "largest; its links bring other elements than the layer needs",
                        run.name, run.difference));
  }
  return found;
}

double largest_difference(const std::vector<TilesRun>& runs) {
  double most = 0;
  for (const TilesRun& run : runs)
    if (!(run.difference <= most)) most = run.difference;
  return most;
}

}  // namespace millrace::workload
