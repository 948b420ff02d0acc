// Convolutions.
#include <algorithm>

#include "formats/onnx_writer/operators.h"
#include "formats/onnx_writer/windows.h"

namespace millrace::formats::onnx_writer {
namespace {

template <class Convolution>
void write_convolution(const char* type, const Convolution& op, LayerNodes& layer) {
  if (has_negative(op.window.pads_begin) || has_negative(op.window.pads_end))
    return layer.refuse("its padding is negative");
  set_window(layer.node(type), op.window).set("group", op.groups);
}

/// How a transposed convolution becomes one of ONNX, whose pads are not negative.
struct Growth {
  Window window;          // with pads of at least 0
  Shape extra;            // rows after the last one, ONNX's output_padding
  Shape begin;            // rows to add before the first one
  Shape end;              // and after the last one, instead of `extra`
  bool is_direct = true;  // nothing is to be added
};

Growth growth_of(const Window& window, const Shape& in, const Shape& out) {
  Growth g{window, {}, {}, {}, true};
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    g.begin.push_back(std::max<std::int64_t>(0, -window.pads_begin[i]));
    g.window.pads_begin[i] = std::max<std::int64_t>(0, window.pads_begin[i]);
    g.window.pads_end[i] = std::max<std::int64_t>(0, window.pads_end[i]);
    const std::int64_t all = window.strides[i] * (in[i + 2] - 1) + reach_of(window, i);
    const std::int64_t made = all - g.window.pads_begin[i] - g.window.pads_end[i];
    const std::int64_t missing = out[i + 2] - made - g.begin[i];
    g.extra.push_back(missing);
    g.end.push_back(missing);
    if (g.begin[i] != 0 || missing < 0 || missing >= window.strides[i]) g.is_direct = false;
  }
  return g;
}

/// The convolution without bias, zeros around it, and then the bias everywhere.
void write_padded(const ConvTranspose& op, const Growth& growth, LayerNodes& layer) {
  const std::size_t rank = layer.output_shape().size();
  if (has_negative(growth.end)) return layer.refuse("its output is smaller than its padding says");
  NodeToWrite conv = layer.inner("ConvTranspose", {layer.input(0), layer.input(1)});
  set_window(conv, growth.window).set("group", op.groups);
  Shape pads(2 * rank, 0);
  std::copy(growth.begin.begin(), growth.begin.end(), pads.begin() + 2);
  std::copy(growth.end.begin(), growth.end.end(),
            pads.begin() + static_cast<std::ptrdiff_t>(rank) + 2);
  const Names padded{conv.output(), integers(layer, pads)};
  if (!layer.has_input(2)) {
    layer.node("Pad", padded, layer.outputs());
    return;
  }
  Shape per_channel(rank, 1);
  per_channel[1] = layer.output_shape()[1];
  const std::string sums = layer.inner("Pad", padded).output();
  const std::string bias = reshaped(layer, layer.input(2), per_channel);
  layer.node("Add", {sums, bias}, layer.outputs());
}

}  // namespace

void write(const Conv& op, LayerNodes& layer) { write_convolution("Conv", op, layer); }
void write(const ConvInteger& op, LayerNodes& layer) {
  write_convolution("ConvInteger", op, layer);
}
void write(const ConvTranspose& op, LayerNodes& layer) {
  const Growth growth = growth_of(op.window, layer.input_shape(), layer.output_shape());
  if (!growth.is_direct) return write_padded(op, growth, layer);
  const NodeToWrite conv =
      set_window(layer.node("ConvTranspose"), growth.window).set("group", op.groups);
  if (!all_are(growth.extra, 0)) conv.set("output_padding", growth.extra);
}

}  // namespace millrace::formats::onnx_writer
