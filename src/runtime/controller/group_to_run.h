#pragma once
// What the caller of a controller knows of a group.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "engine/engine.h"
#include "network/network.h"
#include "runtime/graph/firing.h"
#include "runtime/session.h"

namespace millrace::runtime {

/// A frame of a group, all of which is done.
struct EndedFrame {
  std::int64_t frame = 0;  // from 0, as they were released
  std::chrono::steady_clock::time_point due{}, end{};
  Time deadline{};            // after `due`
  std::size_t operation = 0;  // in which it was due: scenario times levels, and level
  std::chrono::steady_clock::time_point released{};
};

/// What the caller knows of a group, borrowed.
struct GroupToRun {
  std::string name = {};                      // for messages
  const network::Network* network = nullptr;  // null: the group has none
  std::map<std::string, engine::Engine*> engines;
  /// On the thread of the task that comes first, or last. None: inputs stay as they are, random
  /// ones, and a task that is not paced takes its worst time.
  Session::Fill preprocess = {};
  Session::Use postprocess = {};
  /// On the thread that ends a frame, with its priority; frames in order, none of the warm-up.
  std::function<void(const EndedFrame&)> ended = {};
  // For a board that is not here.
  Paced paced_front = {}, paced_back = {};
  // Tasks and edges of the group's graph.
  std::vector<TaskToRun> tasks = {};           // by task
  std::vector<std::int64_t> token_bytes = {};  // by edge
};

}  // namespace millrace::runtime
