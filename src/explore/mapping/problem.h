#pragma once
// What a search over mappings needs to know, as plain numbers.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "board/board.h"
#include "network/network.h"
#include "plan/evidence.h"
#include "plan/mapping.h"
#include "profile/profile.h"

namespace millrace::explore {

/// [layer][processor]
using VariantsByProcessor = std::vector<std::vector<board::Variant>>;

/// Layers 0..n-1 in topological order, processors 0..m-1. Times in nanoseconds.
struct Problem {
  struct Slot {  // room for one frame's tensor; 0 bytes: unknown
    std::size_t tensor = 0;
    std::int64_t bytes = 0;
  };
  struct Edge {  // a tensor from a layer to a layer that reads it
    std::size_t from, to;
    std::int64_t elements;
    Slot slot = {};
  };
  struct End {  // an input of the network that a layer reads, or an output that it makes
    std::size_t layer;
    std::int64_t elements;
    bool is_input;
    Slot slot = {};
  };
  std::size_t layers = 0, processors = 0;
  /// What a subnet costs on a processor beside its layers.
  struct Borders {
    double read_ns = 0, write_ns = 0;  // per element that comes from or goes to another processor
    double border_ns = 0;              // per edge that does
    double launch_ns = 0;              // per subnet; counts in phase_times only
    /// For a device, the share of its time that a core is busy with feeding it.
    double feeding = 0;
    bool is_core = true;
    double kernel_ns = 0;  // of a layer's time, its launch
    bool of_ends = false;  // inputs and outputs of the network cost the same: layers' times have it
    /// The core that feeds; nothing: the one that has the least to do else, where the operating
    /// system puts the thread.
    std::optional<std::size_t> fed_by = {};
    std::string space = {};  // the memory that it works in, see board::space_of()
    /// Engines that bring elements there, and back, while it works; see board::Costs.
    int copy_engines = 0;
    bool operator==(const Borders&) const = default;
  };
  /// [layer][processor], inside its fused group; infinite where the layer cannot run.
  std::vector<std::vector<double>> time;
  std::vector<std::vector<double>> alone;  // [layer][processor], separated from its group
  VariantsByProcessor variants;            // in which it takes this
  std::vector<std::optional<std::size_t>> fused_into;  // the layer whose group it joins
  std::vector<Edge> edges;
  std::vector<End> ends = {};
  double read_ns = 0, write_ns = 0;   // per element that crosses between processors
  std::vector<Borders> borders = {};  // by processor; empty: read_ns and write_ns for all
  /// [layer][processor]: why it cannot run there, and who says so. For messages; may be empty.
  std::vector<std::vector<std::string>> refusals = {};
  std::vector<std::string> names = {};  // of processors; for messages, may be empty
  /// What a frame draws; empty where no search asks for it. Boards are numbered, 0 is `here`.
  struct Energy {
    std::vector<double> busy_mw;        // by processor, while it works
    std::vector<std::size_t> board_of;  // by processor
    std::vector<double> still_mw;       // by board, all the time
    std::vector<double> link_nj;        // by board, of a number on the link that leads to it
    bool operator==(const Energy&) const = default;
  } energy = {};

  Borders borders_of(std::size_t processor) const {
    return borders.empty() ? Borders{read_ns, write_ns} : borders[processor];
  }
  /// What an end costs there at the border, in nanoseconds, whoever copies it.
  double transfer_time_of(const End& end, std::size_t processor) const {
    const Borders costs = borders_of(processor);
    const double element = end.is_input ? costs.read_ns : costs.write_ns;
    return costs.of_ends ? costs.border_ns + static_cast<double>(end.elements) * element : 0;
  }
  /// What of that is in the layers' times: nothing where copy engines do it.
  double time_of(const End& end, std::size_t processor) const {
    return borders_of(processor).copy_engines > 0 ? 0 : transfer_time_of(end, processor);
  }
  /// Time of all ends of the layer.
  double time_of_ends(std::size_t layer, std::size_t processor) const {
    double sum = 0;
    for (const End& end : ends)
      if (end.layer == layer) sum += time_of(end, processor);
    return sum;
  }
  std::string refusal(std::size_t layer, ProcessorId processor) const {
    return refusals.empty() ? "it cannot run there" : refusals[layer][processor.index];
  }
};

/// With so many streams on each processor, of which one launches, or waits at a border, while
/// others work: the times from one frame to the next, max(work, (launch + work) / streams).
Problem paced(Problem problem, std::span<const std::int64_t> streams);

/// Board processors must all be in the profile. InputError names what is missing.
Problem make_problem(const network::Network& network, const board::Board& board,
                     const profile::Profile& profile);

/// Adds what feeding the devices takes of cores to those cores. By processor: the core that feeds
/// it; nothing: it needs none.
std::vector<std::optional<std::size_t>> add_feeding(std::span<double> processor_times,
                                                    std::span<const Problem::Borders> borders);

/// Equations 3.2 to 3.4: per processor, the sum of its layers' times and of reading and writing
/// the elements that cross to and from other processors. A layer whose group's first layer lies
/// elsewhere costs `alone`. Behind the processors the copy engines of their devices, processor by
/// processor, with what they move in place of these.
std::vector<double> processor_times(const Problem& problem, const plan::Mapping& mapping);

/// The same times split over the phases of a plan of that mapping; a group whose members lie in
/// several phases is separated too. `by_replica`: the mapping with the processors of the first
/// replicas, of the second ones, and so on; one: the same for all.
/// Where a processor has streams, all its replicas take turns with its work, and launch meanwhile.
/// If a frame gives it W of work in all its stages, then one of n replicas has n frames' time for
/// its own, and takes max(launch + work, n * W).
/// A core that feeds devices does so after its last phase; where it has no stage, it has time.
plan::PhaseTimes phase_times(const Problem& problem, const plan::Plan& plan,
                             std::span<const plan::Mapping> by_replica);
/// The same, with what feeding takes of whom.
plan::Evidence predicted(const Problem& problem, const plan::Plan& plan,
                         std::span<const plan::Mapping> by_replica);

/// Of times, costs and groups: all that decides between mappings.
std::string hash_of(const Problem& problem);

/// period: the time between two frames by the dataflow graph of the mapping's plan; see
/// mapping/plan_period.h.
enum class Fitness { period, bottleneck, balance, board_energy };
const char* name_of(Fitness fitness);  // "period"
/// InputError naming `place`.
Fitness read_fitness(const std::string& text, const std::string& place);
/// bottleneck: the largest processor time, the lower bound of the period; of `period` and of
/// `board_energy` (mapping/board_energy.h) too, as these times say no more. balance: equation 3.1,
/// the sum over all ordered pairs of processors of the difference of their times.
double fitness_of(Fitness fitness, const std::vector<double>& processor_times);

}  // namespace millrace::explore
