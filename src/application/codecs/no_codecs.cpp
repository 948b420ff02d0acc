// Where the build found no OpenCV or no FFmpeg.
#include "application/codecs/codecs.h"

namespace millrace::application {

const Codecs& codecs() { cv::missing(); }

}  // namespace millrace::application
