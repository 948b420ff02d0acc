#pragma once
// Decoded frames as pictures. Part of the library that codecs.cpp loads.
extern "C" {
#include <libavutil/frame.h>
}

#include <opencv2/core.hpp>
#include <string>

#include "application/codecs/ffmpeg_owned.h"

namespace millrace::application {

/// The size in square pixels. The shorter side of pixels is stretched, so that nothing is lost. No
/// pixel is more than 16 times as long as wide, whatever the file says.
cv::Size square_size(const cv::Size& stored, AVRational pixel_aspect);

class FrameConversion {
 public:
  /// Blue, green and red of full range, 8 bits each, in square pixels; empty: it cannot be
  /// converted. Matrix and range are the frame's; nothing that it says means BT.601 and, but for
  /// formats that are always full, the limited range.
  cv::Mat convert(const AVFrame& frame, AVRational pixel_aspect);

 private:
  /// What the scaler was made for.
  struct Key {
    int format = -1, to = -1;
    cv::Size from, size;
    AVColorSpace space = AVCOL_SPC_UNSPECIFIED;
    AVColorPrimaries primaries = AVCOL_PRI_UNSPECIFIED;
    AVColorRange range = AVCOL_RANGE_UNSPECIFIED;
    bool operator==(const Key&) const = default;
  };
  bool prepare(const AVFrame& frame, const Key& key);

  Owned<SwsContext> scaler_;
  Key key_;
};

/// What a person should know of the frame, as the end of a sentence: that it is interlaced, or of a
/// high dynamic range. Empty: nothing.
std::string remark_on(const AVFrame& frame);

}  // namespace millrace::application
