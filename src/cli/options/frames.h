#pragma once
// Which frames, and what is decided by them.
#include <CLI/CLI.hpp>

#include "api/frames.h"
#include "api/planning/precision.h"

namespace millrace::cli {

void bind_frames(CLI::App& verb, api::FrameOptions& options);
/// For verbs that learn from frames: images of another size than the input's are an error unless
/// --resize is given.
void bind_samples(CLI::App& verb, api::FrameOptions& options);
/// --frames and --plugin of an application whose frames are learned from.
void bind_application_frames(CLI::App& verb, api::ApplicationFrameOptions& options);
/// --labels-from, bind_application_frames, --max-loss, --calibration, bind_samples
void bind_loss(CLI::App& verb, api::LossOptions& options);

}  // namespace millrace::cli
