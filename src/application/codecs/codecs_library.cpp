// The shared library that codecs.cpp loads.
#include <cstdlib>
#include <memory>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>

#include "application/codecs/codecs.h"
#include "application/codecs/ffmpeg_reader.h"
#include "application/codecs/ffmpeg_writer.h"
#include "application/codecs/jpeg.h"

namespace millrace::application {
namespace {

cv::Mat decode(const cv::Mat& bytes, int flags) { return cv::imdecode(bytes, flags); }

bool has_encoder(const std::string& name) { return cv::haveImageWriter(name); }

std::vector<std::uint8_t> encode(const std::string& ending, const cv::Mat& image) {
  std::vector<std::uint8_t> bytes;
  cv::imencode(ending, image, bytes);
  return bytes;
}

// By its number: GStreamer's backend would run a text as a pipeline.
VideoReader open_device(int number) {
  const auto capture = std::make_shared<cv::VideoCapture>();
  if (!capture->open(number, cv::CAP_V4L2)) return {};
  return {[capture](VideoFrame& frame) { return capture->read(frame.image); },
          capture->get(cv::CAP_PROP_FPS)};
}

/// Errors are ours.
void silence_libraries() {
  setenv("OPENCV_FFMPEG_LOGLEVEL", "-8", 0);  // OpenCV reads it when it uses FFmpeg first
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
}

}  // namespace

extern "C" const Codecs* millrace_codecs() {
  static constexpr Codecs codecs{.decode = decode,
                                 .decode_jpeg = decode_jpeg,
                                 .has_encoder = has_encoder,
                                 .encode = encode,
                                 .open_device = open_device,
                                 .open_address = open_video_address,
                                 .open_video = open_video_file,
                                 .create_video = create_video_file};
  silence_libraries();
  return &codecs;
}

}  // namespace millrace::application
