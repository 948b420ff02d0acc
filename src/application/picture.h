#pragma once
// What a source gives: one picture, or the arrays of one frame.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "network/tensor.h"

namespace millrace::application {

/// Red, green and blue, one byte each, row by row from the top without gaps.
struct Image {
  int width = 0, height = 0;
  // Shared by the copies of a picture: what draws the findings needs it as long as who reads it.
  std::shared_ptr<const network::Buffer> pixels = {};

  bool empty() const { return pixels == nullptr; }
  std::span<const std::uint8_t> bytes() const {
    return {reinterpret_cast<const std::uint8_t*>(pixels->data()),
            static_cast<std::size_t>(pixels->size().count)};
  }
};

struct Picture {
  std::int64_t frame = 0;  // as the source counts, from 0, with those that are dropped later
  std::size_t source = 0;  // of several inputs: which one
  std::string input = {};  // its name; empty: there is one
  std::string name;        // of the file; of a video's frame "clip.avi 12"
  Image image;             // empty if the frame is arrays
  std::vector<network::Array> arrays = {};  // in the order of the network's inputs
  std::chrono::steady_clock::time_point taken = {};
  std::optional<Time> time = {};  // in the video, from its first frame
  std::optional<std::chrono::system_clock::time_point> captured = {};  // by a camera
  // By the camera's own clock, from its first picture since it was connected; none: it says none.
  std::optional<Time> stamp = {};
  Time gap{};  // how long the camera had given nothing and was connected again; 0: it was there
  // When an annotated video shows it, in the time of other frames; none: after the one before.
  std::optional<Time> due = {};
  Time reading = {};  // how long the source took for it
  // How old it was when it came from a camera, as far as that one's time stamps tell; it was
  // `taken` so long before.
  Time lag = {};
  std::string remark = {};  // what a person should know of its video; empty: nothing
};

}  // namespace millrace::application
