#include "board/device.h"

#include "board/words.h"

namespace millrace::board {

std::string to_text(ProcessorKind kind) { return std::string(word_of(processor_kinds, kind)); }
std::string to_text(Granularity value) { return std::string(word_of(granularities, value)); }
std::string to_text(Scheduling value) { return std::string(word_of(schedulings, value)); }

std::string space_of(const Device& device) {
  return device.space.empty() && device.costs.transfer ? device.name : device.space;
}

Scheduling usual_scheduling(ProcessorKind kind) {
  switch (kind) {
    case ProcessorKind::cpu:
      break;
    case ProcessorKind::gpu:
      return Scheduling::fifo_by_kernel;
    case ProcessorKind::npu:
      return Scheduling::fifo_by_subnet;
  }
  return Scheduling::preemptive_fixed_priority;
}

}  // namespace millrace::board
