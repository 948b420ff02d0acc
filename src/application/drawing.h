#pragma once
// Findings on a picture; only sources of this room include this.
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "application/findings.h"

namespace millrace::application {

/// `image`: blue, green, red, a byte each; a map is of its size.
void draw(cv::Mat& image, const Findings& findings, const std::vector<std::string>& labels);

}  // namespace millrace::application
