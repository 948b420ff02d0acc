// Convolutions, fully connected layers and their batch normalisation.
#include <fmt/format.h>

#include "formats/darknet/lower.h"

namespace millrace::formats::darknet {
namespace {

constexpr float epsilon = 1e-5f;  // what Darknet adds to variances

/// The constants of a batch normalisation in the order of the file, without the bias, which comes
/// before them for convolutions and elsewhere too.
struct Normalization {
  std::string name;
  TensorId bias, scale = {}, mean = {}, variance = {};
};

void want_statistics(Reading& reading, Normalization& n, float gain) {
  const Shape channels = reading.shape(n.bias);
  n.scale = reading.weight(n.name + ".scale", channels, scale_spread(gain));
  n.mean = reading.weight(n.name + ".mean", channels, shift_spread);
  n.variance = reading.weight(n.name + ".variance", channels, variance_spread);
}

TensorId normalize(Reading& reading, const Normalization& n, TensorId x) {
  const Shape shape = reading.shape(x);
  return reading.add(n.name, BatchNormalization{epsilon}, {x, n.scale, n.bias, n.mean, n.variance},
                     shape);
}

/// Gain of seeded scales: a branch that a shortcut adds to the way around it is kept small, else
/// values would grow from block to block.
float gain_of(const Reading& reading) {
  std::size_t next = reading.count() + 2;
  const auto is = [&](std::string_view kind) {
    return next < reading.sections().size() && reading.sections()[next].kind() == kind;
  };
  while (is("dropout")) ++next;
  return is("shortcut") ? 0.25f : 1.f;
}

/// The sizes of one spatial dimension.
struct Side {
  std::int64_t input, kernel, stride, dilation, pad;

  std::int64_t output(const Section& section) const {
    const std::int64_t room = input + 2 * pad - (dilation * (kernel - 1) + 1);
    if (room < 0)
      section.fail(
          fmt::format("its window of {} with dilation {} is larger than its input of {} "
                      "with padding {}",
                      kernel, dilation, input, pad));
    return room / stride + 1;
  }
};

struct Geometry {
  Side vertical, horizontal;
  Window window() const {
    const Side &v = vertical, &h = horizontal;
    return {{v.kernel, h.kernel},
            {v.stride, h.stride},
            {v.dilation, h.dilation},
            {v.pad, h.pad},
            {v.pad, h.pad}};
  }
};

Geometry geometry_of(const Section& section, const Shape& image) {
  const std::int64_t size = section.integer("size", 1);
  const std::int64_t stride = section.integer("stride", 1);
  const std::int64_t dilation = size == 1 ? 1 : section.integer("dilation", 1);
  const bool pad = section.integer("pad", 0, {0, Range{}.most}) != 0;
  const std::int64_t padding = dilation * (pad ? size / 2 : section.integer("padding", 0, {0}));
  return {{image[2], size, section.integer("stride_y", stride), dilation, padding},
          {image[3], size, section.integer("stride_x", stride), dilation, padding}};
}

std::int64_t groups_of(const Section& section, std::int64_t inputs, std::int64_t filters) {
  const std::int64_t groups = section.integer("groups", 1);
  if (inputs % groups != 0 || filters % groups != 0)
    section.fail_at("groups", fmt::format("is {}, which divides not both the {} channels of the "
                                          "layer before and the {} filters",
                                          groups, inputs, filters));
  return groups;
}

void refuse_other_forms(const Section& section) {
  section.refuse({"antialiasing", "binary", "coordconv", "deform", "dontload", "dontloadscales",
                  "flipped", "reverse", "rotate", "share_index", "stretch", "stretch_sway", "sway",
                  "use_bin_output", "xnor"});
}

}  // namespace

TensorId lower_convolutional(Reading& reading) {
  const Section& section = reading.section();
  refuse_other_forms(section);
  const Shape image = reading.image();
  const std::string name = reading.name("conv");
  const std::int64_t filters = section.integer("filters", 1);
  const std::int64_t groups = groups_of(section, image[1], filters);
  const Geometry geometry = geometry_of(section, image);
  const bool normalized = section.flag("batch_normalize");
  Normalization n{name + "_bn", {}};
  n.bias = normalized ? reading.weight(n.name + ".bias", {filters}, shift_spread)
                      : reading.weight(name + ".bias", {filters}, bias_spread);
  if (normalized) want_statistics(reading, n, gain_of(reading));
  const std::int64_t inputs = image[1] / groups;
  const std::int64_t size = geometry.vertical.kernel;
  const std::int64_t fan_in = element_count({inputs, size, size}, section.place());
  const TensorId weights =
      reading.weight(name + ".weight", {filters, inputs, size, size}, he_spread(fan_in));
  const Shape made{image[0], filters, geometry.vertical.output(section),
                   geometry.horizontal.output(section)};
  std::vector<TensorId> operands{reading.before(), weights};
  if (!normalized) operands.push_back(n.bias);
  TensorId x = reading.add(name, Conv{geometry.window(), groups}, std::move(operands), made);
  if (normalized) x = normalize(reading, n, x);
  return activate(reading, x, "logistic");
}

TensorId lower_connected(Reading& reading) {
  const Section& section = reading.section();
  section.refuse({"dontload", "dontloadscales"});
  const std::string name = reading.name("connected");
  TensorId x = reading.before();
  const Shape before = reading.shape(x);
  const std::int64_t inputs = element_count(before) / before[0];
  if (before.size() != 2) x = reading.add(name + "_flat", Reshape{}, {x}, {before[0], inputs});
  const std::int64_t outputs = section.integer("output", 1);
  const bool normalized = section.flag("batch_normalize");
  Normalization n{name + "_bn", {}};
  n.bias = normalized ? reading.weight(n.name + ".bias", {outputs}, shift_spread)
                      : reading.weight(name + ".bias", {outputs}, bias_spread);
  const bool by_input = reading.weights_transposed();
  const TensorId weights =
      reading.weight(name + ".weight", by_input ? Shape{inputs, outputs} : Shape{outputs, inputs},
                     he_spread(inputs));
  if (normalized) want_statistics(reading, n, gain_of(reading));
  std::vector<TensorId> operands{x, weights};
  if (!normalized) operands.push_back(n.bias);
  x = reading.add(name, Gemm{false, !by_input, 1, 1}, std::move(operands), {before[0], outputs});
  if (normalized) x = normalize(reading, n, x);
  return activate(reading, x, "logistic");
}

TensorId lower_batchnorm(Reading& reading) {
  const std::int64_t channels = reading.image()[1];
  Normalization n{reading.name("batchnorm"), {}};
  n.bias = reading.weight(n.name + ".bias", {channels}, shift_spread);
  want_statistics(reading, n, 1);
  return normalize(reading, n, reading.before());
}

}  // namespace millrace::formats::darknet
