#pragma once
// How far stages are from the limit: docs/roofline.md.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "board/board.h"
#include "board/peaks.h"
#include "profile/roofline.h"

namespace millrace::report {

struct StageRoofline {
  std::string stage;
  profile::Roofline roofline;
  Time measured{};     // of one frame, in the pipeline
  bool again = false;  // a replica of one before; not in the sums
};

/// Of a pipeline; a precondition of all below is at least one stage and one processor.
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
/// The part of the limit that was reached; more than 1: docs/roofline.md says how.
double share(const StageRoofline& stage);

std::string peaks_text(const std::vector<board::Processor>& processors,
                       const std::vector<board::Peaks>& peaks);
std::string rooflines_text(const Rooflines& rooflines);

nlohmann::json peaks_json(const board::Peaks& peaks);
nlohmann::json rooflines_json(const Rooflines& rooflines);

}  // namespace millrace::report
