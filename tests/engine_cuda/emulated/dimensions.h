#pragma once

namespace emulated {

/// Sizes of a grid, in blocks, or of a block, in threads; or a position in one.
struct Dimensions {
  unsigned x = 1, y = 1, z = 1;
};

}  // namespace emulated
