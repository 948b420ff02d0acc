#pragma once
// Where a plan comes from.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "board/variant.h"
#include "formats/model_source.h"

namespace millrace::plan {

/// What an application's pre- and post-processing take for a frame, on one core.
struct ProcessingTimes {
  Time pre{}, post{};  // 0: unknown
  Time reading{};      // of `pre`: what one thread at a time does, such as decoding a video
  std::int64_t frames =
      0;  // that they were measured on, on the machine that made the plan; 0: given
  bool operator==(const ProcessingTimes&) const = default;
};

/// What a plan was made from, and how: every result can be traced.
struct Origin {
  std::string network, board, profile;  // hashes; empty: none
  formats::ModelSource model;
  std::string version;
  std::string imported_from;           // the program whose plan it was; empty: it was made here
  std::string board_name, board_file;  // of a board that need not be here; empty: this machine
  std::string board_cpu;               // that board's model of its CPU
  std::string limits;                  // a board file, whose limits held; empty: none
  int streams = 1;
  std::string search, fitness;
  bool fallback = true;
  std::vector<board::Precision> precisions;  // that layers might have
  std::optional<double> max_error, max_loss;  // shares
  std::optional<Time> max_latency;
  std::int64_t max_batch = 1;  // with a largest latency
  std::optional<Bytes> max_memory;  // of the slots; none: the usual
  ProcessingTimes processing = {};  // that the search counted with
  /// By device: the highest clock while the plan was measured, where the system tells clocks.
  std::map<std::string, double> clocks_mhz = {};
  bool operator==(const Origin&) const = default;
};

}  // namespace millrace::plan
