#pragma once
// Which colours the numbers of a video's frame mean. Part of the library that codecs.cpp loads.
extern "C" {
#include <libavutil/frame.h>
}

#include <array>

namespace millrace::application {

/// How luma and two differences of colour become red, green and blue.
struct ColourMatrix {
  /// As swscale takes them: of red by Cr, blue by Cb, and green by both, times 65536.
  std::array<int, 4> coefficients{};
  bool is_ycgco = false;      // then the coefficients mean nothing
  bool is_understood = true;  // false: the file names a matrix that is not known here
};

/// The matrix that a frame names; if it names none, BT.601, as in FFmpeg. (ITU-T H.273, table 4)
ColourMatrix colour_matrix_of(const AVFrame& frame);

}  // namespace millrace::application
