#pragma once
// How long pieces of work take, each on its processor, many times: what all worst times of tasks
// come from.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/units.h"
#include "board/board.h"

namespace millrace::runtime {

struct TaskTimesOptions {
  std::int64_t samples = 200;  // of each task, at least
  /// The other cores run the other tasks at the same time, and between two runs of a task others
  /// had its caches. False: each task again and again, on an idle machine.
  bool beside_others = true;
  bool priorities = true;
  std::uint64_t seed = 1;
  std::function<void()> between = {};  // called by the caller's thread now and then; may throw
  /// So long a function of a task may take, before its thread is left alone.
  Time patience = std::chrono::seconds(60);
};

/// Times of many runs.
struct TaskTimes {
  std::int64_t samples = 0;
  Time best{}, average{}, largest{};
  Time worst{};  // the larger of the largest one and the mean plus six standard deviations
};

/// Times from many samples; the rule by which both tasks and overheads get their worst times.
TaskTimes times_of(const std::vector<Time>& samples);

/// Something that can be run, and how long it took each time.
struct TimedPiece {
  std::string name;           // for messages
  std::size_t processor = 0;  // of the board
  /// How long it took; may throw. Owns what it touches: its thread may be left alone in it.
  std::function<Time()> run;
  std::vector<Time> samples = {};
};

struct PieceTiming {
  const TaskTimesOptions& options;
  int priority = 0;  // if the system grants it
};

/// Runs all pieces of a processor in an order by chance, again and again, on a thread of that
/// processor, until each has its samples. Throws what the first of them threw; EngineError if one
/// of them does not return.
void measure_pieces(std::vector<TimedPiece>& pieces, const board::Board& board,
                    const PieceTiming& timing);

}  // namespace millrace::runtime
