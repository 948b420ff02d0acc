#include "workload/joint.h"

namespace millrace::workload {
namespace {

std::int64_t elements_in(const Side& side, Stage stage) {
  if (stage == Stage::pipe_up) return side.pipe_up;
  return stage == Stage::pipe_down ? side.pipe_down : side.pipeline;
}

std::int64_t way_to(const Step& step, std::int64_t index) {
  return index == 0 ? 0 : step.first + (index - 1) * step.next;
}

Stage stage_at(std::int64_t index, std::int64_t count) {
  if (index == 0) return Stage::pipe_up;
  return index == count - 1 ? Stage::pipe_down : Stage::pipeline;
}

}  // namespace

std::int64_t frequency(const Joint& joint) {
  std::int64_t tiles = 1;
  for (std::size_t i = 0; i < joint.walk_size; ++i) tiles *= joint.walk[i].count;
  return tiles;
}

std::int64_t runs_of(const Joint& joint) { return joint.period * frequency(joint) * joint.repeat; }

Stage stage_of(const Joint& joint, const JointState& state, std::size_t step) {
  return stage_at(state.index[step], joint.walk[step].count);
}

Stage stage_of(const Joint& joint, const JointState& state) {
  std::int64_t position = 0;
  for (std::size_t i = 0; i < joint.walk_size; ++i)
    position = position * joint.walk[i].count + state.index[i];
  return stage_at(position, frequency(joint));
}

Tile tile_of(const Joint& joint, const JointState& state) {
  Tile tile;
  tile.offset = joint.start;
  if (joint.ring.count > 1)
    tile.offset += state.moves / joint.ring.every % joint.ring.count * joint.ring.stride;
  for (std::size_t i = 0; i < joint.walk_size; ++i)
    tile.offset += way_to(joint.walk[i], state.index[i]);
  for (std::size_t i = 0; i < joint.side_count; ++i) {
    const Side& side = joint.sides[i];
    const bool stays = side.along < 0;
    const auto step = static_cast<std::size_t>(stays ? 0 : side.along);
    tile.counts[i] = elements_in(side, stays ? Stage::pipe_up : stage_of(joint, state, step));
    tile.strides[i] = side.stride;
    tile.first[i] = stays || state.index[step] == 0;
  }
  return tile;
}

void update(const Joint& joint, JointState& state) {
  if (++state.iteration < joint.period) return;
  state.iteration = 0;
  ++state.moves;
  for (std::size_t i = joint.walk_size; i-- > 0;) {
    if (++state.index[i] < joint.walk[i].count) return;
    state.index[i] = 0;
  }
  ++state.repeats;
}

}  // namespace millrace::workload
