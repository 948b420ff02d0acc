#pragma once
// A plan, or a model on one processor, on images, arrays or random frames.
#include <cstdint>
#include <optional>
#include <string>

#include "application/frames/frames.h"
#include "product/loaded.h"

namespace millrace::product {

struct RunRequest {
  RunnableOptions runnable;
  application::FrameOptions frames = {};
  std::string output = {};  // .npy: raw outputs; else lines of JSON; empty: on standard output
  std::string labels = {};  // a file of classes to compare with, in place of lines; empty: none
  TraceOptions trace = {};
};

struct RunTotals {
  std::int64_t frames = 0;
  std::optional<std::int64_t> right = {};  // of them have the class of their label
  Time elapsed{};
  std::size_t stages = 0, replicas = 0;  // replicas of all stages
  bool finite = true;  // no output held NaN or infinity
  std::string not_finite_input = {};  // the first frame whose input did; empty: none
  /// The layer that made NaN of numbers in a frame, as far as the session noticed; empty: none.
  std::string nan_layer = {};
  bool interrupted = false;
};

/// Results in the order of the frames. InputError before anything is written; lines that came out
/// are kept, also if an error or an interrupt (EngineError) ends the run.
RunTotals run(const RunRequest& request);

}  // namespace millrace::product
