#pragma once
// Steps on camera pictures, with OpenCV: what a plain program calls one after the other.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <opencv2/imgproc.hpp>
#include <span>
#include <vector>

namespace inspection {

inline constexpr int width = 320, height = 240;

/// Stands for a camera: things that move on a belt, in bad light. A number has always the same
/// picture.
inline void capture(int number, int camera, cv::Mat& picture) {
  picture.setTo(cv::Scalar(60 + 10 * camera, 70, 65));
  for (int i = 0; i < 6; ++i) {
    const int x = (number * 7 + i * 61 + camera * 17) % (width + 60) - 30;
    const int y = 30 + i * 35;
    const cv::Scalar colour(40 * i, 255 - 30 * i, (camera * 60 + 20 * i) % 256);
    if (i % 2 == 0)
      cv::circle(picture, {x, y}, 14 + camera, colour, cv::FILLED);
    else
      cv::rectangle(picture, {x - 12, y - 12}, {x + 12, y + 12}, colour, cv::FILLED);
  }
  std::uint32_t noise = static_cast<std::uint32_t>(number * 4 + camera) * 2654435761u + 1;
  for (int i = 0; i < 2000; ++i) {
    noise = noise * 1664525u + 1013904223u;
    picture.at<cv::Vec3b>(static_cast<int>((noise >> 8) % height),
                          static_cast<int>((noise >> 16) % width))[i % 3] = 255;
  }
}

inline void denoise(const cv::Mat& picture, cv::Mat& result) { cv::medianBlur(picture, result, 3); }

/// Brighter where it is dark.
inline void correct(const cv::Mat& picture, cv::Mat& result) {
  static const cv::Mat table = [] {
    cv::Mat values(1, 256, CV_8U);
    for (int i = 0; i < 256; ++i)
      values.at<std::uint8_t>(i) = cv::saturate_cast<std::uint8_t>(255 * std::pow(i / 255.0, 0.7));
    return values;
  }();
  cv::LUT(picture, table, result);
}

/// Spreads the brightness over all values.
inline void equalise(const cv::Mat& picture, cv::Mat& result) {
  cv::Mat brightness;
  cv::cvtColor(picture, result, cv::COLOR_BGR2YCrCb);
  cv::extractChannel(result, brightness, 0);
  cv::equalizeHist(brightness, brightness);
  cv::insertChannel(brightness, result, 0);
  cv::cvtColor(result, result, cv::COLOR_YCrCb2BGR);
}

inline void sharpen(const cv::Mat& picture, cv::Mat& result) {
  cv::Mat smooth;
  cv::GaussianBlur(picture, smooth, {5, 5}, 1.2);
  cv::addWeighted(picture, 1.6, smooth, -0.6, 0, result);
}

/// To a square of three planes, red first, with values from 0 to 1.
inline void rescale(const cv::Mat& picture, std::span<float> planes) {
  const int side = static_cast<int>(std::lround(std::sqrt(planes.size() / 3.0)));
  cv::Mat small;
  cv::resize(picture, small, {side, side}, 0, 0, cv::INTER_LINEAR);
  const auto area = static_cast<std::size_t>(side * side);
  for (std::size_t i = 0; i < area; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      planes[c * area + i] = static_cast<float>(small.data[3 * i + 2 - c]) / 255;
}

inline void edges(const cv::Mat& picture, cv::Mat& result) {
  cv::Mat grey;
  cv::cvtColor(picture, grey, cv::COLOR_BGR2GRAY);
  cv::Canny(grey, result, 80, 160);
}

/// What a detector gives: planes of grid x grid numbers.
struct Detected {
  std::span<const float> numbers;
  int grid = 1;
};

/// Edges in white, and a box where the number is largest in each of the first planes.
inline void overlay(const cv::Mat& picture, const cv::Mat& edges, const Detected& detected,
                    cv::Mat& result) {
  picture.copyTo(result);
  result.setTo(cv::Scalar(255, 255, 255), edges);
  const int grid = detected.grid;
  const auto cells = static_cast<std::size_t>(grid * grid);
  for (std::size_t plane = 0; plane < 3 && (plane + 1) * cells <= detected.numbers.size();
       ++plane) {
    const auto values = detected.numbers.subspan(plane * cells, cells);
    const auto best = std::max_element(values.begin(), values.end()) - values.begin();
    const cv::Point centre((2 * static_cast<int>(best % grid) + 1) * width / (2 * grid),
                           (2 * static_cast<int>(best / grid) + 1) * height / (2 * grid));
    const cv::Size half(width / grid, height / grid);
    cv::rectangle(result, centre - cv::Point(half / 2), centre + cv::Point(half / 2),
                  cv::Scalar(0, 80 * static_cast<double>(plane), 255), 2);
  }
}

/// Of all pixels (FNV-1a).
inline std::uint64_t digest(const cv::Mat& picture) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::uint8_t* byte = picture.datastart; byte != picture.dataend; ++byte)
    hash = (hash ^ *byte) * 0x100000001b3u;
  return hash;
}

}  // namespace inspection
