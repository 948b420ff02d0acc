// Pools and upsampling.
#include <fmt/format.h>

#include <algorithm>

#include "formats/darknet/lower.h"

namespace millrace::formats::darknet {
namespace {

/// A window's way along one side of the image. `padding` is for both ends together; the beginning
/// gets the smaller half, and of the end only what windows reach counts.
struct Walk {
  std::int64_t output = 0, begin = 0, end = 0;
};

struct Steps {
  std::int64_t size, stride, padding;
};

Walk walk(const Section& section, std::int64_t input, const Steps& steps) {
  const std::int64_t room = input + steps.padding - steps.size;
  if (room < 0)
    section.fail(fmt::format("its window of {} is larger than its input of {} with padding {}",
                             steps.size, input, steps.padding));
  Walk result{room / steps.stride + 1, steps.padding / 2, 0};
  const std::int64_t reach = (result.output - 1) * steps.stride + steps.size;
  result.end = std::max<std::int64_t>(0, reach - input - result.begin);
  if (result.begin >= steps.size || result.end >= steps.size)
    section.fail(
        fmt::format("with padding {} some windows of {} lie outside the image; make the "
                    "padding smaller",
                    steps.padding, steps.size));
  return result;
}

}  // namespace

TensorId lower_maxpool(Reading& reading) {
  const Section& section = reading.section();
  section.refuse({"antialiasing", "maxpool_depth"});
  const Shape image = reading.image();
  const std::int64_t stride = section.integer("stride", 1);
  const std::int64_t size = section.integer("size", stride);
  const std::int64_t padding = section.integer("padding", size - 1, {0});
  const std::int64_t down = section.integer("stride_y", stride);
  const std::int64_t right = section.integer("stride_x", stride);
  const Walk v = walk(section, image[2], {size, down, padding});
  const Walk h = walk(section, image[3], {size, right, padding});
  Pool pool;
  pool.window = {{size, size}, {down, right}, {1, 1}, {v.begin, h.begin}, {v.end, h.end}};
  return reading.add(reading.name("maxpool"), std::move(pool), {reading.before()},
                     {image[0], image[1], v.output, h.output});
}

TensorId lower_avgpool(Reading& reading) {
  const Shape image = reading.image();
  Pool pool;
  pool.kind = PoolKind::average;
  pool.window = {{image[2], image[3]}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  return reading.add(reading.name("avgpool"), std::move(pool), {reading.before()},
                     {image[0], image[1], 1, 1});
}

TensorId lower_upsample(Reading& reading) {
  const Section& section = reading.section();
  constexpr std::int64_t most = 1024;
  const std::int64_t stride = section.integer("stride", 2, {1, most});
  const Shape image = reading.image();
  const std::string name = reading.name("upsample");
  Resize resize;
  resize.coordinates = Coordinates::asymmetric;
  resize.nearest = NearestMode::floor;
  resize.scales = {1, 1, static_cast<double>(stride), static_cast<double>(stride)};
  const Shape made{image[0], image[1], image[2] * stride, image[3] * stride};
  const TensorId x = reading.add(name, std::move(resize), {reading.before()}, made);
  const double scale = section.number("scale", 1);
  if (scale == 1) return x;
  const TensorId factor = reading.constant(name + ".scale", static_cast<float>(scale));
  return reading.add(name + "_scaled", Binary{BinaryKind::mul}, {x, factor}, made);
}

}  // namespace millrace::formats::darknet
