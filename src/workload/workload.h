#pragma once
// Tile-level programs as values: how parts of tensors move through a memory hierarchy and what is
// computed from them. A file of them is explained in docs/methods/tiles.md.
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "network/operators.h"
#include "workload/joint.h"

namespace millrace::workload {

/// A memory that buffers lie in: the first one holds the tensors, each other one is filled from the
/// one before it, the last one is next to the processor.
struct TileMemory {
  std::string name;
  Bytes size;  // 0: unlimited
  bool operator==(const TileMemory&) const = default;
};

/// A region of `rows` rows of `row_bytes` bytes in a memory. In the first memory it holds a whole
/// tensor of the network; elsewhere it lies at `offset`, and buffers of one workload do not
/// overlap.
struct Region {
  std::string name;
  std::int32_t memory = 0;  // Program::memories
  std::int64_t offset = 0;
  std::int64_t rows = 1, row_bytes = 0;
  std::optional<std::size_t> tensor = {};  // Network::tensors
  bool constant = false;                   // the tensor's numbers are the same for all frames
  std::int64_t size() const { return rows * row_bytes; }
  bool operator==(const Region&) const = default;
};

/// The unit of transfers between this memory and one nearer to the processor: "dma", "dma2", ...
std::string transfer_unit(std::size_t memory);

/// The unit of processing links, and of the transfers in the scratchpad that follow them.
inline constexpr const char* processing_unit = "core";

enum class LinkKind { transfer, processing };

/// What a processing link computes from its tiles. `layer`: the layer's plain loops on tiles;
/// `whole`: on whole tensors where they lie. `requantize`: of 32-bit sums 8-bit numbers.
enum class TileOperation {
  copy,
  convolution,
  depthwise,
  max_pool,
  average_pool,
  layer,
  whole,
  requantize
};

/// Whether it has windows.
inline bool slides(TileOperation operation) {
  return operation != TileOperation::copy && operation != TileOperation::layer &&
         operation != TileOperation::whole && operation != TileOperation::requantize;
}

inline bool multiplies(TileOperation operation) {
  return operation == TileOperation::convolution || operation == TileOperation::depthwise;
}

/// Windows over rows and columns of a tile. Only the first tile along a side has padding before it.
struct TileWindow {
  std::array<std::int64_t, 2> kernel{1, 1}, strides{1, 1}, dilations{1, 1}, pads{0, 0};
  bool count_padding = false;  // average_pool: in the divisor
  std::array<std::int64_t, 2> pads_end{0, 0};
  std::int64_t channels = 1;  // that are summed up, in one run or several
  bool operator==(const TileWindow&) const = default;
};

/// y = min(max(x < 0 ? slope * x : x, low), high), of a sum that is done.
struct TileActivation {
  double slope = 1;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool operator==(const TileActivation&) const = default;
};

/// The steps of 8-bit integers: each stands for (integer - zero) * scale.
struct TileSteps {
  bool is_signed = false;
  std::int32_t zero = 0;
  float scale = 1;
  bool operator==(const TileSteps&) const = default;
};

/// Scaling of links between tensors of 8-bit integers. Convolutions sum up in 32 bits, in steps of
/// the input's scale times the weights'. If their sink has 8 bits, they requantise the sums; if it
/// has 32 bits, a link `requantize` does so.
struct TileScaling {
  TileSteps input, weights, output;  // of a pool: `input` is its output's too
  /// Each channel's weights have a scale of their own; `weights.scale` is of no use then. These
  /// float32 numbers are the last source of the link that requantises.
  bool by_channel = false;
  bool operator==(const TileScaling&) const = default;
};

/// From source joints to one sink joint, in steps delay + k * period.
struct Link {
  std::string name;
  LinkKind kind = LinkKind::transfer;
  std::string unit = "dma";  // that does it; one thing at a time
  std::vector<Joint> sources;
  Joint sink;
  std::int64_t delay = 0, period = 1;
  TileOperation operation = TileOperation::copy;
  TileWindow window = {};
  std::optional<TileActivation> activation = {};  // of a convolution
  std::optional<TileScaling> scaling = {};        // nothing: float32 numbers
  std::optional<std::size_t> layer = {};          // Network::layers; none: the workload's
  std::int64_t macs = 0;                          // of all runs together; 0: none, or a transfer
  bool operator==(const Link&) const = default;
};

/// Generates one output, by one layer or by several that follow each other. In a step, links of one
/// unit run one after the other, as they are listed. `overlapped`: those of different units run at
/// the same time, and so must not touch the same bytes of a fast memory.
struct Workload {
  std::string name;       // the layer's
  std::size_t layer = 0;  // Network::layers; of several the last
  bool overlapped = false;
  std::vector<Region> buffers;
  std::vector<Link> links;
  std::string remark = {};  // why it has no tiles; or empty
  bool operator==(const Workload&) const = default;
};

/// Where a program begins and ends: tensors of the network that are there before it runs and no
/// constants, and those that it is run for.
struct ProgramEnds {
  std::vector<std::size_t> inputs, outputs;
  bool operator==(const ProgramEnds&) const = default;
};

/// A network, or some of its layers, as workloads that run one after the other.
struct Program {
  std::string network, network_hash;
  std::optional<ProgramEnds> ends = {};  // nothing: those of the network, as edited files have it
  std::vector<TileMemory> memories;
  std::vector<Workload> workloads;
  bool operator==(const Program&) const = default;
};

/// How often the link runs: as often as its sink.
inline std::int64_t runs_of(const Link& link) { return runs_of(link.sink); }

/// The steps until the last link has done its last run.
std::int64_t steps_of(const Workload& workload);

}  // namespace millrace::workload
