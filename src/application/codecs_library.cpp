// The shared library that codecs.cpp loads.
#include <opencv2/imgcodecs.hpp>

#include "application/codecs.h"

namespace millrace::application {
namespace {

cv::Mat decode(const cv::Mat& bytes, int flags) { return cv::imdecode(bytes, flags); }
bool has_encoder(const std::string& name) { return cv::haveImageWriter(name); }

std::vector<std::uint8_t> encode(const std::string& ending, const cv::Mat& image) {
  std::vector<std::uint8_t> bytes;
  cv::imencode(ending, image, bytes);
  return bytes;
}

std::unique_ptr<cv::VideoCapture> make_capture() { return std::make_unique<cv::VideoCapture>(); }
std::unique_ptr<cv::VideoWriter> make_writer() { return std::make_unique<cv::VideoWriter>(); }

}  // namespace

extern "C" const Codecs* millrace_codecs() {
  static constexpr Codecs codecs{decode, has_encoder, encode, make_capture, make_writer};
  return &codecs;
}

}  // namespace millrace::application
