#pragma once
// Attention on the tile registers of AMX, each number in two terms: AmxFactors::split.
#include "kernels/plain/attention.h"

namespace millrace::kernels {

/// As working_numbers(), in place of it.
std::size_t working_numbers_on_tiles(const Attention& attention, std::size_t threads);

/// As attend(). Precondition: the processor has AMX for bfloat16 numbers, and the process may use
/// it.
void attend_on_tiles(const Attention& attention, const AttentionOperands& operands,
                     std::size_t threads);

}  // namespace millrace::kernels
