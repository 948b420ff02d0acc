#pragma once
// How long an application's pre- and post-processing take on this machine.
#include <optional>

#include "engine/engine.h"
#include "plan/origin.h"
#include "product/application/samples.h"
#include "product/context.h"

namespace millrace::product {

/// Borrowed.
struct ProcessingMeasurement {
  const ApplicationFrameOptions& application;
  const application::FrameOptions& frames;  // may name others than the application's own
  const network::Network& network;
  engine::Engine& engine;
  const board::Processor& processor;  // a core
  Context context = {};
};

/// Times of a frame, everything one after the other on the core: in three rounds over the first
/// frames, as many as take about a second, the medians of the rounds' means. Reading counts to
/// pre-processing. Nothing, and a note, for a camera, which is not opened for this. InputError if
/// there are no frames.
std::optional<plan::ProcessingTimes> measure_processing(const ProcessingMeasurement& of);

}  // namespace millrace::product
