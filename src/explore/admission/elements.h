#pragma once
// Which silicon of a board can hold a task alone: clusters of cores, parts of a GPU with its
// regular or its tensor cores, one NPU or several together.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "board/board.h"
#include "explore/admission/problem.h"

namespace millrace::explore {

struct ElementOptions {
  /// Cores of each CPU device, its last ones, for the system and to feed accelerators.
  int reserved_cores = 0;
  std::size_t gpu_parts = 2;  // into which a GPU's multiprocessors are divided, at most
  /// What several parts together reach of the sum of their rates.
  double together = 0.9;
  /// Forms in which each kind may be used: "alone" one part at a time, "together" all parts at
  /// once. Both: flexible. A kind that is not in it is not used; empty: all kinds in all forms.
  std::set<std::string> kinds = {};  // "cpu", "gpu.cuda_cores", "npu.together"
};

/// A configuration of compute elements: of the processor at the same place in the problem.
struct Element {
  std::string kind;  // "cpu", "npu" or, of a unit of a GPU, "gpu.cuda_cores"
  std::size_t parts = 1;
  double amount = 1;   // cores of a CPU, NPUs, or the share of a GPU
  board::Board board;  // it has one processor, which works as this configuration does
};

struct Elements {
  AdmissionProblem problem;       // without tasks
  std::vector<Element> elements;  // by processor of the problem
};

/// CPU devices fall into clusters of cores that share a second-level cache, or into cores; runs of
/// neighbours work together. GPUs fall into parts, with one of their units each; NPUs into their
/// processors. Units are the parts, whichever of their arithmetic is used, and the link of a device
/// that has a memory of its own, `transfer_gb_per_s` of board files. InputError if nothing is
/// left, or an option names what the board has not.
Elements elements_of(const board::Board& board, const ElementOptions& options = {});

}  // namespace millrace::explore
