// Putting the outputs of earlier layers together.
#include <fmt/format.h>

#include <algorithm>

#include "formats/darknet/lower.h"

namespace millrace::formats::darknet {
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

/// The first of every `stride` rows and of every `stride` columns, as many as `like` has.
TensorId thinned(Reading& reading, const std::string& name, TensorId x, const Shape& like) {
  Shape shape = reading.shape(x);
  const std::int64_t stride = shape[3] / like[3];
  shape[2] = like[2];
  shape[3] = like[3];
  return reading.add(name, Slice{{0, 0, 0, 0}, {1, 1, stride, stride}}, {x}, shape);
}

/// Rows and columns `stride` apart, with zeros between them and behind them.
TensorId spread_out(Reading& reading, const std::string& name, TensorId x, const Shape& like) {
  const Shape s = reading.shape(x);
  const std::int64_t stride = like[3] / s[3];
  const TensorId points =
      reading.add(name + "_points", Reshape{}, {x}, {s[0], s[1], s[2], 1, s[3], 1});
  Pad between;
  between.begin = Shape(6, 0);
  between.end = {0, 0, 0, stride - 1, 0, stride - 1};
  const TensorId squares = reading.add(name + "_squares", std::move(between), {points},
                                       {s[0], s[1], s[2], stride, s[3], stride});
  const Shape image{s[0], s[1], s[2] * stride, s[3] * stride};
  const TensorId grown = reading.add(name + "_image", Reshape{}, {squares}, image);
  if (same_places(image, like)) return grown;
  Pad behind;
  behind.begin = Shape(4, 0);
  behind.end = {0, 0, like[2] - image[2], like[3] - image[3]};
  return reading.add(name + "_padded", std::move(behind), {grown}, {s[0], s[1], like[2], like[3]});
}

/// With the width and height of `like`, as Darknet adds images of different size.
TensorId with_places(Reading& reading, TensorId x, const Shape& like, std::size_t layer) {
  const Shape shape = reading.shape(x);
  const std::string name = fmt::format("{}_size{}", reading.name("shortcut"), layer);
  if (same_places(shape, like)) return x;
  if (shape[2] >= like[2] && shape[3] >= like[3] && shape[2] / like[2] == shape[3] / like[3])
    return thinned(reading, name, x, like);
  if (like[2] >= shape[2] && like[3] >= shape[3] && like[2] / shape[2] == like[3] / shape[3])
    return spread_out(reading, name, x, like);
  reading.section().fail_at(
      "from", fmt::format("layer {} gives {}, which cannot be added to {}: width and height differ "
                          "by different factors",
                          layer, to_text(shape), to_text(like)));
}

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

/// The only layer that is named.
std::size_t layer_named(const Reading& reading) {
  const std::vector<std::size_t> layers = layers_named(reading, "from");
  if (layers.size() != 1) reading.section().fail_at("from", "names several layers, expected one");
  return layers.front();
}

/// The layer that is named, times the one before, which spreads over it.
TensorId scaled(Reading& reading, std::string_view kind, const Shape& factor) {
  const std::size_t layer = layer_named(reading);
  const TensorId x = reading.output_of(layer);
  const Shape shape = reading.shape(x);
  if (shape.size() != 4 || broadcast(shape, factor) != shape)
    reading.section().fail_at("from", fmt::format("layer {} gives {}, which cannot be multiplied "
                                                  "by {}",
                                                  layer, to_text(shape), to_text(factor)));
  const TensorId result =
      reading.add(reading.name(kind), Binary{BinaryKind::mul}, {x, reading.before()}, shape);
  return activate(reading, result, "linear");
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
    if (reading.shape(reading.output_of(layer)).size() != 4)
      section.fail_at("from", fmt::format("layer {} gives {}, which is no image", layer,
                                          to_text(reading.shape(reading.output_of(layer)))));
    const TensorId other = with_places(reading, reading.output_of(layer), shape, layer);
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

/// One factor for every channel, or (scale_wh) for every place.
TensorId lower_scale_channels(Reading& reading) {
  const Shape factor = reading.image();
  const bool by_place = reading.section().flag("scale_wh");
  if (by_place ? factor[1] != 1 : factor[2] != 1 || factor[3] != 1)
    reading.section().fail(
        fmt::format("needs one factor for every {}, but the layer before gives {}",
                    by_place ? "place" : "channel", to_text(factor)));
  return scaled(reading, "scale_channels", factor);
}

TensorId lower_sam(Reading& reading) {
  const Shape factor = reading.image();
  const Shape& from = reading.shape(reading.output_of(layer_named(reading)));
  if (from != factor)
    reading.section().fail_at("from", fmt::format("gives {}, expected {} like the layer before",
                                                  to_text(from), to_text(factor)));
  return scaled(reading, "sam", factor);
}

}  // namespace millrace::formats::darknet
