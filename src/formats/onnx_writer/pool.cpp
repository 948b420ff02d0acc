// Pools.
#include <fmt/format.h>

#include <algorithm>

#include "formats/onnx_writer/operators.h"
#include "formats/onnx_writer/windows.h"

namespace millrace::formats::onnx_writer {
namespace {

/// How the number of windows follows from the sizes.
enum class Rounding { down, up, neither };

/// ONNX's number of windows in one dimension.
std::int64_t windows_in(const Window& window, std::size_t i, std::int64_t size, bool up) {
  const std::int64_t padded = size + window.pads_begin[i] + window.pads_end[i];
  const std::int64_t stride = window.strides[i];
  const std::int64_t room = padded - reach_of(window, i);
  if (room < 0 && !up) return 0;
  const std::int64_t count = (room + (up ? stride - 1 : 0)) / stride + 1;
  const bool begins_in_padding = (count - 1) * stride >= size + window.pads_begin[i];
  return up && begins_in_padding ? count - 1 : count;
}

Rounding rounding_of(const Window& window, const Shape& in, const Shape& out) {
  bool down = true, up = true;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    down = down && windows_in(window, i, in[i + 2], false) == out[i + 2];
    up = up && windows_in(window, i, in[i + 2], true) == out[i + 2];
  }
  return down ? Rounding::down : up ? Rounding::up : Rounding::neither;
}

bool is_padded(const Window& window) {
  return !all_are(window.pads_begin, 0) || !all_are(window.pads_end, 0);
}

bool is_global(const Window& window, const Shape& in) {
  return std::equal(window.kernel.begin(), window.kernel.end(), in.begin() + 2, in.end()) &&
         all_are(window.strides, 1) && all_are(window.dilations, 1) && !is_padded(window);
}

/// The window over an input that has its padding already.
Window without_pads(Window window) {
  window.pads_begin = window.pads_end = Shape(window.kernel.size(), 0);
  return window;
}

/// Zeros around, of which those in a window count.
std::string zero_padded(const Window& window, LayerNodes& layer) {
  Shape pads{0, 0};
  pads.insert(pads.end(), window.pads_begin.begin(), window.pads_begin.end());
  pads.insert(pads.end(), {0, 0});
  pads.insert(pads.end(), window.pads_end.begin(), window.pads_end.end());
  return layer.inner("Pad", {layer.input(0), integers(layer, pads)}).output();
}

void write_average(const Pool& op, Rounding rounding, LayerNodes& layer) {
  const bool up = rounding == Rounding::up;
  const bool pads_count = op.count_include_pad && up;  // libraries differ in what they count then
  Window window = op.window;
  std::string x = layer.input(0);
  if (pads_count && is_padded(window)) {
    x = zero_padded(window, layer);
    window = without_pads(window);
  }
  const NodeToWrite pool = set_window(layer.node("AveragePool", {x}, layer.outputs()), window);
  if (op.count_include_pad && !pads_count) pool.set("count_include_pad", std::int64_t{1});
  if (up) pool.set("ceil_mode", std::int64_t{1});
  if (!all_are(window.dilations, 1)) layer.need_opset(19);
}

void write_max(const Pool& op, Rounding rounding, LayerNodes& layer) {
  const NodeToWrite pool = set_window(layer.node("MaxPool"), op.window);
  if (rounding == Rounding::up) pool.set("ceil_mode", std::int64_t{1});
  if (op.column_major_indices) pool.set("storage_order", std::int64_t{1});
}

}  // namespace

void write(const Pool& op, LayerNodes& layer) {
  const bool is_max = op.kind == PoolKind::max;
  const bool wants_indices = layer.has_output(1);
  if (is_global(op.window, layer.input_shape()) && !wants_indices) {
    layer.node(is_max ? "GlobalMaxPool" : "GlobalAveragePool", {layer.input()}, {layer.output()});
    return;
  }
  const Rounding rounding = rounding_of(op.window, layer.input_shape(), layer.output_shape());
  if (rounding == Rounding::neither)
    return layer.refuse(fmt::format("windows of {} make {} of {} neither rounded up nor down",
                                    to_text(op.window.kernel), to_text(layer.output_shape()),
                                    to_text(layer.input_shape())));
  if (is_max)
    write_max(op, rounding, layer);
  else
    write_average(op, rounding, layer);
}

}  // namespace millrace::formats::onnx_writer
