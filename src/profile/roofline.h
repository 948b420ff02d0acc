#pragma once
// How fast layers could be at most on a processor whose peaks are known: docs/roofline.md.
#include <cstdint>
#include <functional>
#include <span>

#include "base/units.h"
#include "board/peaks.h"
#include "network/network.h"

namespace millrace::profile {

/// Of one frame.
struct Roofline {
  std::int64_t operations = 0;
  Bytes bytes;        // read and written by each layer, as wide as its precision makes them
  Time arithmetic{};  // the operations alone, at the peak
  Time limit{};       // sum over layers of max(operations / peak, bytes / bandwidth)

  Roofline& operator+=(const Roofline& other);
};

using PrecisionOf = std::function<board::Precision(LayerId)>;
inline board::Precision all_f32(LayerId) { return board::Precision::f32; }

/// The layers in turn on one processor, each from memory to memory; a Reshape is free. A precision
/// that the processor lacks is counted as f32 or, where that is lacking too, in the fastest that
/// there is. A peak that is not known takes no time.
Roofline roofline(const network::Network& network, std::span<const LayerId> layers,
                  const board::Peaks& peaks, const PrecisionOf& precision = all_f32);

}  // namespace millrace::profile
