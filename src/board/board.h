#pragma once
// The hardware: processors and what they share.
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "base/verdict.h"
#include "board/device.h"
#include "board/peaks.h"

namespace millrace::board {

/// Whatever can hold a stage: a core, a cluster of cores that work on one layer together, a GPU, a
/// core of an NPU. Who it is; what it can do, its device says.
struct Processor {
  std::string name;  // of cpu: after its cores, "core0", "cores0-1"
  ProcessorKind kind = ProcessorKind::cpu;
  std::vector<int> cores;  // of cpu: the operating system's numbers; ascending, at least one
  bool operator==(const Processor&) const = default;
};

struct Cache {
  int level = 1;
  Bytes size;
  std::vector<int> cores;  // who shares it
  Origins origins = {};
  bool operator==(const Cache&) const = default;
};

struct Memory {
  std::string name;
  Bytes size;
  double bytes = 0;                    // per second for all who share it, whole; 0: unknown
  std::vector<std::string> shared_by;  // devices
  std::string behind;  // the memory it is filled from; empty: it is a main memory. No cycles
  Origins origins = {};
  bool operator==(const Memory&) const = default;
};

/// A board. `processors` are disjoint: together they are all that a plan may use.
struct Board {
  std::string name;                           // of the machine, for people
  std::string cpu_model;                      // "AMD EPYC", as the processor reports it
  std::vector<std::string> instruction_sets;  // those that matter to kernels: "avx2", ...
  std::vector<Processor> processors;
  std::vector<Device> devices;  // each processor is of one
  std::vector<Memory> memories;
  std::vector<Cache> caches;
  std::optional<Milliwatts> idle_power = {};  // of all that is no processor
  std::vector<Source> sources;
  Origins origins = {};  // of idle_power_mw

  const Processor& operator[](ProcessorId id) const { return processors[id.index]; }
  bool operator==(const Board&) const = default;
};

/// This machine as its system tells, restricted to the cores the calling thread may use; one
/// processor per physical core (its first hardware thread), one device per kind of cores.
/// EngineError if the thread may use none.
Board this_machine();

/// Physical memory of this machine, which all processes share.
Bytes memory_of_this_machine();

/// All cores of the board as one processor, named after them: what runs one layer on all cores.
/// On a board with one processor it is that one.
Processor all_cores(const Board& board);

/// The processors with these names, in this order. Several cores as one that works on a layer
/// with all of them are "core0+core1", or as it is called, "cores0-1". InputError lists the names
/// there are; also if one is named twice or none at all.
Board only(const Board& board, const std::vector<std::string>& processor_names);

/// The board, whose processors may do only what the other board's of the same names may: those of
/// each of its devices are a device of their own here, named as there, with its limits and its
/// scheduling. InputError if no processor has such a name.
Board with_limits(Board board, const Board& other);

/// The processors of a device, by its kind, cores and names.
std::vector<Processor> processors_of(const Device& device);

/// The device that the processor, or its first core, is of; nothing on a board without devices.
const Device* device_of(const Board& board, const Processor& processor);

/// Size of all memories that lie behind no other, together.
Bytes main_memory(const Board& board);

/// As its device and the nearest memory say: of each precision, the fastest unit's. Empty where
/// the board does not say.
Peaks peaks_of(const Board& board, const Processor& processor);

/// The board of this machine, with what was measured on it, by processor: each alone, and all at
/// once. A device is as fast as its fastest processor; the memory gives what all take from it.
Board with_peaks(Board board, const std::vector<Peaks>& alone, const std::vector<Peaks>& together);

/// Identifies the hardware for measurements: model, instruction sets, caches and who shares them;
/// and, where a board file gives rates, powers or limits, all of these. The same whichever of its
/// processors are used.
std::string hash_of(const Board& board);

/// The cores the calling thread may run on, ascending.
std::vector<int> cores_of_this_thread();

/// Binds the calling thread to the processor's cores; to none where it has none, as a GPU.
/// EngineError if the system refuses.
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
