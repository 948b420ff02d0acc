#include "cli/options/frames.h"

namespace millrace::cli {

void bind_frames(CLI::App& verb, api::FrameOptions& options) {
  CLI::Option* input =
      verb.add_option("--input,-i", options.inputs,
                      "A folder of images, images, or a .npy array; NAME=FILE.npy for networks "
                      "with several inputs (repeatable)");
  verb.add_option("--random", options.random, "Run on this many random frames")
      ->excludes(input)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  verb.add_option("--mean", options.mean, "Per channel, of pixel values in [0, 1]")->delimiter(',');
  verb.add_option("--std", options.deviation, "Per channel, of pixel values in [0, 1]")
      ->delimiter(',');
  verb.add_flag("--bgr", options.bgr, "Channels in the order blue, green, red");
  verb.add_flag("--raw", options.raw, "Keep pixel values as 0..255");
}

void bind_samples(CLI::App& verb, api::FrameOptions& options) {
  bind_frames(verb, options);
  options.resize = false;
  verb.add_flag("--resize", options.resize, "Scale images of another size than the input's");
}

void bind_loss(CLI::App& verb, api::LossOptions& options) {
  verb.add_option("--max-loss", options.max_loss,
                  "At most this share of the frames of --input may change its top answer, "
                  "such as 1%");
  verb.add_option("--calibration", options.calibration,
                  "Ranges for int8, from `millrace calibrate`; if left out, from --input");
  bind_samples(verb, options.frames);
}

}  // namespace millrace::cli
