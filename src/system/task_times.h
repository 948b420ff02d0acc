#pragma once
// Where tasks of graphs may run, and the times that a system's file leaves to be measured.
#include <vector>

#include "board/board.h"
#include "system/system.h"

namespace millrace::system {

/// Indices of the board's processors, ascending. InputError, with the task's place, if a name means
/// none of them: a processor's own, that of its device, or its kind.
std::vector<std::size_t> processors_of(const GraphTask& task, const TimesOn& on,
                                       const board::Board& board);
std::vector<std::size_t> processors_of(const GraphTask& task, const board::Board& board);

/// Whether the task, or any task, has a time that its file does not give.
bool has_times_to_measure(const GraphTask& task);
bool has_times_to_measure(const System& system);

/// Times of one firing on one processor of the board.
struct MeasuredTimes {
  std::size_t processor = 0;
  Time worst{}, average{}, best{};
};
/// In the place of the times that the task lacks: of each device's processors, the largest worst
/// and average time and the smallest best one. InputError, with the task's place, if one of the
/// processors was not measured.
void fill_in(GraphTask& task, const board::Board& board, const std::vector<MeasuredTimes>& times);

}  // namespace millrace::system
