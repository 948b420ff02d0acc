#pragma once
// Applications with one technique after the other, from everything in turn on one core to the plan.
#include <optional>
#include <string>
#include <vector>

#include "analysis/channel_waits.h"
#include "application/accuracy/accuracy.h"
#include "application/run.h"
#include "application/loaded/loaded.h"
#include "runtime/session.h"

namespace millrace::application {

struct ApplicationRound {
  Totals totals;
  Time first{};                                  // of the first frame after deployment
  std::optional<double> joules;                  // of the machine, meanwhile
  std::vector<runtime::StageStatistics> stages;  // none if everything was done in turn

  double rate() const;  // frames per second
};

/// One of the application's steps; see application_steps.h.
struct ApplicationRow {
  std::string name;
  std::vector<ApplicationRound> rounds;  // interleaved with those of the other rows
  std::vector<std::size_t> differing;    // frames whose findings are not those of the first row
  int before_threads = 1, after_threads = 1;

  const ApplicationRound& median() const;  // the round in the middle, by rate
  std::vector<double> rates() const;       // by round
  double variation() const;                // of the rates: standard deviation by mean
};

struct ApplicationResult {
  std::string application;
  std::size_t frames = 0;                              // that were compared
  std::vector<ApplicationRow> rows;                    // the first in turn, the last the plan
  std::vector<std::string> processors;                 // by stage of the plan
  std::vector<analysis::ChannelWait> waits;            // of the plan
  std::optional<Accuracy> accuracy = {};  // of the plan, if there is ground truth
  std::string no_energy;                               // why none could be measured; empty: it was
};

/// Each step in each round, interleaved; compares the findings. InputError if there are no frames,
/// or live ones, whose rate is their own.
ApplicationResult bench_application(const LoadedApplication& loaded, int rounds);

}  // namespace millrace::application
