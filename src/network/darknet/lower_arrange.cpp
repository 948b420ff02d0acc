// Putting the outputs of earlier layers together.
#include <fmt/format.h>

#include <algorithm>

#include "network/darknet/lower.h"

namespace millrace::network::darknet {
namespace {

/// Layers by number, or counted backwards from this one.
std::vector<std::size_t> layers_named(const Reading& reading, std::string_view option) {
  const Section& section = reading.section();
  const auto here = static_cast<std::int64_t>(reading.count());
  std::vector<std::size_t> result;
  for (const std::int64_t number : section.integers(option, {-Range{}.most, Range{}.most})) {
    const std::int64_t layer = number < 0 ? here + number : number;
    if (layer < 0 || layer >= here)
      section.fail_at(option,
                      fmt::format("names layer {}{}, but this is layer {}; expected one before it",
                                  number, number < 0 ? fmt::format(" ({})", layer) : "", here));
    result.push_back(static_cast<std::size_t>(layer));
  }
  if (result.empty()) section.fail(fmt::format("lacks '{}', the layers that it reads", option));
  return result;
}

/// `count` channels of an image, from `first`.
TensorId channels(Reading& reading, const std::string& name, TensorId x,
                  const std::pair<std::int64_t, std::int64_t>& first_count) {
  Shape shape = reading.shape(x);
  shape[1] = first_count.second;
  return reading.add(name, Slice{{0, first_count.first, 0, 0}, {1, 1, 1, 1}}, {x}, shape);
}

/// One of so many equal parts of a layer's channels.
struct Group {
  std::int64_t count = 1, index = 0;
};

Group group_of(const Section& section) {
  Group group{section.integer("groups", 1), 0};
  group.index = section.integer("group_id", 0, {0, group.count - 1});
  return group;
}

TensorId part_of(Reading& reading, std::size_t layer, const Group& group) {
  const TensorId x = reading.output_of(layer);
  const Shape& shape = reading.shape(x);
  if (shape.size() != 4)
    reading.section().fail(fmt::format("reads layer {}, which gives no image", layer));
  if (group.count == 1) return x;
  const std::int64_t size = shape[1] / group.count;
  if (size * group.count != shape[1])
    reading.section().fail_at("groups", fmt::format("is {}, which does not divide the {} channels "
                                                    "of layer {}",
                                                    group.count, shape[1], layer));
  const std::string name = fmt::format("{}_part{}", reading.name("route"), layer);
  return channels(reading, name, x, {group.index * size, size});
}

bool same_places(const Shape& a, const Shape& b) { return a[2] == b[2] && a[3] == b[3]; }

/// As many channels as `like` has: those beyond are left out, missing ones are zero.
TensorId fitted(Reading& reading, TensorId x, const Shape& like) {
  const Shape shape = reading.shape(x);
  const std::string name =
      fmt::format("{}_{}", reading.name("shortcut"), reading.network()[x].name);
  if (shape[1] == like[1]) return x;
  if (shape[1] > like[1]) return channels(reading, name, x, {0, like[1]});
  Pad pad;
  pad.begin = {0, 0, 0, 0};
  pad.end = {0, like[1] - shape[1], 0, 0};
  return reading.add(name, std::move(pad), {x}, like);
}

}  // namespace

TensorId lower_route(Reading& reading) {
  const Section& section = reading.section();
  const Group group = group_of(section);
  std::vector<TensorId> parts;
  Shape shape;
  for (const std::size_t layer : layers_named(reading, "layers")) {
    parts.push_back(part_of(reading, layer, group));
    const Shape& part = reading.shape(parts.back());
    if (shape.empty()) {
      shape = part;
      continue;
    }
    if (!same_places(shape, part))
      section.fail_at("layers",
                      fmt::format("layer {} gives {}, which cannot be joined after {}: width "
                                  "and height differ; is the network's size a multiple "
                                  "of 32?",
                                  layer, to_text(part), to_text(shape)));
    shape[1] += part[1];
  }
  if (parts.size() == 1) return parts.front();
  return reading.add(reading.name("route"), Concat{1}, std::move(parts), shape);
}

TensorId lower_shortcut(Reading& reading) {
  const Section& section = reading.section();
  if (const std::string kind = section.text("weights_type", "none"); kind != "none")
    section.fail_at("weights_type", fmt::format("is '{}'; only shortcuts without weights are "
                                                "supported",
                                                kind));
  const Shape shape = reading.image();
  TensorId x = reading.before();
  std::string name = reading.name("shortcut");
  for (const std::size_t layer : layers_named(reading, "from")) {
    const TensorId other = reading.output_of(layer);
    if (reading.shape(other).size() != 4 || !same_places(reading.shape(other), shape))
      section.fail_at("from",
                      fmt::format("layer {} gives {}, which cannot be added to {}: width and "
                                  "height differ",
                                  layer, to_text(reading.shape(other)), to_text(shape)));
    x = reading.add(name, Binary{BinaryKind::add}, {x, fitted(reading, other, shape)}, shape);
    name = fmt::format("{}_{}", reading.name("shortcut"), layer);
  }
  return activate(reading, x, "linear");
}

/// Darknet's own order, which takes the memory for an image of fewer channels and more pixels:
/// squares of stride x stride pixels of *that* image become channels.
TensorId lower_reorg(Reading& reading) {
  const Section& section = reading.section();
  section.refuse({"reverse", "flatten", "extra"});
  const Shape image = reading.image();
  const std::int64_t s = section.integer("stride", 1);
  const std::int64_t n = image[0], c = image[1], h = image[2], w = image[3];
  if (h % s != 0 || w % s != 0 || c % s != 0 || c / s % s != 0)
    section.fail_at("stride", fmt::format("is {}, which does not divide the image of {} evenly", s,
                                          to_text(image)));
  const std::string name = reading.name("reorg");
  const TensorId x =
      reading.add(name + "_squares", Reshape{}, {reading.before()}, {n, c / s / s, h, s, w, s});
  const TensorId turned =
      reading.add(name + "_turned", Transpose{{0, 3, 5, 1, 2, 4}}, {x}, {n, s, s, c / s / s, h, w});
  return reading.add(name, Reshape{}, {turned}, {n, c * s * s, h / s, w / s});
}

}  // namespace millrace::network::darknet
