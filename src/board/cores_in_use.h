#pragma once
// Processes of one user note the cores that they bind threads to, so that the next one can look.
#include <cstddef>
#include <optional>
#include <vector>

#include "board/board.h"

namespace millrace::board {

// The notes are locks on the bytes of one file, which the system lets go of when a process ends:
// byte N is core N. It lies in the folder of user_folder.h; without that nothing is noted, and all
// cores look free. Any thread may call these.

/// Notes that this process uses the cores, until it ends.
void note_use(const std::vector<int>& cores);

/// The first of the processors whose cores no other process has noted. It is noted for this process
/// in the same step, so that two that begin at once do not get the same. Nothing: all are in use.
std::optional<std::size_t> take_free(const std::vector<Processor>& processors);

struct CoreInUse {
  int core = 0;
  long process = 0;  // its number; 0 where it cannot be seen from here
  bool operator==(const CoreInUse&) const = default;
};

/// The cores among these that another process has noted.
std::vector<CoreInUse> used_by_others(const std::vector<int>& cores);

}  // namespace millrace::board
