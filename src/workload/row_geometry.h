#pragma once
// Inside the room: a layer as rows of one image, so that it can follow others tile by tile.
#include <variant>

#include "workload/geometry.h"

namespace millrace::workload {

/// How a layer reads and writes rows. Windows slide over rows of `input`; layers without windows
/// read the rows that they write. Constants and numbers by channel are whole in the scratchpad.
struct RowLayer {
  LayerGeometry geometry;  // all loops but rows are uncut
  std::size_t input = 0;   // which source has the rows that come from the layer before
};

/// With the first source that has rows as its input. Text: why there are none.
std::variant<RowLayer, std::string> row_layer(const network::Network& network, LayerId layer,
                                              std::int64_t element);

/// Whether the operand has rows, and not only numbers by channel.
bool has_rows(const Operand& operand);

}  // namespace millrace::workload
