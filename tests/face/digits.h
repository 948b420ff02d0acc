#pragma once
// The trained digits, read without Millrace: what the interface is compared with.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "millrace/tensor.h"

namespace millrace::test {

inline const std::string models = std::string(MILLRACE_SOURCE_DIR) + "/models/";
inline const std::string digits = models + "digits.onnx";

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The held-out images, in their order: each is one frame. A .npy file ends with its numbers.
inline std::vector<Frame> images(std::size_t count) {
  const std::string bytes = bytes_of(models + "digits_test_images.npy");
  std::uint16_t header = 0;
  std::memcpy(&header, bytes.data() + 8, sizeof header);
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < count; ++i)
    frames.push_back({Tensor::copy_of(DataType::float32, {1, 1, 8, 8},
                                      bytes.data() + 10 + header + i * 64 * sizeof(float),
                                      64 * sizeof(float))});
  return frames;
}

inline std::vector<int> labels() {
  std::ifstream file(models + "digits_test_labels.txt");
  return {std::istream_iterator<int>(file), {}};
}

inline int recognised(const Frame& outputs) {
  const auto scores = outputs.at(0).values<float>();
  return static_cast<int>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

}  // namespace millrace::test
