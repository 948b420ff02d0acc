#pragma once
// OpenCV's and FFmpeg's readers and writers of image and video files. They link more than two
// hundred libraries, which take longer to load than most commands take to run; so they are in a
// shared library of their own, loaded when the first of them is needed. Only sources of this room
// include this.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace millrace::application {

struct VideoFrame {
  cv::Mat image;                            // until the next one is read; of a size of its own
  std::optional<Time> time = std::nullopt;  // in the video, as its file or its source says
  // For live video: when the frame came from the network, and how old it was then, as far as its
  // time stamps tell.
  std::optional<std::chrono::steady_clock::time_point> arrived = std::nullopt;
  Time lag{};
  std::int64_t skipped = 0;  // before it, because they came too late
  std::string remark = {};                  // what a person should know of it; empty: nothing
};

/// How a camera in the network is read.
struct AddressOptions {
  bool newest = false;  // frames that come too late are not decoded
  std::chrono::milliseconds patience{30'000};  // without a frame; then the stream has ended
  /// Ends a wait when it is true; shared with whoever ends it. None: nobody does.
  std::shared_ptr<const std::atomic<bool>> is_over = {};
};

/// Not open: `read` is empty.
struct VideoReader {
  std::function<bool(VideoFrame& frame)> read;  // false: there is none
  double rate_fps = 0;                          // 0: not known
  std::int64_t frames = 0;                      // as the file says; 0: it does not
  bool has_end = false;  // of an address: it says how long it lasts, as a file does
};

/// Not open: empty. Written for good when the last copy is gone.
using VideoWriter = std::function<void(const cv::Mat& image)>;

struct VideoFormat {
  std::string codec;  // four letters
  double rate_fps = 0;
  cv::Size size;
  bool in_fragments = false;  // an MP4 file: what was written can be read if the end is missing
};

struct DecodedJpeg {
  cv::Mat image;            // as it is stored, not turned; empty: it cannot be decoded
  std::uint64_t pixels = 0;  // as the file says; no image if these are too many
  std::string exif;         // what the file says beside it
  bool is_damaged = false;  // something that is shown is not what was stored
};

/// All may throw cv::Exception.
struct Codecs {
  cv::Mat (*decode)(const cv::Mat& bytes, int flags);
  DecodedJpeg (*decode_jpeg)(std::string_view bytes, bool grey);
  bool (*has_encoder)(const std::string& name);
  std::vector<std::uint8_t> (*encode)(const std::string& ending, const cv::Mat& image);
  VideoReader (*open_device)(int number);
  VideoReader (*open_address)(const std::string& address, const AddressOptions& options);
  VideoReader (*open_video)(const std::string& path);  // absolute, of a file
  VideoWriter (*create_video)(const std::string& path, const VideoFormat& format);
};

/// EngineError if the library cannot be loaded.
const Codecs& codecs();

}  // namespace millrace::application
