#pragma once
// The hardware: processors and what they share.
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "base/verdict.h"

namespace millrace::board {

enum class ProcessorKind { cpu };

/// Whatever can hold a stage: a core, or a cluster of cores that work on one layer together.
struct Processor {
  std::string name;  // after its cores: "core0", "cores0-1"
  ProcessorKind kind = ProcessorKind::cpu;
  std::vector<int> cores;  // the operating system's numbers; ascending, at least one
  bool operator==(const Processor&) const = default;
};

struct Cache {
  int level = 1;
  Bytes size;
  std::vector<int> cores;  // who shares it
  bool operator==(const Cache&) const = default;
};

/// A board. `processors` are disjoint: together they are all that a plan may use.
struct Board {
  std::string name;                           // of the machine, for people
  std::string cpu_model;                      // "AMD EPYC", as the processor reports it
  std::vector<std::string> instruction_sets;  // those that matter to kernels: "avx2", ...
  std::vector<Processor> processors;
  std::vector<Cache> caches;
  Bytes memory;

  const Processor& operator[](ProcessorId id) const { return processors[id.index]; }
};

/// This machine as hwloc sees it, restricted to the cores the calling thread may use; one processor
/// per physical core (its first hardware thread). EngineError if hwloc fails.
Board this_machine();

/// All cores of the board as one processor, named after them: what runs one layer on all cores.
/// On a board with one processor it is that one.
Processor all_cores(const Board& board);

/// The processors with these names, in this order. InputError lists the names there are; also if
/// one is named twice or none at all.
Board only(const Board& board, const std::vector<std::string>& processor_names);

/// Identifies the hardware for measurements: model, instruction sets, caches and who shares them.
/// The same whichever of its processors are used.
std::string hash_of(const Board& board);

/// The cores the calling thread may run on, ascending.
std::vector<int> cores_of_this_thread();

/// Binds the calling thread to the processor's cores. EngineError if the system refuses.
void pin_this_thread(const Processor& processor);

/// Restores the calling thread's binding when it goes.
class PinGuard {
 public:
  explicit PinGuard(const Processor& processor);
  ~PinGuard();
  PinGuard(const PinGuard&) = delete;
  PinGuard& operator=(const PinGuard&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace millrace::board
