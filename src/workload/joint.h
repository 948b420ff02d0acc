#pragma once
// How a link walks over a tensor in a buffer, tile by tile: Algorithm 1 of the paper as a state
// machine. Freestanding: no allocation, no exceptions, no library but memcpy. docs/methods/tiles.md
// explains the fields and where this departs from the printed pseudocode.
#include <array>
#include <cstddef>
#include <cstdint>

namespace millrace::workload {

inline constexpr std::size_t max_walk = 6;     // nested loops over tiles
inline constexpr std::size_t max_sides = 4;    // dimensions of a tile
inline constexpr std::size_t max_sources = 8;  // joints that a link reads

/// Where a loop over tiles stands: in its first tile, between, or in its last one of several.
enum class Stage : std::uint8_t { pipe_up, pipeline, pipe_down };

/// One loop over tiles. In bytes: from the first tile to the second, and from each later one to the
/// next; 0 stays where it is.
struct Step {
  std::int64_t count = 1;
  std::int64_t first = 0, next = 0;
  bool operator==(const Step&) const = default;
};

/// One dimension of a tile: its elements in each stage of the loop `along`, and the bytes from one
/// to the next. The last side is the innermost.
struct Side {
  std::int64_t pipe_up = 1, pipeline = 1, pipe_down = 1;
  std::int64_t stride = 0;
  std::int32_t along = -1;  // Joint::walk; -1: none, always `pipe_up`
  bool operator==(const Side&) const = default;
};

/// Places that tiles take in turn, `stride` bytes apart: double buffering is a ring of two. Where a
/// larger tile lies in each place, the joint stays there for `every` tiles of its own.
struct Ring {
  std::int64_t count = 1, stride = 0, every = 1;
  bool operator==(const Ring&) const = default;
};

/// Access to a tensor in a buffer. Its link's runs are counted: after each `period` of them the
/// joint moves on to the next tile, outermost loop first in `walk`; the whole walk is done `repeat`
/// times. The paper's frequency is the product of the counts of the walk.
struct Joint {
  std::int32_t buffer = 0;   // Workload::buffers
  std::int32_t element = 4;  // bytes
  std::int64_t start = 0;    // bytes from the buffer's begin to the first tile
  std::int64_t period = 1, repeat = 1;
  std::uint32_t walk_size = 0, side_count = 0;
  std::array<Step, max_walk> walk = {};
  std::array<Side, max_sides> sides = {};
  Ring ring = {};
  bool operator==(const Joint&) const = default;
};

/// The counters of Algorithm 1.
struct JointState {
  std::int64_t iteration = 0;                     // of the period: iterCount
  std::int64_t moves = 0;                         // tiles left behind
  std::int64_t repeats = 0;                       // walks done: repeatIter
  std::array<std::int64_t, max_walk> index = {};  // freqIter, one digit for each loop
  bool operator==(const JointState&) const = default;
};

/// Where the joint's tile is in one run.
struct Tile {
  std::int64_t offset = 0;  // bytes from the buffer's begin
  std::array<std::int64_t, max_sides> counts = {1, 1, 1, 1};
  std::array<std::int64_t, max_sides> strides = {};
  std::array<bool, max_sides> first = {true, true, true, true};  // the side's loop is at its begin
};

/// The number of tiles in a walk: the paper's frequency.
std::int64_t frequency(const Joint& joint);
/// The runs until the joint has done all its repeats.
std::int64_t runs_of(const Joint& joint);

Stage stage_of(const Joint& joint, const JointState& state, std::size_t step);
/// Stage of the whole walk: pipe-up in its first tile, pipe-down in its last.
Stage stage_of(const Joint& joint, const JointState& state);

Tile tile_of(const Joint& joint, const JointState& state);

/// Algorithm 1, UpdateJoint: to be called after each run of the link.
void update(const Joint& joint, JointState& state);

}  // namespace millrace::workload
