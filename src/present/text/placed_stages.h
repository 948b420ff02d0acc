#pragma once
// Which layers run where, in a line.
#include <cstddef>
#include <string>
#include <vector>

#include "product/deployment/deploy.h"

namespace millrace::present {

/// The layers of each stage, with its processor: "dla0[0-29,31] gpu[30,32-53]".
std::string layers_by_stage(const plan::Plan& plan);

/// The same of the group's plan with the processors that its tasks were given, by task: indices
/// into the board.
std::string placed_stages_text(const explore::GroupSearch& group, std::size_t plan,
                               const board::Board& board,
                               const std::vector<std::size_t>& processors);

}  // namespace millrace::present
