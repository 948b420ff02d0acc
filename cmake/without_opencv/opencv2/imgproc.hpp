#pragma once
// See core.hpp.
#include <opencv2/core.hpp>
#include <string>

namespace cv {

enum Interpolation { INTER_AREA, INTER_NEAREST, INTER_LINEAR };
enum Colours { COLOR_RGB2BGR, COLOR_BGR2RGB, COLOR_RGB2GRAY, COLOR_GRAY2BGR, COLOR_HSV2BGR };
enum Drawing { FONT_HERSHEY_SIMPLEX, FILLED, LINE_AA };

/// Only red and blue change places. Into `to`, if it is of this size.
inline void cvtColor(const Mat& from, Mat& to, Colours how) {
  if ((how != COLOR_RGB2BGR && how != COLOR_BGR2RGB) || from.type() != CV_8UC3) missing();
  if (to.size() != from.size() || to.type() != CV_8UC3) to = Mat(from.rows, from.cols, CV_8UC3);
  for (std::size_t i = 0; i < 3 * from.total(); i += 3) {
    const Vec3b pixel{from.data[i], from.data[i + 1], from.data[i + 2]};
    for (std::size_t c = 0; c < 3; ++c) to.data[i + c] = pixel[2 - c];
  }
}

template <class... Any>
void resize(const Mat&, Mat&, const Size&, const Any&...) {
  missing();
}
template <class... Any>
void rectangle(Mat&, const Rect&, const Any&...) {
  missing();
}
template <class... Any>
void rectangle(Mat&, const Point&, const Point&, const Any&...) {
  missing();
}
template <class... Any>
void line(Mat&, const Any&...) {
  missing();
}
template <class... Any>
void circle(Mat&, const Any&...) {
  missing();
}
inline void putText(Mat&, const std::string&, const Point&, int, double, const Scalar&, int, int) {
  missing();
}
inline Size getTextSize(const std::string&, int, double, int, int*) { missing(); }

}  // namespace cv
