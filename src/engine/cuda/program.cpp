#include "engine/cuda/program.h"

#include <algorithm>

#include "engine/arena.h"

namespace millrace::engine::cuda {
namespace {

/// Kernels of NVIDIA's libraries read fastest, and some only, what begins at multiples of this.
constexpr std::int64_t library_alignment = 256;

Bytes rounded_up(Bytes size) {
  return {(size.count + library_alignment - 1) / library_alignment * library_alignment};
}

/// What comes in is there before the first step, what goes out after the last one.
std::vector<BufferLife> lives_of(const Program& program) {
  const std::size_t steps = program.steps.size();
  std::vector<BufferLife> lives;
  for (const Storage& storage : program.storages)
    lives.push_back({rounded_up(storage.size), steps, 0});
  const auto touch = [&](std::size_t storage, std::size_t step) {
    lives[storage].first = std::min(lives[storage].first, step);
    lives[storage].last = std::max(lives[storage].last, step);
  };
  for (std::size_t s = 0; s < steps; ++s) {
    for (const std::size_t storage : program.steps[s].reads) touch(storage, s);
    for (const std::size_t storage : program.steps[s].writes) touch(storage, s);
  }
  for (const Value& value : program.inputs) touch(value.storage, 0);
  for (const Value& value : program.outputs) touch(value.storage, steps);
  for (const Value& value : program.faults)
    for (const std::size_t step : {std::size_t{0}, steps}) touch(value.storage, step);
  return lives;
}

}  // namespace

network::Shape strides_of(Form form, const network::Shape& shape) {
  if (form != Form::half_channels_last || shape.size() < 3) return network::strides_of(shape);
  network::Shape channels_last(shape.begin(), shape.end());
  channels_last.erase(channels_last.begin() + 1);
  channels_last.push_back(shape[1]);
  network::Shape strides = network::strides_of(channels_last);
  const std::int64_t channel = strides.back();
  strides.pop_back();
  strides.insert(strides.begin() + 1, channel);
  return strides;
}

MemoryPlan plan_memory(const Program& program) {
  MemoryPlan plan;
  plan.offsets.resize(program.storages.size());
  std::vector<std::size_t> owners;
  std::vector<BufferLife> buffers;
  const std::vector<BufferLife> lives = lives_of(program);
  for (std::size_t i = 0; i < lives.size(); ++i) {
    if (program.storages[i].constant || lives[i].first > lives[i].last) continue;
    owners.push_back(i);
    buffers.push_back(lives[i]);
    plan.naive += lives[i].size;
  }
  const ArenaPlan arena = plan_arena(buffers);
  for (std::size_t i = 0; i < owners.size(); ++i) plan.offsets[owners[i]] = arena.offsets[i];
  plan.arena = arena.size;
  return plan;
}

}  // namespace millrace::engine::cuda
