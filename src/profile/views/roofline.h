#pragma once
// How fast layers could be at most on processors whose peaks are known: docs/methods/roofline.md.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "board/board.h"
#include "board/peaks.h"
#include "network/network.h"

namespace millrace::profile {

/// The roofline of one frame.
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

struct StageRoofline {
  std::string stage;
  Roofline roofline;
  Time measured{};     // of one frame, in the pipeline
  bool again = false;  // a replica of one before; not in the sums
};

/// Rooflines of a pipeline; a precondition of all below is at least one stage and one processor.
struct Rooflines {
  std::vector<board::Processor> processors;  // those that stages run on, each once
  std::vector<board::Peaks> peaks;           // by processor
  std::vector<StageRoofline> stages;
  double measured_fps = 0;
};

/// The sums over all stages.
StageRoofline total(const Rooflines& rooflines);
/// Frames per second of the processors if every layer ran at its limit and all of them always had
/// as much to do.
double limit_fps(const Rooflines& rooflines);
/// The part of the limit that was reached; more than 1: docs/methods/roofline.md says how.
double share(const StageRoofline& stage);

}  // namespace millrace::profile
