#pragma once
// Times of layers and subnets on processors, measured or modelled: all the planner knows about
// time.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "board/board.h"
#include "board/variant.h"
#include "network/network.h"

namespace millrace::profile {

/// Statistics of repeated runs of one thing.
struct Statistics {
  Time median{}, mean{}, deviation{}, maximum{};
  Time worst_case{};  // max(largest seen, mean + 6 deviations)
  std::int64_t count = 0;
  bool stable = true;  // the median of the first half agrees with that of the second within 5 %
  bool operator==(const Statistics&) const = default;
};
Statistics statistics_of(std::vector<Time> samples);

/// A way to run a layer that was tried, inside the whole network.
struct Alternative {
  board::Variant variant;
  Time time{};  // median; of the layer with all that some alternative fuses into one kernel with it
  std::optional<double> error;  // as in error.h; nothing: not measured, it was far too slow
  bool operator==(const Alternative&) const = default;
};

/// The median time on so many frames at once, all of them together, of a layer with all that some
/// alternative fuses into one kernel with it, and its variant then: the best of the alternatives.
struct BatchTime {
  std::int64_t frames = 1;
  Time time{};
  board::Variant variant = {};
  bool operator==(const BatchTime&) const = default;
};

/// One layer on one processor. `together`: inside the whole network, where neighbours fuse; the
/// time of a fused group stands at its first layer, the others have zero and say whose group they
/// are in. `alone`: as a subnet of its own, which is what it costs when a border separates the
/// group. `contended`: together, while the other processors run the network too; of no runs if
/// there are none.
struct LayerTimes {
  Statistics together, alone, contended = {};
  std::optional<LayerId> fused_into;
  std::string kernel;
  board::Variant variant;                 // how it ran: the best of the alternatives
  std::vector<Alternative> alternatives;  // the engine's own choice first; none: there is one way
  std::vector<BatchTime> batches;         // ascending from 1 frame; see batches.h
  std::string refusal = {};  // why the processor cannot run it: then it has no times; empty: it can
  bool refused_by_board = false;  // the board's file says so, not an engine
  bool operator==(const LayerTimes&) const = default;
};

/// What subnets cost beside their layers.
struct BorderCosts {
  double read_ns = 0, write_ns = 0;  // per element that comes from or goes to another processor
  Time border{};                     // per tensor that does
  Time launch{};                     // per subnet
  /// The share of its time that a core is busy with launching its work and waiting for it.
  double feeding = 0;
  Time kernel{};  // of each layer's time, its launch: meanwhile kernels of other streams may run
  bool of_ends = false;  // inputs and outputs of the network cost the same
  bool operator==(const BorderCosts&) const = default;
};

/// The network on one processor in one precision, each layer in its best variant.
struct ProcessorProfile {
  board::Processor processor;
  std::string engine, engine_version;
  board::Precision precision = board::Precision::f32;
  std::optional<double> max_error;          // variants above it were left out; nothing: none were
  std::vector<LayerTimes> layers;           // by LayerId
  Statistics whole;                         // the whole network in one subnet
  std::optional<BorderCosts> borders = {};  // nothing: the tokens of the profile are all there is
  bool operator==(const ProcessorProfile&) const = default;
};

/// tau_r and tau_w of equation 3.4: what a core needs to read and write one float32 element that
/// another core wrote or will read.
struct TokenCosts {
  double read_ns = 0, write_ns = 0;
  bool operator==(const TokenCosts&) const = default;
};

struct Profile {
  std::string network, board;  // hashes
  std::string network_name;
  std::vector<std::string> layer_names;
  std::vector<ProcessorProfile> processors;  // one per processor and precision
  TokenCosts tokens;
  bool modelled = false;  // by cost_model.h, for a board that need not be at hand
  bool operator==(const Profile&) const = default;
};

/// The profile of a processor. InputError with the names there are.
const ProcessorProfile& of(const Profile& profile, const board::Processor& processor);

}  // namespace millrace::profile
