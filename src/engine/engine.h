#pragma once
// The one door to all kernels: an engine prepares a subnet for a processor, then runs it.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/units.h"
#include "base/verdict.h"
#include "board/board.h"
#include "board/variant.h"
#include "network/calibration.h"
#include "network/network.h"

namespace millrace::engine {

/// How a tensor lies in memory between subnets. "plain" is dense and row-major and every engine
/// reads and writes it; other formats are understood by the engine that made them and only it.
/// In the memory space of a device it is plain.
struct Layout {
  std::string format = "plain";
  Bytes size;
  std::string space = {};  // where it lies, as Traits::memory says; empty: the host's memory
  bool operator==(const Layout&) const = default;
};

Layout plain_layout(const network::Tensor& tensor);

/// A tensor on the border of a subnet.
struct Port {
  TensorId tensor;
  Layout layout;
};

/// What is to be prepared.
struct SubnetRequest {
  const network::Network* network = nullptr;  // borrowed; outlives the subnet
  board::Processor processor;
  std::vector<LayerId> layers;    // ascending
  std::vector<Port> inputs;       // what the layers read from outside, in the layout it comes in
  std::vector<TensorId> outputs;  // what others need of what the layers make
  std::vector<bool> plain;        // by output: it must be plain; else the engine chooses
  // By LayerId, of the whole network; empty: the engine's first for every layer.
  std::vector<board::Variant> variants = {};
  const network::Calibration* calibration = nullptr;  // borrowed; needed for int8
  /// Told the outputs by an engine that knows their layouts before it is done, so that others can
  /// prepare what reads them at the same time; at most once, within prepare() and on its thread.
  std::function<void(std::span<const Port>)> announce = {};
  /// By output, the memory space that it is to be written to; empty: the host's for all. Those of
  /// inputs stand in their layouts.
  std::vector<std::string> spaces = {};
  /// Without layers: the one input is copied to the one output, which is the same tensor in another
  /// space. One of the two is the host's.
  bool is_transfer = false;
};

/// Copies a tensor between two spaces; empty: the host's. The processor is for messages and times.
SubnetRequest transfer_request(const network::Network& network, const board::Processor& processor,
                               TensorId tensor, const std::pair<std::string, std::string>& spaces);

/// Whether something of it lies in a memory space other than the host's.
bool is_in_a_space(const SubnetRequest& request);

/// The space that the request names is of none of the engine's devices.
class NoSuchSpace : public EngineError {
 public:
  using EngineError::EngineError;
};

/// The time of layers that the engine ran as one kernel.
struct GroupTime {
  std::vector<LayerId> layers;  // the first gives the group its name
  std::string kernel;           // what ran: "jit:avx512_core", "loops"
  Time time{};
};

/// The working memory of a prepared subnet, and its traffic.
struct Memory {
  Bytes arena;                      // planned, with buffers that share space
  Bytes naive;                      // the same buffers side by side
  Bytes weights;                    // packed; shared with other subnets of the same engine object
  Bytes moved = {};                 // read and written in a run, weights apart
  Bytes moved_layer_by_layer = {};  // the same if every layer ran by itself
};
/// What the layers read and write if each runs by itself, constants apart.
Bytes moved_layer_by_layer(const network::Network& network, std::span<const LayerId> layers);

/// A prepared subnet. Not thread-safe: one thread at a time; several subnets run in parallel.
class Subnet {
 public:
  virtual ~Subnet() = default;
  virtual std::span<const Port> inputs() const = 0;   // as requested
  virtual std::span<const Port> outputs() const = 0;  // with the layouts chosen
  /// Pointers in the order of inputs() and outputs(), of the layouts' sizes; in a device's space,
  /// what allocate() gave. They are aligned to
  /// network::tensor_alignment; those of a network's inputs, which may lie in memory of the
  /// program, to the size of their numbers. Runs on the calling thread and, for a processor with
  /// several cores, on helper threads; the caller has pinned itself. Throws EngineError.
  virtual void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) = 0;
  /// The same run, with the time of every group, in order.
  virtual std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                           std::span<std::byte* const> out) = 0;
  virtual Memory memory() const = 0;
  /// Memory in a device's space: a handle, which only subnets that name the space understand.
  /// EngineError if there is not enough, or no such space.
  virtual std::shared_ptr<std::byte> allocate(const Layout& layout);
};

/// How an engine works on a processor.
struct Traits {
  /// At what it tells times: by layer (or group of fused ones), or by subnet only.
  board::Granularity granularity = board::Granularity::layer;
  /// Subnets run on the cores of the processor, to which threads are then bound. Not so where these
  /// are not on this machine, or the processor is no core.
  bool uses_cores = true;
  /// The processor works while the thread that calls run() sleeps.
  bool lets_caller_sleep = false;
  /// Its subnets wait for each other: only one runs at a time, on whichever processor.
  bool serialised = false;
  /// The memory space of its own in which run() reads and writes, where it is asked to; what lies
  /// in the host's memory it copies itself. Empty: it works in the host's.
  std::string memory = {};
};

/// A library that runs subnets on processors. Thread-safe. Must outlive its subnets; shares
/// packed weights among them.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;     // "onednn"
  virtual std::string version() const = 0;  // part of a profile's identity: "2.6.3, OpenMP"
  /// Whether it runs the layers there in one piece, or why not: the reason is of the first layer
  /// that it does not run, or of what they are together.
  virtual Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                           const board::Processor& processor) const = 0;
  Verdict supports(const network::Network& network, LayerId layer,
                   const board::Processor& processor) const {
    return supports(network, std::span(&layer, 1), processor);
  }
  /// The ways to run the layer there, the engine's own choice first; empty if not supported. What
  /// only moves or combines elements follows the precision of what it reads, and has one way.
  virtual std::vector<board::Variant> variants(const network::Network& network, LayerId layer,
                                               const board::Processor& processor) const;
  /// Nothing: it runs nothing there.
  virtual std::optional<Traits> traits(const board::Processor& /*processor*/) const {
    return Traits{};
  }
  /// InputError or EngineError if a layer is not supported or the device fails; NoSuchSpace;
  /// InputError if a
  /// layer has no such variant, or is to run in int8 and the calibration lacks a tensor that it
  /// needs.
  virtual std::unique_ptr<Subnet> prepare(const SubnetRequest& request) = 0;
};

/// Whether a thread that runs subnets there is bound to the processor's cores.
inline bool binds_threads(const Engine& engine, const board::Processor& processor) {
  if (processor.cores.empty()) return false;
  const std::optional<Traits> traits = engine.traits(processor);
  return traits && traits->uses_cores;
}

/// The request for a whole network, plain at both ends.
SubnetRequest whole_network(const network::Network& network, const board::Processor& processor);

/// What `layers` read from outside and what others (or the network's outputs) need of them.
struct Border {
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
};
Border border_of(const network::Network& network, std::span<const LayerId> layers);

}  // namespace millrace::engine
