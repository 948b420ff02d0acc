#include "engine/simulated/subnet.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "engine/request.h"

namespace millrace::engine::simulated {
namespace {

using Clock = std::chrono::steady_clock;

void spin_until(Clock::time_point end) {
  while (Clock::now() < end) {
  }
}

std::uint64_t mixed(std::uint64_t mark, std::uint64_t value) { return Random(mark ^ value)(); }

/// A tensor holds its mark again and again; what holds anything else is hashed.
std::uint64_t mark_of(const std::byte* data, std::size_t size) {
  std::uint64_t first = 0, hash = size;
  std::memcpy(&first, data, std::min(size, sizeof first));
  bool uniform = true;
  for (std::size_t i = 0; i < size; i += sizeof first) {
    std::uint64_t word = 0;
    const std::size_t part = std::min(size - i, sizeof word);
    std::memcpy(&word, data + i, part);
    uniform &= std::memcmp(&word, &first, part) == 0;
    hash = mixed(hash, word);
  }
  return uniform ? first : hash;
}

/// The mark as it can be read back from `size` bytes. The bits that would make a float16, float32
/// or float64 infinite or NaN are cleared.
std::uint64_t stored(std::uint64_t mark, std::size_t size) {
  const std::uint64_t finite = mark & 0xbfffbfffbfffbfffu;
  std::uint64_t kept = 0;
  std::memcpy(&kept, &finite, std::min(size, sizeof kept));
  return kept;
}

void fill(std::byte* data, std::size_t size, std::uint64_t mark) {
  for (std::size_t i = 0; i < size; i += sizeof mark)
    std::memcpy(data + i, &mark, std::min(size - i, sizeof mark));
}

}  // namespace

SimulatedSubnet::SimulatedSubnet(const SubnetRequest& request, std::vector<Time> times)
    : network_(request.network),
      layers_(request.layers),
      times_(std::move(times)),
      inputs_(request.inputs),
      outputs_(plain_outputs(request)),
      marks_(request.network->tensors.size()) {}

void SimulatedSubnet::mark_layer(LayerId layer) {
  std::uint64_t mark = layer.index + 1;
  for (const TensorId input : (*network_)[layer].inputs)
    if (input.valid()) mark = mixed(mark, marks_[input.index]);
  for (const TensorId output : (*network_)[layer].outputs) {
    mark = mixed(mark, 0);
    if (output.valid())
      marks_[output.index] =
          stored(mark, static_cast<std::size_t>((*network_)[output].size().count));
  }
}

void SimulatedSubnet::read_inputs(std::span<const std::byte* const> in) {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    marks_[inputs_[i].tensor.index] =
        mark_of(in[i], static_cast<std::size_t>(inputs_[i].layout.size.count));
}

void SimulatedSubnet::write_outputs(std::span<std::byte* const> out) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    fill(out[i], static_cast<std::size_t>(outputs_[i].layout.size.count),
         marks_[outputs_[i].tensor.index]);
}

void SimulatedSubnet::run(std::span<const std::byte* const> in, std::span<std::byte* const> out) {
  Clock::time_point end = Clock::now();
  for (const Time time : times_) end += time;
  read_inputs(in);
  for (const LayerId layer : layers_) mark_layer(layer);
  write_outputs(out);
  spin_until(end);
}

std::vector<GroupTime> SimulatedSubnet::run_timed(std::span<const std::byte* const> in,
                                                  std::span<std::byte* const> out) {
  std::vector<GroupTime> groups;
  read_inputs(in);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Clock::time_point start = Clock::now();
    mark_layer(layers_[i]);
    spin_until(start + times_[i]);
    const auto took = std::chrono::duration_cast<Time>(Clock::now() - start);
    groups.push_back({{layers_[i]}, "simulated", took});
  }
  write_outputs(out);
  return groups;
}

}  // namespace millrace::engine::simulated
