#include "system/core_for_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "board/device.h"

namespace millrace::system {

void check_core_for_steps(const Group& group, const board::Board& board) {
  const auto takes_time = [](const std::optional<Time>& step) { return step && *step > Time{}; };
  const bool has_core = std::ranges::find(board.processors, board::ProcessorKind::cpu,
                                          &board::Processor::kind) != board.processors.end();
  if (has_core || (!takes_time(group.preprocess) && !takes_time(group.postprocess))) return;
  throw InputError(group.place,
                   fmt::format("group '{}' has pre- or post-processing, and the board '{}' has no "
                               "core for it; add a device of the kind cpu to the board, or leave "
                               "out preprocess_ms and postprocess_ms",
                               group.name, board.name));
}

}  // namespace millrace::system
