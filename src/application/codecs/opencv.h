#pragma once
// Pictures to and from OpenCV's; only sources of this room include this.
#include <opencv2/core.hpp>

#include "application/picture.h"

namespace millrace::application {

/// Copies. Precondition: 8 bits, 3 channels.
Image from_bgr(const cv::Mat& image);
cv::Mat to_bgr(const Image& image);

}  // namespace millrace::application
