#include "application/codecs/opencv.h"

#include <opencv2/imgproc.hpp>

namespace millrace::application {

Image from_bgr(const cv::Mat& image) {
  auto memory = std::make_shared<network::Buffer>(
      network::Buffer::uninitialized({static_cast<std::int64_t>(image.total()) * 3}));
  cv::Mat rgb(image.rows, image.cols, CV_8UC3, memory->data());
  cv::cvtColor(image, rgb, cv::COLOR_BGR2RGB);
  return {image.cols, image.rows, std::move(memory)};
}

cv::Mat to_bgr(const Image& image) {
  const cv::Mat rgb(image.height, image.width, CV_8UC3,
                    const_cast<std::uint8_t*>(image.bytes().data()));
  cv::Mat bgr;
  cv::cvtColor(rgb, bgr, cv::COLOR_RGB2BGR);
  return bgr;
}

}  // namespace millrace::application
