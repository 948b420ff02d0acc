#pragma once
// How large a tensor of a file may be.
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>

#include "base/error.h"
#include "formats/network_names.h"

namespace millrace::formats {

/// InputError at `place` if a tensor of the shape has more than 2^31 - 1 bytes: libraries of
/// kernels count them in 32 bits.
inline void check_size(DataType type, const Shape& shape, const std::string& place) {
  const Bytes size = size_of(type) * element_count(shape, place);
  if (size.count > std::numeric_limits<std::int32_t>::max())
    throw InputError(place, fmt::format("the shape {} needs {}, but a tensor can have at most 2^31 "
                                        "- 1 bytes; use a smaller input or batch",
                                        to_text(shape), millrace::to_text(size)));
}

}  // namespace millrace::formats
