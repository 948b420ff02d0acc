#include "workload/interpreter.h"

#include <cstring>

namespace millrace::workload {
namespace {

constexpr std::size_t states_per_link = max_sources + 1;

TileView view_of(const Machine& machine, const Joint& joint, const JointState& state) {
  TileView view;
  view.tile = tile_of(joint, state);
  view.data = machine.buffers[joint.buffer] + view.tile.offset;
  return view;
}

/// The sides of both tiles, with those merged that follow each other without a gap in both.
struct CopyLoops {
  std::array<std::int64_t, max_sides> counts = {1, 1, 1, 1};
  std::array<std::int64_t, max_sides> from = {}, to = {};
  std::size_t row = 0;  // bytes that lie side by side in both
};

CopyLoops loops_of(const Tile& source, const Tile& sink, std::int32_t element) {
  CopyLoops loops;
  std::int64_t row = element;
  std::size_t left = max_sides;
  while (left > 0 && (sink.counts[left - 1] == 1 ||
                      (source.strides[left - 1] == row && sink.strides[left - 1] == row))) {
    row *= sink.counts[left - 1];
    --left;
  }
  for (std::size_t i = 0; i < left; ++i) {
    loops.counts[i] = sink.counts[i];
    loops.from[i] = source.strides[i];
    loops.to[i] = sink.strides[i];
  }
  loops.row = static_cast<std::size_t>(row);
  return loops;
}

/// Both may overlap if `to` lies before `from`: then piece by piece.
void copy_row(const std::byte* from, std::byte* to, std::size_t row) {
  const auto apart = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(from) -
                                              reinterpret_cast<std::uintptr_t>(to));
  if (apart == 0) return;
  if (apart >= row) {
    std::memcpy(to, from, row);
    return;
  }
  for (std::size_t i = 0; i < row; i += apart)
    std::memcpy(to + i, from + i, row - i < apart ? row - i : apart);
}

void copy_rows(const CopyLoops& loops, const std::byte* from, std::byte* to) {
  for (std::int64_t k = 0; k < loops.counts[2]; ++k)
    for (std::int64_t l = 0; l < loops.counts[3]; ++l)
      copy_row(from + k * loops.from[2] + l * loops.from[3], to + k * loops.to[2] + l * loops.to[3],
               loops.row);
}

}  // namespace

void copy_tile(const Call& call) {
  const TileView& source = call.sources[0];
  const CopyLoops loops = loops_of(source.tile, call.sink.tile, call.element);
  for (std::int64_t i = 0; i < loops.counts[0]; ++i)
    for (std::int64_t j = 0; j < loops.counts[1]; ++j)
      copy_rows(loops, source.data + i * loops.from[0] + j * loops.from[1],
                call.sink.data + i * loops.to[0] + j * loops.to[1]);
}

std::int64_t steps_of(const LinkCode* links, std::size_t count) {
  std::int64_t steps = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t end = links[i].delay + (links[i].runs - 1) * links[i].period + 1;
    if (end > steps) steps = end;
  }
  return steps;
}

bool is_active(const LinkCode& link, std::int64_t step) {
  const std::int64_t since = step - link.delay;
  return since >= 0 && since % link.period == 0 && since / link.period < link.runs;
}

void reset(const Machine& machine) {
  for (std::size_t i = 0; i < machine.link_count * states_per_link; ++i)
    machine.states[i] = JointState{};
}

void run_link(const Machine& machine, std::size_t index) {
  const LinkCode& link = machine.links[index];
  JointState* states = machine.states + index * states_per_link;
  Call call;
  call.source_count = link.source_count;
  for (std::size_t i = 0; i < link.source_count; ++i)
    call.sources[i] = view_of(machine, link.joints[i], states[i]);
  const Joint& sink = link.joints[link.source_count];
  call.sink = view_of(machine, sink, states[link.source_count]);
  call.element = sink.element;
  call.pass = states[link.source_count].iteration;
  call.passes = sink.period;
  call.parameters = link.parameters;
  const std::int64_t begin = machine.clock.now ? machine.clock.now() : 0;
  link.function(call);
  if (machine.clock.now) machine.spent[index] += machine.clock.now() - begin;
  for (std::size_t i = 0; i <= link.source_count; ++i) update(link.joints[i], states[i]);
}

void run_step(const Machine& machine, std::int64_t step, std::int32_t unit) {
  for (std::size_t i = 0; i < machine.link_count; ++i)
    if (machine.links[i].unit == unit && is_active(machine.links[i], step)) run_link(machine, i);
}

void run(const Machine& machine) {
  const std::int64_t steps = steps_of(machine.links, machine.link_count);
  for (std::int64_t step = 0; step < steps; ++step)
    for (std::size_t i = 0; i < machine.link_count; ++i)
      if (is_active(machine.links[i], step)) run_link(machine, i);
}

}  // namespace millrace::workload
