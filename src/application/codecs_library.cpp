// The shared library that codecs.cpp loads.
#include <memory>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>

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

// Backends are named: GStreamer's would run the text as a pipeline.
template <class Where>
VideoReader reader_of(const Where& where, int backend) {
  const auto capture = std::make_shared<cv::VideoCapture>();
  if (!capture->open(where, backend)) return {};
  return {[capture](cv::Mat& image) { return capture->read(image); },
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
