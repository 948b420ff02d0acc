#pragma once
// One firing of a task of a graph, as its function sees it.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/units.h"

namespace millrace::runtime {

struct Firing {
  std::int64_t number = 0;  // of the task's firings, from 0
  /// Its outputs are thrown away: it is fired to learn how long it takes.
  bool is_rehearsal = false;
  /// By input and by output: all tokens of the firing, one behind the other.
  std::span<const std::span<const std::byte>> inputs = {};
  std::span<const std::span<std::byte>> outputs = {};
  const std::atomic<bool>* stopping = nullptr;  // null: it is not asked to stop
  /// By input and by output: whether each token holds something, 1, or is empty, 0. Outputs hold
  /// something unless the function says otherwise. Without spans: all do.
  std::span<const std::span<const std::uint8_t>> filled_inputs = {};
  std::span<const std::span<std::uint8_t>> filled_outputs = {};
};

/// It has inputs, and none of their tokens holds anything.
bool has_only_empty_inputs(const Firing& firing);
/// All that it makes is empty.
void leave_outputs_empty(const Firing& firing);

/// May throw; called by one thread.
using Fire = std::function<void(const Firing&)>;

/// Fires it. What it throws is an InputError or EngineError that begins with `what` it is.
void fire_named(const Fire& fire, const Firing& firing, const std::string& what);

/// Does the work as long as a processor that is not here would take. Says how long that is.
using Paced = std::function<Time(const std::function<void()>& work)>;

/// The code of a task. What it keeps between firings belongs to what `make` returns.
struct TaskToRun {
  std::function<Fire()> make = {};  // none: the task takes its worst time and makes zeros
  Paced paced = {};                 // none: the task runs on its processor, which is here
  /// It is not fired where all tokens of its inputs are empty; what it would make is empty then. So
  /// it takes no time, where its bounds take the worst.
  bool skips_empty = false;
};

}  // namespace millrace::runtime
