#pragma once
// Fronts of plans as a picture: one panel for each group, a mark for each plan.
#include <string>
#include <vector>

namespace millrace::present {

struct FrontPoint {
  double latency_ms = 0, power_mw = 0;
  std::size_t stages = 1;
  std::string text;  // shown when the pointer rests on the mark
  bool chosen = false;
};

struct FrontPanel {
  std::string title;
  std::vector<FrontPoint> points;
};

/// SVG. Marks are coloured by the number of stages; chosen ones have a ring.
std::string fronts_svg(const std::vector<FrontPanel>& panels);

}  // namespace millrace::present
