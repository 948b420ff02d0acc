#pragma once
// Positions that are themselves elements of a tensor.
#include <string>

#include "network/evaluate/loops.h"

namespace millrace::network::loops {

/// The i-th element of int32 or int64 indices.
inline std::int64_t index_at(const ConstView& indices, std::int64_t i) {
  return indices.type == DataType::int32 ? indices.as<std::int32_t>()[i]
                                         : indices.as<std::int64_t>()[i];
}
/// Counted from the end if it is negative.
inline std::int64_t from_end(std::int64_t index, std::int64_t size) {
  return index < 0 ? index + size : index;
}

/// InputError at the layer if one of its computed positions is outside of the tensor it picks from.
/// For operators that pick none, nothing is checked.
void check_indices(const Layer& layer, Inputs in);

}  // namespace millrace::network::loops
