// DFT as a product with a constant matrix, STFT as a convolution with constant filters, and the
// bands of a spectrum.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

#include "formats/onnx/node/node.h"
#include "formats/onnx/operators/steps.h"
#include "formats/onnx/operators/tables.h"

namespace millrace::formats::onnx {
namespace {

/// Numbers of the matrix: 128 MiB, for 4096 real numbers. A fast transform would be worth it far
/// below.
constexpr std::int64_t most_factors = std::int64_t{1} << 25;

/// X[k] = sum over n of x[n] e^(-2 pi i n k / length). If inverse, the sign is + and the sum is
/// divided by the length.
struct Transform {
  std::int64_t length;      // of the signal, after zeros were added or its end was cut
  std::int64_t bins;        // of the result
  std::int64_t components;  // of a number of the signal: 1 real, 2 complex
  bool inverse = false;
};

/// A number's real (0) or imaginary (1) part.
struct Component {
  std::int64_t number, part;
};

/// What a component of the signal adds to one of the spectrum.
double factor(const Transform& of, const Component& from, const Component& to) {
  const double turns =
      static_cast<double>(from.number * to.number % of.length) / static_cast<double>(of.length);
  const double angle = 2 * std::numbers::pi * turns;
  const double sine = of.inverse ? std::sin(angle) : -std::sin(angle);
  const double share = of.inverse ? 1.0 / static_cast<double>(of.length) : 1;
  if (from.part == to.part) return share * std::cos(angle);
  return share * (to.part == 1 ? sine : -sine);
}

/// Bins of a spectrum: all, or without the half that mirrors the other.
std::int64_t bins_of(const Node& node, std::int64_t length, bool onesided) {
  if (length < 1 || length > most_factors)
    node.fail(fmt::format("the length is {}, expected 1 to {}", length, most_factors));
  return onesided ? length / 2 + 1 : length;
}

void take_factors(Node& node, const Transform& of, std::int64_t rows) {
  const std::int64_t columns = 2 * of.bins, row_parts = rows * of.components;
  if (row_parts > most_factors / columns)
    node.fail(
        fmt::format("a transform of {} numbers into {} needs more than {} factors; use "
                    "shorter frames",
                    rows, of.bins, most_factors));
  take_memory(node, size_of(DataType::float32) * (row_parts * columns));
}

std::int64_t components_of(const Node& node, std::int64_t components, bool onesided) {
  if (node.type(0) != DataType::float32)
    node.fail(fmt::format("the input has type {}, expected float32", to_text(node.type(0))));
  if (components != 1 && components != 2)
    node.fail(fmt::format("the input is {}, expected a last dimension of 1 (real) or 2 (complex)",
                          to_text(node.shape(0))));
  if (components == 2 && onesided)
    node.fail("the input is complex; expected the attribute 'onesided' to be 0");
  return components;
}

std::size_t axis_of(const Node& node) {
  constexpr std::int64_t usual = -2, since = 20;
  std::int64_t axis = node.attributes().integer("axis", 1);
  if (node.opset() >= since) {
    if (node.attributes().has("axis"))
      node.fail(
          fmt::format("'axis' is an attribute, but an input since opset {}, and the model is "
                      "of opset {}",
                      since, node.opset()));
    axis = node.has(2) ? integer(node, 2, "the axis") : usual;
  } else if (node.has(2)) {
    node.fail(
        fmt::format("has an input for the axis, which is an attribute before opset {}", since));
  }
  const std::int64_t result = normalized(node, axis, node.rank(0));
  if (result == node.rank(0) - 1)
    node.fail(fmt::format("the axis {} is that of the real and imaginary parts", axis));
  return static_cast<std::size_t>(result);
}

/// Exchanges the axis with the last but one.
Shape exchanged(std::size_t rank, std::size_t axis) {
  Shape order;
  for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  std::swap(order[axis], order[rank - 2]);
  return order;
}

void lower_dft(Node& node) {
  const std::size_t rank = node.shape(0).size();
  if (rank < 2)
    node.fail(fmt::format("the input is {}, expected a signal and a last dimension of 1 or 2",
                          to_text(node.shape(0))));
  const bool onesided = node.attributes().flag("onesided", false);
  const bool inverse = node.attributes().flag("inverse", false);
  if (onesided && inverse)
    node.fail("the attributes 'onesided' and 'inverse' are both 1, expected at most one");
  const std::size_t axis = axis_of(node);
  const std::int64_t there = node.shape(0)[axis];
  if (there < 1) node.fail("the signal is empty, expected at least one number");
  const std::int64_t length = node.has(1) ? integer(node, 1, "the length") : there;
  const Transform transform{length, bins_of(node, length, onesided),
                            components_of(node, node.shape(0).back(), onesided), inverse};
  const std::int64_t rows = std::min(length, there);  // beyond there are zeros
  take_factors(node, transform, rows);
  std::vector<float> factors;
  factors.reserve(static_cast<std::size_t>(2 * transform.bins * rows * transform.components));
  for (std::int64_t row = 0; row < rows * transform.components; ++row)
    for (std::int64_t column = 0; column < 2 * transform.bins; ++column)
      factors.push_back(static_cast<float>(
          factor(transform, {row / transform.components, row % transform.components},
                 {column / 2, column % 2})));
  Steps steps(node);
  const Shape order = exchanged(rank, axis);
  TensorId x = steps.part(node.input(0), axis, 0, rows);
  if (axis != rank - 2) x = steps.transposed(x, order);
  Shape shape = steps.shape(x);
  const std::int64_t parts = rows * transform.components;
  x = steps.reshaped(x, {element_count(shape) / parts, parts});
  x = steps.product(x, steps.numbers({parts, 2 * transform.bins}, factors, steps.type(x)));
  shape[rank - 2] = transform.bins;
  shape[rank - 1] = 2;
  x = steps.reshaped(x, shape);
  node.give(0, axis != rank - 2 ? steps.transposed(x, order) : x);
}

/// By number of a frame; ones where there is no window.
std::vector<double> window_of(const Node& node, std::int64_t length) {
  if (!node.has(2)) return std::vector<double>(static_cast<std::size_t>(length), 1);
  std::vector<double> window = numbers(node, 2, "the window");
  if (static_cast<std::int64_t>(window.size()) != length)
    node.fail(fmt::format("the window has {} numbers and a frame {}", window.size(), length));
  return window;
}

std::int64_t frame_length(const Node& node) {
  if (node.has(3)) return integer(node, 3, "the length of a frame");
  if (!node.has(2)) node.fail("has neither a window nor the length of a frame; one must be given");
  return element_count(node.shape(2));
}

/// Frames of a signal, in steps: numbers that each frame begins and ends with as a whole.
struct Frames {
  std::int64_t count, length, step;
  std::int64_t block;  // divides the length and the step
};

Frames frames_of(const Node& node, std::int64_t signal, std::int64_t length) {
  const std::int64_t step = integer(node, 1, "the step of the frames");
  if (step < 1) node.fail(fmt::format("the step of the frames is {}, expected at least 1", step));
  if (length > signal)
    node.fail(fmt::format("the signal has {} numbers, expected at least the {} of a frame", signal,
                          length));
  const std::int64_t count = (signal - length) / step + 1;
  // With one frame the step does not matter, however large.
  const std::int64_t used = count == 1 ? length : step;
  return {count, length, used, std::gcd(length, used)};
}

/// Filters of a convolution over blocks: its channels are the parts of a block's numbers.
std::vector<float> filters_of(const Transform& transform, const Frames& frames,
                              const std::vector<double>& window) {
  std::vector<float> filters;
  filters.reserve(static_cast<std::size_t>(2 * transform.bins * transform.components) *
                  window.size());
  for (std::int64_t column = 0; column < 2 * transform.bins; ++column)
    for (std::int64_t part = 0; part < frames.block * transform.components; ++part)
      for (std::int64_t n = part / transform.components; n < frames.length; n += frames.block)
        filters.push_back(static_cast<float>(
            window[static_cast<std::size_t>(n)] *
            factor(transform, {n, part % transform.components}, {column / 2, column % 2})));
  return filters;
}

void lower_stft(Node& node) {
  Shape shape = node.shape(0);
  if (shape.size() == 2) shape.push_back(1);  // as exporters of torch.stft leave it
  if (shape.size() != 3)
    node.fail(fmt::format("the input is {}, expected batch x length, or batch x length x 1 or 2",
                          to_text(shape)));
  const bool onesided = node.attributes().flag("onesided", true);
  const std::int64_t length = frame_length(node);
  const Transform transform{length, bins_of(node, length, onesided),
                            components_of(node, shape[2], onesided)};
  const Frames frames = frames_of(node, shape[1], length);
  take_factors(node, transform, length);
  Steps steps(node);
  const std::int64_t used = frames.length + (frames.count - 1) * frames.step;
  const std::int64_t blocks = used / frames.block, parts = frames.block * shape[2];
  TensorId x = steps.reshaped(node.input(0), shape);
  x = steps.part(x, 1, 0, blocks * frames.block);
  x = steps.transposed(steps.reshaped(x, {shape[0], blocks, parts}), {0, 2, 1});
  const std::int64_t kernel = length / frames.block, columns = 2 * transform.bins;
  const TensorId filters =
      steps.numbers({columns, parts, kernel},
                    filters_of(transform, frames, window_of(node, length)), steps.type(x));
  const Conv conv{{{kernel}, {frames.step / frames.block}, {1}, {0}, {0}}};
  x = node.add(conv, {x, filters}, {steps.type(x), {shape[0], columns, frames.count}});
  x = steps.transposed(x, {0, 2, 1});
  node.give(0, steps.reshaped(x, {shape[0], frames.count, transform.bins, 2}));
}

constexpr std::int64_t most_bands = 1 << 20;

/// How much of the bin belongs to the band that rises from the first end to the second and falls to
/// the third.
float weight_in(std::span<const std::int64_t> ends, std::int64_t bin) {
  const auto share = [](std::int64_t a, std::int64_t b) {
    return static_cast<float>(a) / static_cast<float>(b);
  };
  if (bin >= ends[1] && bin < ends[2]) return share(ends[2] - bin, ends[2] - ends[1]);
  if (bin == ends[1]) return 1;
  return bin >= ends[0] && bin < ends[1] ? share(bin - ends[0], ends[1] - ends[0]) : 0;
}

/// Triangles over the bins of a spectrum, their ends at equal distances in mel.
void lower_mel_weight_matrix(Node& node) {
  const std::int64_t bands = integer(node, 0, "the number of bands");
  const std::int64_t length = integer(node, 1, "the length of the transform");
  const std::int64_t rate = integer(node, 2, "the sample rate");
  const double low = numbers(node, 3, "the lowest frequency").at(0);
  const double high = numbers(node, 4, "the highest frequency").at(0);
  const std::int64_t code = node.attributes().integer("output_datatype", 1);
  if (code != 1) node.fail(fmt::format("'output_datatype' is {}, expected 1 (float32)", code));
  const std::int64_t bins = length / 2 + 1;
  if (bands < 1 || length < 1 || rate < 1 || low < 0 || high <= low || bands > most_bands ||
      length > most_bands)
    node.fail(fmt::format("{} bands of {} values at {} Hz from {} to {} Hz make no filters", bands,
                          length, rate, low, high));
  take_memory(node, size_of(DataType::float32) * (bins * bands));
  const auto mel_of = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double first = mel_of(low), step = (mel_of(high) - first) / static_cast<double>(bands + 2);
  std::vector<std::int64_t> ends;
  for (std::int64_t i = 0; i < bands + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (first + step * static_cast<double>(i)) / 2595) - 1);
    const double bin = static_cast<double>(length + 1) * hertz / static_cast<double>(rate);
    ends.push_back(std::min(bins, static_cast<std::int64_t>(bin)));
  }
  std::vector<float> weights(static_cast<std::size_t>(bins * bands));
  for (std::int64_t band = 0; band < bands; ++band)
    for (std::int64_t bin = 0; bin < bins; ++bin)
      weights[static_cast<std::size_t>(bin * bands + band)] =
          weight_in({&ends[static_cast<std::size_t>(band)], 3}, bin);
  node.give(0, node.add_constant(make_array<float>(DataType::float32, {bins, bands}, weights)));
}

constexpr std::array table_of_spectra{
    OperatorEntry{"DFT", lower_dft, 1, 3, "axis inverse onesided"},
    OperatorEntry{"MelWeightMatrix", lower_mel_weight_matrix, 5, 5, "output_datatype"},
    OperatorEntry{"STFT", lower_stft, 2, 4, "onesided"},
};

}  // namespace

std::span<const OperatorEntry> spectrum_operators() { return table_of_spectra; }

}  // namespace millrace::formats::onnx
