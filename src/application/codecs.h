#pragma once
// OpenCV's readers and writers of image and video files. They link more than two hundred libraries,
// which take longer to load than most commands take to run; so they are in a shared library of
// their own, loaded when the first of them is needed. Only sources of this room include this.
#include <cstdint>
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/videoio.hpp>
#include <string>
#include <vector>

namespace millrace::application {

/// Of captures and writers only virtual functions can be called. All may throw cv::Exception.
struct Codecs {
  cv::Mat (*decode)(const cv::Mat& bytes, int flags);
  bool (*has_encoder)(const std::string& name);
  std::vector<std::uint8_t> (*encode)(const std::string& ending, const cv::Mat& image);
  std::unique_ptr<cv::VideoCapture> (*make_capture)();
  std::unique_ptr<cv::VideoWriter> (*make_writer)();
};

/// EngineError if the library cannot be loaded.
const Codecs& codecs();

}  // namespace millrace::application
