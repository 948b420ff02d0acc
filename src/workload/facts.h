#pragma once
// What a workload says of itself, for tables and comparisons.
#include <string>
#include <vector>

#include "workload/workload.h"

namespace millrace::workload {

struct WorkloadFacts {
  std::int64_t steps = 0;
  std::int64_t traffic = 0;  // bytes to and from the first memory, by transfers
  std::int64_t scratch = 0;  // bytes of the last memory
  std::int64_t between = 0;  // bytes of the memories between
  std::int64_t macs = 0;
  std::int64_t kept =
      0;  // bytes that stay in other memories between layers: not stored, not loaded
  std::string operation;  // of its processing link, or "3 layers"; "copy": none
  std::string tile;       // of the sink in its first run: "32x8x56"
};
/// `memories`: of its program, with the first one.
WorkloadFacts facts_of(const Workload& workload, std::size_t memories);

/// The bytes that it needs of a memory that is not the first.
std::int64_t needed_of(const Workload& workload, std::size_t memory);

/// A sentence for each field in which the two differ: "conv1, link 'compute', delay: 1 and 0".
/// At most so many; workloads are matched by name.
std::vector<std::string> differences(const Program& a, const Program& b, std::size_t most = 50);

}  // namespace millrace::workload
