#pragma once
// What all our own convolutions have: amx_convolution.h, winograd.h.
#include <cstddef>
#include <limits>

namespace millrace::engine::onednn {

/// How windows lie along the height or the width. In pixels.
struct WindowAxis {
  std::size_t input = 1, output = 1;
  std::size_t window = 1, stride = 1, dilation = 1;
  std::size_t pad = 0;  // before the first pixel
};

/// y = min(max(x < 0 ? slope * x : x, low), high)
struct Activation {
  float slope = 1;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

struct OwnConvolution {
  std::size_t images = 1, channels = 1, outputs = 1;
  WindowAxis height, width;
  bool adds = false;  // the result to what lies in its place; before the activation
  Activation activation = {};
};

}  // namespace millrace::engine::onednn
