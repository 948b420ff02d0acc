// The shared library that codecs.cpp loads.
#include <memory>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>
#include <optional>

#include "application/codecs.h"

namespace millrace::application {
namespace {

cv::Mat decode(const cv::Mat& bytes, bool grey) {
  return cv::imdecode(bytes, grey ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
}

bool has_encoder(const std::string& name) { return cv::haveImageWriter(name); }

std::vector<std::uint8_t> encode(const std::string& ending, const cv::Mat& image) {
  std::vector<std::uint8_t> bytes;
  cv::imencode(ending, image, bytes);
  return bytes;
}

/// What a frame lacks to be upright. The readers' own turning is off: version 4.6.0 gives the angle
/// of videos with the wrong sign, and turns the wrong way.
std::optional<int> turn_of(const cv::VideoCapture& capture) {
  const double angle = capture.get(cv::CAP_PROP_ORIENTATION_META);  // clockwise
  const bool is_wrong = cv::getVersionMajor() == 4 && cv::getVersionMinor() == 6;
  if (angle == 180) return cv::ROTATE_180;
  if (angle != 90 && angle != 270) return std::nullopt;
  return (angle == 90) != is_wrong ? cv::ROTATE_90_CLOCKWISE : cv::ROTATE_90_COUNTERCLOCKWISE;
}

bool read_upright(cv::VideoCapture& capture, const std::optional<int>& turn, cv::Mat& image) {
  if (!turn) return capture.read(image);
  cv::Mat lying;
  if (!capture.read(lying) || lying.empty()) return false;
  cv::rotate(lying, image, *turn);
  return true;
}

// Backends are named: GStreamer's would run the text as a pipeline.
template <class Where>
VideoReader reader_of(const Where& where, int backend) {
  const auto capture = std::make_shared<cv::VideoCapture>();
  if (!capture->open(where, backend)) return {};
  const auto turn =
      capture->set(cv::CAP_PROP_ORIENTATION_AUTO, 0) ? turn_of(*capture) : std::nullopt;
  return {[capture, turn](cv::Mat& image) { return read_upright(*capture, turn, image); },
          [capture](int number) { return capture->get(number); }};
}

VideoReader open_device(int number) { return reader_of(number, cv::CAP_V4L2); }
VideoReader open_address(const std::string& address) { return reader_of(address, cv::CAP_FFMPEG); }
VideoReader open_video(const std::string& path) {
  const VideoReader reader = reader_of(path, cv::CAP_FFMPEG);
  return reader.read ? reader : reader_of(path, cv::CAP_OPENCV_MJPEG);
}

VideoWriter create_video(const std::string& path, const VideoFormat& format) {
  const std::string& name = format.codec;
  const int codec = cv::VideoWriter::fourcc(name.at(0), name.at(1), name.at(2), name.at(3));
  const auto writer = std::make_shared<cv::VideoWriter>();
  if (!writer->open(path, codec, format.rate_fps, format.size)) return {};
  return [writer](const cv::Mat& image) { writer->write(image); };
}

}  // namespace

extern "C" const Codecs* millrace_codecs() {
  static constexpr Codecs codecs{decode,      has_encoder,  encode,      open_device,
                                 open_address, open_video, create_video};
  return &codecs;
}

}  // namespace millrace::application
