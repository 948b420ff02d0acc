#pragma once
// Which layer runs on which processor: what a search changes.
#include <vector>

#include "base/ids.h"
#include "board/board.h"
#include "network/network.h"

namespace millrace::plan {

/// The papers' chromosome: one processor per layer (an index into Board::processors).
struct Mapping {
  std::vector<ProcessorId> processors;
  bool operator==(const Mapping&) const = default;
};

}  // namespace millrace::plan
