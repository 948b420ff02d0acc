#pragma once
// Frames of an application, made by its own pre-processing, to calibrate with and to measure
// losses on.
#include <memory>
#include <string>
#include <vector>

#include "application/frames/frames.h"
#include "product/application/load.h"
#include "profile/frame_run.h"

namespace millrace::product {

struct ApplicationFrameOptions {
  std::string file = {};  // of the application; empty: there is none
  std::vector<std::string> plugins = {};
  std::string labels_from = {};    // ground truth; empty: none
  std::int64_t most_frames = 200;  // of its input, the first ones

  ApplicationOptions application() const;
};

struct ApplicationSamples {
  std::unique_ptr<application::LoadedApplication> application;
  std::vector<application::Picture> pictures;
  profile::Samples samples;  // made from them; borrows this
};

/// InputError if --mean, --std, --bgr or --raw is given: the application says it itself.
void refuse_image_options(const application::FrameOptions& frames);

/// Whether frames come from the application: from its own input, or from the folder, picture or
/// array that `frames` names in its place.
bool is_of_application(const ApplicationFrameOptions& options,
                       const application::FrameOptions& frames);

/// What `frames` names in the place of the application's own input. InputError if a camera is left.
void replace_input(application::Application& application, const application::FrameOptions& frames);

/// InputError if the frames' options contradict the application's pre-processing, or there are
/// none; a camera's pictures are not taken. `network`: the application's.
std::unique_ptr<ApplicationSamples> open_application_samples(
    const ApplicationFrameOptions& options, const application::FrameOptions& frames,
    const network::Network& network, const Context& context);

}  // namespace millrace::product
