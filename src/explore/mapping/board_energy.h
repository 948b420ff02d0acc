#pragma once
// What the board that draws most draws for a frame of a mapping.
#include <span>

#include "board/joined/joined_boards.h"
#include "explore/mapping/evaluator.h"

namespace millrace::explore {

/// By the powers of the board's devices at their highest clocks. InputError if one of them has
/// none.
Problem::Energy energy_of(const board::Board& board, std::span<const board::Link> links);

/// In picojoules, for frames that come one bottleneck apart: what all processors of a board always
/// draw, what they add while they work, and what its link draws for the numbers that cross it.
/// `times`: Evaluator::processor_times() of the genes. Infinite where a layer cannot run.
double largest_energy(const Problem& problem, std::span<const Gene> genes,
                      std::span<const double> times);

}  // namespace millrace::explore
