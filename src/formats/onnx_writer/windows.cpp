#include "formats/onnx_writer/windows.h"

#include <algorithm>

namespace millrace::formats::onnx_writer {

std::int64_t reach_of(const Window& window, std::size_t dimension) {
  return window.dilations[dimension] * (window.kernel[dimension] - 1) + 1;
}

bool has_negative(const Shape& values) {
  return std::any_of(values.begin(), values.end(), [](std::int64_t value) { return value < 0; });
}

bool all_are(const Shape& values, std::int64_t value) {
  return std::all_of(values.begin(), values.end(), [=](std::int64_t v) { return v == value; });
}

NodeToWrite set_window(NodeToWrite node, const Window& window) {
  Shape pads = window.pads_begin;
  pads.insert(pads.end(), window.pads_end.begin(), window.pads_end.end());
  node.set("kernel_shape", window.kernel).set("strides", window.strides).set("pads", pads);
  if (!all_are(window.dilations, 1)) node.set("dilations", window.dilations);
  return node;
}

}  // namespace millrace::formats::onnx_writer
