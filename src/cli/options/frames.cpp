#include "cli/options/frames.h"

#include <string>

#include "cli/options/common.h"

namespace millrace::cli {

void bind_frames(CLI::App& verb, api::FrameOptions& options) {
  begin_group(verb, "Frames");
  const std::string what = options.resize ? ". Images are stretched to the size of its input" : "";
  CLI::Option* input =
      verb.add_option("--input,-i", options.inputs,
                      "The frames: a folder of images, image files, or a .npy array. For a network "
                      "with several inputs: NAME=FILE.npy for each (repeatable)" +
                          what);
  verb.add_option("--random", options.random, "Use this number of random frames")
      ->excludes(input)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  verb.add_option("--mean", options.mean,
                  "Mean that is subtracted from each channel: from 0 to 1, with --raw from 0 to "
                  "255. Give one value or three; default: 0")
      ->delimiter(',');
  verb.add_option("--std", options.deviation,
                  "Standard deviation by which each channel is divided after --mean: from 0 to 1, "
                  "with --raw from 0 to 255. Give one value or three; default: 1")
      ->delimiter(',');
  verb.add_flag("--bgr", options.bgr,
                "Order the channels blue, green, red; default: red, green, blue");
  verb.add_flag("--raw", options.raw,
                "Keep pixel values from 0 to 255; default: scale them to 0 to 1");
}

void bind_samples(CLI::App& verb, api::FrameOptions& options) {
  options.resize = false;
  bind_frames(verb, options);
  verb.add_flag("--resize", options.resize,
                "Scale images to the size of the network's input; default: another size is an "
                "error");
}

void bind_application_frames(CLI::App& verb, api::ApplicationFrameOptions& options) {
  begin_group(verb, "Application");
  verb.add_option("--frames", options.most_frames,
                  "For an application: use at most this number of frames of its input")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  verb.add_option("--plugin", options.plugins,
                  "A shared library with pre- or post-processing for the application (repeatable)");
}

void bind_loss(CLI::App& verb, api::LossOptions& options) {
  begin_group(verb, "Precision");
  verb.add_option("--max-loss", options.max_loss,
                  "Allow lower precisions if the accuracy falls by at most this share, such as 1%. "
                  "For an application, its own measure counts; otherwise the share of answers that "
                  "change");
  verb.add_option("--calibration", options.calibration,
                  "The table of ranges for int8, from `millrace calibrate`; default: ranges of the "
                  "frames of --input");
  bind_samples(verb, options.frames);
  bind_application_frames(verb, options.application);
  verb.add_option("--labels-from", options.application.labels_from,
                  "For an application: measure the loss beside this ground truth; default: beside "
                  "what float32 finds");
}

}  // namespace millrace::cli
