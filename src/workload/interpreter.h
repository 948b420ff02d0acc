#pragma once
// Runs a workload: Algorithm 2 of the paper. Freestanding like joint.h; kernels come as pointers to
// functions. Nothing is checked here: see check.h.
#include "workload/joint.h"

namespace millrace::workload {

/// A tile in memory.
struct TileView {
  std::byte* data = nullptr;
  Tile tile;
};

/// What a kernel is given. A sink that stays for several runs sums up: `pass` of `passes`.
struct Call {
  std::array<TileView, max_sources> sources = {};
  std::size_t source_count = 0;
  TileView sink;
  std::int32_t element = 4;  // bytes
  std::int64_t pass = 0, passes = 1;
  const void* parameters = nullptr;
};

using KernelFunction = void (*)(const Call& call);

/// Copies the elements of the first source to the sink, which has the same counts.
void copy_tile(const Call& call);

/// A link as the interpreter runs it. In step t it runs if t = delay + k * period, for k < runs.
struct LinkCode {
  const Joint* joints = nullptr;  // the sources, then the sink; borrowed
  std::size_t source_count = 0;
  std::int64_t delay = 0, period = 1, runs = 1;
  KernelFunction function = copy_tile;
  const void* parameters = nullptr;
  std::int32_t unit = 0;  // 0 computes, 1 moves
};

/// What a link's run is due to, by the caller's clock.
struct Clock {
  std::int64_t (*now)() = nullptr;  // nothing: time is not taken
};

/// `links` of one workload with their state. All memory is the caller's.
struct Machine {
  const LinkCode* links = nullptr;
  std::size_t link_count = 0;
  std::byte* const* buffers = nullptr;  // by Joint::buffer: where each begins
  JointState* states = nullptr;         // max_sources + 1 for each link
  std::int64_t* spent = nullptr;        // by link, in the clock's unit; or nothing
  Clock clock = {};
};

/// The steps until the last link has done its last run.
std::int64_t steps_of(const LinkCode* links, std::size_t count);

bool is_active(const LinkCode& link, std::int64_t step);

/// The state as before the first step.
void reset(const Machine& machine);

/// Runs the link once, and moves its joints on. Active in the current step.
void run_link(const Machine& machine, std::size_t link);

/// The active links of one unit, one after the other as they are listed. Units may run a step on
/// threads of their own; each waits for the others before the next step.
void run_step(const Machine& machine, std::int64_t step, std::int32_t unit);

/// All steps; in each the active links, one after the other as they are listed.
void run(const Machine& machine);

}  // namespace millrace::workload
