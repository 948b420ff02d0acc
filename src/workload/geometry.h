#pragma once
// Inside the room: a layer as loops over tiles, and how each of its tensors lies under them.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "network/network.h"
#include "workload/workload.h"

namespace millrace::workload {

/// The loops that may be cut into tiles. `group`: groups, or channels that do not mix. `depth`:
/// channels of the input that are summed up.
enum class Loop : std::size_t { image, group, out, row, col, depth };
inline constexpr std::size_t loop_count = 6;
using ByLoop = std::array<std::int64_t, loop_count>;

constexpr std::size_t at(Loop loop) { return static_cast<std::size_t>(loop); }

/// A side of a tensor's tile: how it grows with a loop.
struct SideUnder {
  Loop loop = Loop::image;
  std::int64_t stride = 0;    // elements of the tensor
  bool slides = false;        // a row or column of the input under windows
  std::int64_t elements = 1;  // for each position of the loop, side by side
};

/// A tensor that a layer reads or writes.
struct Operand {
  std::string name;  // "input", "weights", ...
  TensorId tensor;
  ByLoop strides = {};           // elements to the next position of each loop; 0: stays
  std::vector<SideUnder> sides;  // outermost first
  std::int64_t element = 4;      // bytes of a number as it is moved
  std::size_t home = 0;          // the memory in which the tensor lies
  /// Whether another position of the loop is another tile.
  bool follows(Loop loop) const { return strides[at(loop)] != 0; }
};

struct LayerGeometry {
  TileOperation operation = TileOperation::whole;
  ByLoop totals = {1, 1, 1, 1, 1, 1};
  std::array<bool, loop_count> cuts = {};  // may have tiles of several positions
  TileWindow window;
  std::optional<TileActivation> activation = {};
  std::optional<TileScaling> scaling = {};
  std::array<std::int64_t, 2> input = {1, 1};  // rows and columns
  std::vector<Operand> sources;
  Operand output;
  std::int64_t macs_per_position = 0;  // of all loops: of one output and one channel of the input
  std::string remark;                  // why `whole`
};

/// Geometry of any layer; `element`: bytes of a float32 number as it is moved.
LayerGeometry geometry_of(const network::Network& network, LayerId layer, std::int64_t element);

/// The layer as what a convolution does to its sums; nothing if it is no such layer.
std::optional<TileActivation> activation_of(const network::Operator& op);

/// What the layer's output and inputs have to be moved as one after the other; nothing if it does
/// more than move.
bool only_moves(const network::Operator& op);

}  // namespace millrace::workload
