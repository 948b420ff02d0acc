#pragma once
// Inside the room: a link on its way through its runs, as simulations need it.
#include <vector>

#include "workload/simulate.h"

namespace millrace::workload {

struct LinkProgress {
  const Link* link = nullptr;
  std::size_t nearest = 0, farthest = 0;  // of its memories from the processor, as numbers
  std::vector<JointState> sources = {};
  JointState sink = {};
};
std::vector<LinkProgress> links_at_start(const Workload& workload);

bool is_active(const Link& link, std::int64_t step);

/// Cycles of the link's next run.
std::int64_t cycles_of(const LinkProgress& at, const CycleCosts& costs);
/// Bytes of the next run of a transfer.
std::int64_t bytes_of(const LinkProgress& at);

void move_on(LinkProgress& at);

}  // namespace millrace::workload
