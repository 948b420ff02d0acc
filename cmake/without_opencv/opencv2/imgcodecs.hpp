#pragma once
// See core.hpp.
#include <opencv2/core.hpp>

namespace cv {

enum Reading { IMREAD_GRAYSCALE = 0, IMREAD_COLOR = 1, IMREAD_IGNORE_ORIENTATION = 128 };

}  // namespace cv
