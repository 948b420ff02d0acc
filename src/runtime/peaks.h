#pragma once
// What the processors of this machine can do at most, measured now.
#include <vector>

#include "board/board.h"
#include "board/peaks.h"

namespace millrace::runtime {

/// By processor of the board; nothing of one without cores, as a GPU. All their cores are busy at
/// once, as in a pipeline: they share clock, power and memory, so one core alone does more (measure
/// a board with one processor for that). Arithmetic: the fastest of board::unit_loops() for each
/// precision. Memory: the larger of reading only (as weights are) and a triad of two reads and one
/// write (as activations are), over far more than the caches hold, in large pages; so a limit made
/// from it is not too high because of how layers happen to mix reads and writes. Each figure is the
/// best of three medians of many short runs, so that other programs do not pass for a lower peak;
/// about half a second altogether. EngineError if a thread cannot be pinned or memory is lacking.
std::vector<board::Peaks> measure_peaks(const board::Board& board);

}  // namespace millrace::runtime
