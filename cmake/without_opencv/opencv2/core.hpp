#pragma once
// Stands in OpenCV's place where the build did not find it: what Millrace names of it. Pictures are
// held and their channels swapped; whatever else is asked of it says that OpenCV is missing.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"

namespace cv {

[[noreturn]] inline void missing() {
  throw millrace::EngineError(
      "pictures and videos need OpenCV and FFmpeg, which this Millrace was built without; install "
      "the packages that `media` names in scripts/lib.sh, and build it again");
}

struct Exception {};

struct Size {
  int width = 0, height = 0;
  Size() = default;
  Size(int w, int h) : width(w), height(h) {}
  bool operator==(const Size&) const = default;
};
struct Point {
  int x = 0, y = 0;
  Point() = default;
  Point(int px, int py) : x(px), y(py) {}
};
struct Rect {
  int x = 0, y = 0, width = 0, height = 0;
  Point tl() const { return {x, y}; }
  int area() const { return width * height; }
};
/// What both cover; of no area if that is nothing.
inline Rect operator&(const Rect& a, const Rect& b) {
  const int x = std::max(a.x, b.x), y = std::max(a.y, b.y);
  return {x, y, std::max(0, std::min(a.x + a.width, b.x + b.width) - x),
          std::max(0, std::min(a.y + a.height, b.y + b.height) - y)};
}
using Vec3b = std::array<std::uint8_t, 3>;

struct Scalar {
  std::array<double, 4> values{};
  Scalar(double a = 0, double b = 0, double c = 0, double d = 0) : values{a, b, c, d} {}
  double operator[](int i) const { return values[static_cast<std::size_t>(i)]; }
};

enum Type { CV_8UC1 = 1, CV_8UC3 = 3 };  // as many channels

/// Copies share the pixels. Rows follow each other without gaps.
class Mat {
 public:
  int rows = 0, cols = 0;
  std::uint8_t* data = nullptr;
  const std::uint8_t *datastart = nullptr, *dataend = nullptr;
  std::array<std::size_t, 2> step{};

  Mat() = default;
  Mat(int height, int width, int type) : Mat(height, width, type, nullptr) {
    pixels_ = std::make_shared<std::vector<std::uint8_t>>(total() * step[1]);
    show(pixels_->data());
  }
  Mat(int height, int width, int type, const Scalar& colour) : Mat(height, width, type) {
    for (std::size_t i = 0; i < pixels_->size(); ++i)
      data[i] = static_cast<std::uint8_t>(colour[static_cast<int>(i % step[1])]);
  }
  /// Of the caller's pixels.
  Mat(int height, int width, int type, void* pixels) : rows(height), cols(width) {
    step = {static_cast<std::size_t>(width) * static_cast<std::size_t>(type),
            static_cast<std::size_t>(type)};
    show(static_cast<std::uint8_t*>(pixels));
  }

  int type() const { return static_cast<int>(step[1]); }
  Size size() const { return {cols, rows}; }
  std::size_t total() const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  }
  bool empty() const { return data == nullptr || total() == 0; }
  void release() { *this = {}; }
  template <class Pixel>
  Pixel& at(int y, int x) const {
    return *reinterpret_cast<Pixel*>(data + static_cast<std::size_t>(y) * step[0] +
                                     static_cast<std::size_t>(x) * step[1]);
  }

 private:
  void show(std::uint8_t* pixels) {
    datastart = data = pixels;
    dataend = pixels == nullptr ? nullptr : pixels + total() * step[1];
  }
  std::shared_ptr<std::vector<std::uint8_t>> pixels_;
};

inline void setNumThreads(int) {}
template <class... Any>
void transpose(const Any&...) {
  missing();
}
template <class... Any>
void flip(const Any&...) {
  missing();
}

}  // namespace cv

using cv::CV_8UC1;
using cv::CV_8UC3;
