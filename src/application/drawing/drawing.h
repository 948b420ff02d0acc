#pragma once
// Findings on a picture; only sources of this room include this.
#include <opencv2/core.hpp>

#include "application/findings.h"
#include "application/sink.h"

namespace millrace::application {

/// `image`: blue, green, red, a byte each; a map is of its size.
void draw(cv::Mat& image, const Findings& findings, const Labels& labels);

}  // namespace millrace::application
