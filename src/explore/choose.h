#pragma once
// From a profile to the plan that wins: searches propose, measurements decide.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/capacities.h"
#include "board/joined/joined_boards.h"
#include "board/power.h"
#include "explore/mapping/search.h"
#include "plan/build.h"
#include "plan/evidence.h"
#include "profile/profile.h"

namespace millrace::explore {

struct ChooseOptions {
  std::string search = "auto";  // "genetic", "exact", or "auto": both
  GeneticOptions genetic;
  plan::BuildOptions build{.engine = {}, .capacity = 3};  // no engine: the profile's
  bool fallback = true;    // plans may have layers that fallback.h finds
  std::int64_t slack = 2;  // slots of a tensor beyond the fewest that keep the throughput, where it
                           // passes between stages: they absorb jitter; see decision 17
  bool size_slots = true;  // else they are by the rule, for build.capacity
  const network::Calibration* calibration = nullptr;  // borrowed; goes into plans that use int8
  /// No plan whose frames would take longer. With it, layers that gain by it may work on several
  /// frames at once, if the profile has their times in batches; without, none do, as a frame then
  /// waits for others.
  std::optional<Time> max_latency = {};
  std::int64_t max_batch = 16;
  /// No plan for which one of the boards would draw more for a frame, in millijoules; of one board,
  /// that one. It counts as long as the board says what its processors draw.
  std::optional<double> max_board_energy = {};
  std::vector<board::Link> links = {};  // between its boards
  /// Streams of a stage, at most, on processors whose launches or borders they hide.
  std::int64_t most_streams = 1;
  /// Runs the plans and says of each what was measured; called with the candidates whose
  /// bound is within 25 % of the best one, and those that run the whole network on each processor,
  /// which suffer least from times that move. Empty: the bound decides.
  std::function<std::vector<plan::Measured>(std::span<const plan::Assessed>)> measure;
};

/// Whether somebody asks what boards draw.
bool asks_for_energy(const ChooseOptions& options);

/// One way to do it, with its evidence.
struct Candidate {
  std::string name;  // "genetic", "exact contiguous", "one processor"
  SearchResult search;
  plan::Plan plan;
  plan::Evidence evidence;
  std::optional<analysis::SlotSizing>
      smallest;        // without slack; none: the plan's slots are by rule
  Time bound{};        // between two frames, by the plan's CSDF graph at the predicted times
  Time search_time{};  // how long the search took
  std::vector<plan::StepTime> built = {};  // the steps from the mapping to the plan
  std::int64_t batch = 1;  // frames that the layers which gain by it work on at once
  Time latency{};          // of frames that come one `bound` apart, by the graph; 0: not asked for
  board::DeviceEnergy largest = {};  // what the board that draws most draws for a frame, one each
                                     // `bound`; of no device: not asked for
  double doubt = 0;  // how far its measured period beside the shortest may be off, in shares
};

/// The time between two frames at the predicted times: the bound, but first-free replicas wait for
/// no frames of their own. Where the slowest takes more than 8 times as long as the fastest, it is
/// the bound: frames would take too long.
Time predicted_period(const Candidate& candidate);

struct Choice {
  std::vector<Candidate> candidates;  // at least one
  std::vector<std::string> left_out;  // what was found and cannot be, and why: one sentence each
  std::size_t best = 0;
  double lower_bound = 0;  // nanoseconds per frame; no mapping, with any batch tried, is better
  bool in_time = true;     // the best keeps within the largest latency
  /// Frames per second of an application with the best, if the search knew the times of its pre-
  /// and post-processing. All other figures are of the network alone.
  std::optional<double> application_fps = {};
  /// The same of one processor, if pre-processing, network and post-processing of a frame run one
  /// after the other: the baseline of Kim's thesis.
  std::optional<double> baseline_fps = {};
  /// Threads that the search found for pre- and post-processing; 0: it looked for none.
  std::int64_t pre_threads = 0, post_threads = 0;

  const Candidate& winner() const { return candidates[best]; }
};

/// The candidate with the smallest measured period, else with the smallest bound; of those that are
/// within 1 % of it, or that measurements do not tell apart and are within 3 %, or 10 % if they use
/// as many processors, the one with the fewest phases, then with the fewest channels, and then with
/// the smallest latency. One processor
/// alone is always among the candidates, if one can run all layers. With the fitness board_energy,
/// the candidate whose largest board draws least. If none keeps within the largest latency, the one
/// with the smallest. InputError if all that was found goes beyond what the board can do.
Choice choose(const network::Network& network, const board::Board& board,
              const profile::Profile& profile, const ChooseOptions& options = {});

}  // namespace millrace::explore
