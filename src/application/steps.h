#pragma once
// One frame on its way, and what is done with it.
#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "application/application.h"
#include "application/run.h"
#include "base/error.h"

namespace millrace::application {

using Clock = std::chrono::steady_clock;

/// One crop of the frame: what the second network is given.
struct CropTravel {
  Picture picture;
  std::vector<network::Array> inputs = {};
};

struct Travel {
  Outcome outcome;
  std::vector<network::Array> inputs = {}, outputs = {};
  Clock::time_point begin{}, prepared{}, arrived{}, examined{}, done{};
  Clock::time_point cropped{};  // of a frame whose crops have been looked at; else not set
  std::vector<CropTravel> crops = {};
  std::vector<std::vector<network::Array>> crop_outputs = {};  // by run of the second network
  Time pipeline{};
  /// To the network, with those of the travels beside it; after it only if it may have made NaN.
  std::vector<network::Array> given = {};
  bool has_finite_inputs = true, has_finite_outputs = true;
  bool ends_batch = false;  // the last of those that the network takes together
  std::optional<InputError> undecoded = std::nullopt;  // the picture, which is left out
};

/// What a processing throws is said to be its own, whoever wrote it.
template <class Call>
void guarded(const std::string& kind, const Picture& picture, const Call& call) {
  const std::string place = fmt::format("frame {} ({}): {}", picture.frame, picture.name, kind);
  try {
    call();
  } catch (const InputError& error) {
    throw InputError(place, error.what());
  } catch (const std::exception& error) {
    throw EngineError(fmt::format("{} failed: {}", place, error.what()));
  } catch (...) {
    throw EngineError(place + " failed and threw something that is no std::exception");
  }
}

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
