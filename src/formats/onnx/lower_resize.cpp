// Resize and Upsample.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "formats/onnx/lower.h"

namespace millrace::formats::onnx {
namespace {

/// Finds `word` among the names and gives its position as the enumerator.
template <class Enum, std::size_t N>
Enum choice(const Node& node, std::string_view attribute, const std::string& word,
            const std::array<std::string_view, N>& names) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end())
    node.fail(fmt::format("the attribute '{}' is '{}', which is not supported; expected one of {}",
                          attribute, word, fmt::join(names, ", ")));
  return static_cast<Enum>(found - names.begin());
}

constexpr std::array<std::string_view, 3> modes{"nearest", "linear", "cubic"};
constexpr std::array<std::string_view, 7> coordinates{
    "half_pixel",           "pytorch_half_pixel", "align_corners",       "asymmetric",
    "tf_half_pixel_for_nn", "tf_crop_and_resize", "half_pixel_symmetric"};
constexpr std::array<std::string_view, 4> roundings{"round_prefer_floor", "round_prefer_ceil",
                                                    "floor", "ceil"};

std::size_t rank_of(const Node& node) { return node.shape(0).size(); }

/// The dimensions that scales and sizes are given for.
Shape read_axes(const Node& node) {
  Shape all(rank_of(node));
  std::iota(all.begin(), all.end(), 0);
  Shape axes = node.attributes().integers("axes").value_or(all);
  for (std::int64_t& axis : axes) axis = normalized(node, axis, node.rank(0));
  return axes;
}

/// An input that is there and not the empty tensor that opset 11 uses for "left out".
bool is_given(const Node& node, std::size_t input) {
  return node.has(input) && element_count(node.shape(input)) > 0;
}

void check_scale(const Node& node, double scale) {
  if (!(scale > 0) || scale > 1e6)
    node.fail(fmt::format("a scale is {}, expected a number above 0", scale));
}

/// Output sizes and scales, one entry per dimension.
struct Target {
  Shape sizes;
  std::vector<double> scales;
};

/// The size of frameworks that round otherwise stands in the file; other nodes count on it.
void take_declared_size(const Node& node, const std::vector<double>& exact, Target& target) {
  const Shape* const declared = node.reading().declared_shape(node.output(0));
  if (!node.wants(0) || declared == nullptr || declared->size() != exact.size()) return;
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (!(std::fabs(static_cast<double>((*declared)[i]) - exact[i]) < 1)) return;
  target.sizes = *declared;
}

Target from_scales(const Node& node, const std::vector<double>& given) {
  const Shape& shape = node.shape(0);
  const Shape axes = read_axes(node);
  if (given.size() != axes.size())
    node.fail(fmt::format("there are {} scales, expected {}", given.size(), axes.size()));
  Target target{shape, std::vector<double>(shape.size(), 1)};
  for (std::size_t i = 0; i < axes.size(); ++i)
    target.scales[static_cast<std::size_t>(axes[i])] = given[i];
  std::vector<double> exact;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    check_scale(node, target.scales[i]);
    // In float32, as the exporters' frameworks do: 86 times 256/86 is 256, not a little less. The
    // text of tf_crop_and_resize multiplies by the region's share too, but ONNX's own inference of
    // shapes does not, nor any program.
    const float scale = static_cast<float>(target.scales[i]);
    target.sizes[i] = static_cast<std::int64_t>(std::floor(scale * static_cast<float>(shape[i])));
    exact.push_back(target.scales[i] * static_cast<double>(shape[i]));
  }
  take_declared_size(node, exact, target);
  return target;
}

/// PyTorch aligns the corners of an output of whole elements. ONNX's own tests take its size before
/// it is rounded down.
void align_as_pytorch(const Node& node, Target& target) {
  for (std::size_t i = 0; i < target.sizes.size(); ++i) {
    const std::int64_t size = node.shape(0)[i];
    if (size > 0 && target.sizes[i] > 0)
      target.scales[i] = static_cast<double>(target.sizes[i]) / static_cast<double>(size);
  }
}

/// With the aspect ratio kept, one scale for all axes.
void keep_aspect_ratio(const Node& node, const Shape& axes, Target& target) {
  const std::string policy = node.attributes().text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return;
  if (policy != "not_larger" && policy != "not_smaller")
    node.fail(fmt::format("the attribute 'keep_aspect_ratio_policy' is '{}', expected stretch, "
                          "not_larger or not_smaller",
                          policy));
  std::vector<double> scales;
  for (const std::int64_t axis : axes)
    scales.push_back(target.scales[static_cast<std::size_t>(axis)]);
  if (scales.empty()) return;
  const auto [smallest, largest] = std::minmax_element(scales.begin(), scales.end());
  const double scale = policy == "not_larger" ? *smallest : *largest;
  for (const std::int64_t axis : axes) {
    const auto i = static_cast<std::size_t>(axis);
    target.scales[i] = scale;
    target.sizes[i] = std::llround(static_cast<double>(node.shape(0)[i]) * scale);
  }
}

Target from_sizes(const Node& node, const Shape& given) {
  const Shape& shape = node.shape(0);
  const Shape axes = read_axes(node);
  if (given.size() != axes.size())
    node.fail(fmt::format("there are {} sizes, expected {}", given.size(), axes.size()));
  Target target{shape, std::vector<double>(shape.size(), 1)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    if (given[i] < 1 || given[i] > (std::int64_t{1} << 40) || shape[axis] < 1)
      node.fail(fmt::format("the size {} is asked for a dimension of {}", given[i], shape[axis]));
    target.sizes[axis] = given[i];
    target.scales[axis] = static_cast<double>(given[i]) / static_cast<double>(shape[axis]);
  }
  keep_aspect_ratio(node, axes, target);
  return target;
}

