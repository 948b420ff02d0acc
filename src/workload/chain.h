#pragma once
// Inside the room: layers that follow each other, tile by tile. What lies between them stays in the
// scratchpad, and rows that windows read again are kept there: nothing is computed or moved twice.
#include <optional>
#include <span>
#include <vector>

#include "workload/row_geometry.h"
#include "workload/tiling.h"

namespace millrace::workload {

struct ChainMember {
  LayerId layer;
  std::optional<LayerId> activation = {};  // that is computed with it
  RowLayer rows;
};

/// How many rows of a tensor are written in each tile: as in Side.
struct RowParts {
  std::int64_t first = 0, middle = 0, last = 0;
  std::int64_t largest() const { return std::max({first, middle, last}); }
};

/// The rows of all tensors of a chain, whose last output is cut into tiles of some rows.
struct ChainRows {
  std::int64_t tiles = 1;
  std::vector<RowParts> written;   // by member
  std::vector<std::int64_t> kept;  // by member: rows of its input that it reads again
  RowParts read;                   // by the first member, with those that it reads again
  std::int64_t first_step = 0, next_step = 0;  // rows of the input from tile to tile
};
/// Nothing if a tile of some tensor had no rows or reached into the padding between its ends.
std::optional<ChainRows> chain_rows(std::span<const ChainMember> chain, std::int64_t tile);

/// The number of the scratchpad among the memories, and whether transfers go on beside computing.
struct ChainPlace {
  std::int32_t memory = 1;
  bool overlapped = false;
};
/// Memory 0 holds the tensors. What comes from there goes to the scratchpad at once.
Workload build_chain(const network::Network& network, std::span<const ChainMember> chain,
                     const ChainRows& rows, const ChainPlace& where);

struct ChainTiling {
  Workload workload;
  TilingCost cost;
  LowerBound bound;
};
/// The fastest one; nothing if none fits.
std::optional<ChainTiling> best_chain(const network::Network& network,
                                      std::span<const ChainMember> chain, const TileTarget& target);

}  // namespace millrace::workload
