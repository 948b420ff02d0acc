#pragma once
// One frame on its way, and what is done with it.
#include <chrono>
#include <optional>
#include <vector>

#include "application/application.h"
#include "application/run.h"
#include "base/error.h"

namespace millrace::application {

using Clock = std::chrono::steady_clock;

struct Travel {
  Outcome outcome;
  std::vector<network::Array> inputs = {}, outputs = {};
  Clock::time_point begin{}, prepared{}, arrived{}, examined{}, done{};
  Time pipeline{};
  /// To the network, with those of the travels beside it; after it only if it may have made NaN.
  std::vector<network::Array> given = {};
  bool has_finite_inputs = true, has_finite_outputs = true;
  std::optional<InputError> undecoded = std::nullopt;  // the picture, which is left out
};

/// The next picture, with the time that it took.
std::optional<Picture> read_next(Source& source);
/// Whether it is left out if it cannot be decoded: if it is of a folder, and its input says so.
bool may_be_skipped(const Application& application, const Picture& picture);
/// Decodes and pre-processes. An exception of the processing names it and the frame.
void prepare(const Application& application, const Parts& parts, Travel& travel);
/// Post-processes, likewise.
void examine(const Application& application, const Parts& parts, Travel& travel);
/// The inputs of all of them as the network takes them, `batch` pictures at once; they have none
/// after it.
std::vector<network::Array> take_inputs(std::vector<Travel>& travels, std::int64_t batch);
/// To each its part.
void give_outputs(std::vector<Travel>& travels, std::vector<network::Array> outputs,
                  std::int64_t batch);
/// Counts a frame that came out now.
void count(const Travel& travel, Totals& totals);

}  // namespace millrace::application
