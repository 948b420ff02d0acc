#pragma once
// What a board file says of a group of equal processors: all that a model of their time and power
// needs. docs/boards.md explains each number.
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "board/variant.h"

namespace millrace::board {

enum class ProcessorKind { cpu, gpu, npu };

struct Megahertz {
  double value = 0;
  auto operator<=>(const Megahertz&) const = default;
};

struct Milliwatts {
  double value = 0;
  auto operator<=>(const Milliwatts&) const = default;
};

/// Where numbers come from.
struct Source {
  std::string name;  // by which the file refers to it: "datasheet"
  std::string text;  // the document, or how the number was estimated
  std::string url;   // may be empty
  bool estimated = false;
  bool operator==(const Source&) const = default;
};

/// The sources of the numbers of one part of a file, by name.
struct Origins {
  std::string all;                            // of each number that is not in `by_key`; or empty
  std::map<std::string, std::string> by_key;  // "clocks_mhz": "datasheet"
  bool operator==(const Origins&) const = default;
};

/// A unit of arithmetic: the regular cores of a GPU, its tensor cores.
struct Unit {
  std::string name;
  /// Per second of one processor at its highest clock, whole numbers; a multiply-accumulate is two.
  std::map<Precision, double> operations;
  Origins origins = {};
  bool operator==(const Unit&) const = default;
};

/// What one processor draws at a clock: `still` while nothing runs, `busy` is added while it works.
struct PowerPoint {
  Megahertz clock;
  Milliwatts still, busy;
  Origins origins = {};
  bool operator==(const PowerPoint&) const = default;
};

/// At what an engine can be measured, and what it is given in one piece.
enum class Granularity { layer, subnet };

/// Who runs next on a processor. Neither of the last two interrupts what runs.
enum class Scheduling { preemptive_fixed_priority, fifo_by_kernel, fifo_by_subnet };

/// What the SDK allows.
struct Limits {
  std::vector<std::string> operators;      // ONNX's names; only these run. Empty: all
  std::vector<std::string> not_operators;  // these do not
  std::vector<Precision> precisions;       // empty: those of the units
  Granularity granularity = Granularity::layer;
  std::optional<int> subnets = {};           // at most, on one processor
  std::optional<int> subnets_together = {};  // ... on all processors of the device
  std::optional<int> streams = {};           // ... of one stage
  std::string fallback;                      // the device for what does not run here; or empty
  Origins origins = {};
  bool operator==(const Limits&) const = default;
};

/// Beyond arithmetic and memory, per frame.
struct Costs {
  Time launch{};  // of each kernel, or of each subnet where that is the granularity
  Time border{};  // at each border of a subnet: changing the layout of a tensor
  /// Bytes per second over the way in and out; nothing: tensors stay where they are.
  std::optional<double> transfer = {};
  /// Engines of that way that copy while the device computes. 0: it does neither while it does the
  /// other; 1: for both directions together; 2: one for each.
  int copy_engines = 0;
  /// For gpu and npu: the share of its time that a core is busy with launching its work and waiting
  /// for it.
  double feeding = 0;
  std::optional<int> fed_by_core = {};  // the core that is; nothing: the system chooses
  Origins origins = {};
  bool operator==(const Costs&) const = default;
};

/// The shares of the peaks that an operator reaches.
struct Efficiency {
  std::string op;                           // ONNX's name, or "other"
  std::optional<Precision> precision = {};  // nothing: any
  double arithmetic = 1, memory = 1;        // above 0, at most 1
  Origins origins = {};
  bool operator==(const Efficiency&) const = default;
};

/// Processors that are alike and share a clock. All numbers are those of one of them.
struct Device {
  std::string name;   // "a57", "gpu"
  std::string model;  // "Arm Cortex-A57"
  ProcessorKind kind = ProcessorKind::cpu;
  std::vector<int> cores;               // of cpu: the operating system's numbers, ascending
  bool together = false;                // of cpu: all cores are one processor, not one each
  std::vector<std::string> processors;  // their names, at least one
  int multiprocessors = 0;              // of gpu; 0: unknown
  int multiprocessor_groups = 0;        // into which they can be parted
  std::vector<Megahertz> clocks;        // ascending; empty: unknown
  double bytes = 0;  // per second between one processor and its memory, whole; 0: the memory's
  std::vector<Unit> units;
  std::vector<PowerPoint> power;  // ascending by clock
  Scheduling scheduling = Scheduling::preemptive_fixed_priority;
  Limits limits;
  Costs costs;
  std::vector<Efficiency> efficiency;
  std::string space = {};  // the memory in which it reads and writes; empty: see space_of()
  Origins origins = {};
  bool operator==(const Device&) const = default;
};

/// The memory space in which the device reads and writes: one of its own if there is a way to it,
/// named after the device unless it says otherwise; empty: the host's.
std::string space_of(const Device& device);

std::string to_text(ProcessorKind kind);
std::string to_text(Granularity granularity);
std::string to_text(Scheduling scheduling);

/// The policy of most devices of the kind.
Scheduling usual_scheduling(ProcessorKind kind);

}  // namespace millrace::board