/// Starts and then ends, one of each per dimension; those not named are whole.
std::vector<double> read_roi(const Node& node) {
  const std::vector<double> given = numbers(node, 1, "the region of interest");
  for (const double number : given)
    if (!(std::fabs(number) <= 1e6))
      node.fail(fmt::format("the region of interest has the number {}, expected shares of the "
                            "input such as 0 and 1",
                            number));
  const Shape axes = read_axes(node);
  const std::size_t rank = rank_of(node);
  std::vector<double> roi(2 * rank, 0);
  std::fill(roi.begin() + static_cast<std::ptrdiff_t>(rank), roi.end(), 1.0);
  if (given.size() != 2 * axes.size())
    node.fail(fmt::format("the region of interest has {} numbers, expected {}", given.size(),
                          2 * axes.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    roi[static_cast<std::size_t>(axes[i])] = given[i];
    roi[static_cast<std::size_t>(axes[i]) + rank] = given[i + axes.size()];
  }
  return roi;
}

/// Made smaller by a scale that its size does not follow from, an output would be a sum of more
/// elements than there are.
void check_widened(const Node& node, const Target& target) {
  for (std::size_t i = 0; i < target.sizes.size(); ++i) {
    const double exact = target.scales[i] * static_cast<double>(node.shape(0)[i]);
    if (target.sizes[i] > 0 && exact < 0.5)
      node.fail(fmt::format("the scale {} makes {} out of a dimension of {}", target.scales[i],
                            target.sizes[i], node.shape(0)[i]));
  }
}

void finish(Node& node, Resize op, Target target) {
  const bool same = target.sizes == node.shape(0) && op.roi.empty() &&
                    std::all_of(target.scales.begin(), target.scales.end(),
                                [](double scale) { return scale == 1; });
  if (same) return node.give(0, node.input(0));
  const auto shrinks = [](double scale) { return scale < 1; };
  op.antialias = op.antialias && op.mode != ResizeMode::nearest &&
                 std::any_of(target.scales.begin(), target.scales.end(), shrinks);
  if (op.antialias) check_widened(node, target);
  op.scales = std::move(target.scales);
  const Made made{node.type(0), std::move(target.sizes)};
  for (const std::int64_t size : node.shape(0))
    if (size < 1) node.fail("the input has no elements to resize");
  node.give(0, node.add(std::move(op), {node.input(0)}, made));
}

/// Upsample, and Resize of opset 10: a position is divided by the scale. Nearest rounds down when
/// growing and up when shrinking.
void lower_simple(Node& node, const std::vector<double>& scales) {
  Resize op;
  op.coordinates = Coordinates::asymmetric;
  op.mode = choice<ResizeMode>(node, "mode", node.attributes().text("mode", "nearest"),
                               std::array<std::string_view, 2>{"nearest", "linear"});
  const auto shrinks = [](double scale) { return scale < 1; };
  const auto grows = [](double scale) { return scale > 1; };
  const bool shrinking = std::any_of(scales.begin(), scales.end(), shrinks);
  if (shrinking && std::any_of(scales.begin(), scales.end(), grows) &&
      op.mode == ResizeMode::nearest)
    node.fail("one scale grows and another shrinks, which this opset leaves open; convert the "
              "model to opset 11 or later");
  op.nearest = shrinking ? NearestMode::ceil : NearestMode::floor;
  Target target = from_scales(node, scales);
  finish(node, std::move(op), std::move(target));
}

Resize read_options(const Node& node) {
  const Attributes& attributes = node.attributes();
  Resize op;
  op.mode = choice<ResizeMode>(node, "mode", attributes.text("mode", "nearest"), modes);
  op.coordinates = choice<Coordinates>(
      node, "coordinate_transformation_mode",
      attributes.text("coordinate_transformation_mode", "half_pixel"), coordinates);
  op.nearest = choice<NearestMode>(node, "nearest_mode",
                                   attributes.text("nearest_mode", "round_prefer_floor"),
                                   roundings);
  op.cubic_a = double{attributes.number("cubic_coeff_a", -0.75f)};
  op.exclude_outside = attributes.flag("exclude_outside", false);
  op.extrapolation = double{attributes.number("extrapolation_value", 0)};
  op.antialias = attributes.flag("antialias", false);
  return op;
}

}  // namespace

void lower_resize(Node& node) {
  if (node.opset() < 11) return lower_simple(node, numbers(node, 1, "the scales"));
  Resize op = read_options(node);
  if (op.coordinates == Coordinates::tf_crop_and_resize) {
    if (!is_given(node, 1)) node.fail("the input 'roi' is missing");
    op.roi = read_roi(node);
  }
  if (is_given(node, 2) == is_given(node, 3))
    node.fail("exactly one of the inputs 'scales' and 'sizes' must be given");
  Target target = is_given(node, 2) ? from_scales(node, numbers(node, 2, "the scales"))
                                    : from_sizes(node, integers(node, 3, "the sizes"));
  if (op.coordinates == Coordinates::align_corners && node.reading().source.is_of_pytorch)
    align_as_pytorch(node, target);
  finish(node, std::move(op), std::move(target));
}

void lower_upsample(Node& node) {
  if (node.opset() >= 10)
    node.fail("the operator does not exist since opset 10; expected Resize");
  if (node.opset() >= 9) return lower_simple(node, numbers(node, 1, "the scales"));
  const std::vector<float> scales =
      node.attributes().numbers("scales").value_or(std::vector<float>());
  lower_simple(node, {scales.begin(), scales.end()});
}

}  // namespace millrace::formats::onnx
