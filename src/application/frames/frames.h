#pragma once
// Where input frames come from: images, arrays, or chance.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "network/network.h"
#include "profile/frame_run.h"

namespace millrace::application {

struct FrameOptions {
  std::vector<std::string>
      inputs;               // a folder, an image or a .npy; NAME=FILE.npy for several inputs
  std::int64_t random = 0;  // number of random frames
  std::vector<float> mean{0, 0, 0}, deviation{1, 1, 1};  // per channel; on the scale of `raw`
  bool bgr = false;
  bool raw = false;    // images keep 0..255
  bool resize = true;  // images of another size are scaled; else they are an error
  /// Frames that the program holds, each with all inputs; `inputs` then names them in messages.
  /// Null: as the rest says.
  std::shared_ptr<const std::vector<std::vector<network::Array>>> given = {};
};

struct NamedFrame {
  std::string name;  // of the file, or "random 3"
  std::vector<network::Array> inputs;
};

/// A number of frames, each made when it is asked for.
struct Frames {
  std::size_t count = 0;
  std::function<NamedFrame(std::size_t)> at;
};

/// InputError if nothing fits the network's inputs; files are decoded when their frame is asked
/// for.
Frames open_frames(const network::Network& network, const FrameOptions& options,
                   std::uint64_t seed);

/// How many pictures a network takes at once, if the frames are pictures that are fed to it: the
/// first dimension of its input; else 1, and a frame is all that it takes.
std::int64_t pictures_at_once(const network::Network& network, const FrameOptions& options);

/// For what runs all frames several times: they are kept in memory if that takes less than 1 GiB.
profile::Samples samples_of(const network::Network& network, const Frames& frames);

}  // namespace millrace::application
