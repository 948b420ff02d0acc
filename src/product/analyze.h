#pragma once
// What is certain of a plan, beside what was measured.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/proof.h"
#include "board/power.h"
#include "product/loaded.h"
#include "runtime/bench/measured_now.h"

namespace millrace::product {

using runtime::MeasuredNow;

struct AnalyzeRequest {
  std::string plan;           // a file
  std::string model = {};     // its model, if that is no longer where it was
  std::string recorded = {};  // a trace of the plan, whose times take the place of the plan's
  double duration_s = 5;
  std::uint64_t seed = 1;
  bool measure = false;  // run it here, too
  Context context = {};
};

struct Analysis {
  std::string file;
  std::unique_ptr<Loaded> loaded;
  analysis::Proof proof;
  std::optional<MeasuredNow> now = {};
  std::vector<board::DeviceEnergy> energy = {};  // of a frame, at the highest rate; of a board
  bool recorded = false;  // the plan's times, and what it was measured with, are a trace's

  const plan::Evidence& evidence() const { return loaded->evidence; }
  const plan::Plan& plan() const { return loaded->plan; }
  const network::Network& network() const { return loaded->network; }
};

Analysis analyze(const AnalyzeRequest& request);

/// The time of a frame in the plan's graph, in nanoseconds. Nothing if it is unknown or unlimited.
std::optional<dataflow::Fraction> proven_period(const analysis::Proof& proof);
/// The shortest time between two frames that may be seen, in seconds. Nothing as above.
std::optional<double> shortest_period(const Analysis& analysis);

}  // namespace millrace::product
