#include "workload/workload.h"

#include <algorithm>

namespace millrace::workload {

std::string transfer_unit(std::size_t memory) {
  return memory == 0 ? "dma" : "dma" + std::to_string(memory + 1);
}

std::int64_t steps_of(const Workload& workload) {
  std::int64_t steps = 0;
  for (const Link& link : workload.links)
    steps = std::max(steps, link.delay + (runs_of(link) - 1) * link.period + 1);
  return steps;
}

}  // namespace millrace::workload
