#pragma once
// Where labels of a picture stand, so that none hides another.
#include <cstddef>
#include <opencv2/core.hpp>
#include <optional>
#include <vector>

namespace millrace::application {

class LabelPlaces {
 public:
  explicit LabelPlaces(cv::Size picture) : picture_(picture) {}

  /// For a label of the box: above it, within or below it, beside it; else the free place nearest
  /// to its corner. Within the picture. Nothing: no place is free.
  std::optional<cv::Rect> take(const cv::Rect& box, cv::Size label);

 private:
  std::vector<cv::Rect> in_row(int top, int height) const;
  cv::Rect within(cv::Point corner, cv::Size label) const;
  std::optional<cv::Rect> nearest(cv::Point corner, cv::Size label) const;

  cv::Size picture_;
  std::vector<cv::Rect> taken_;
};

}  // namespace millrace::application
