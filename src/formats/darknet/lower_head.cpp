// What ends a network: boxes and classes.
#include <fmt/format.h>

#include "formats/darknet/lower.h"

namespace millrace::formats::darknet {
namespace {

constexpr std::int64_t most_boxes = 4096;

void need_channels(const Reading& reading, const Head& head) {
  const std::int64_t each = head.coordinates + 1 + head.classes;
  const std::int64_t found = reading.image()[1];
  if (found != head.boxes * each)
    reading.section().fail(
        fmt::format("needs {} channels ({} boxes of {} coordinates, objectness "
                    "and {} classes), but the layer before has {}; its filters "
                    "have to be as many",
                    head.boxes * each, head.boxes, head.coordinates, head.classes, found));
}

/// The anchors with these numbers.
std::vector<Anchor> anchors_of(const Section& section, const std::vector<std::int64_t>& mask) {
  const std::vector<double> numbers = section.numbers("anchors");
  std::vector<Anchor> result;
  for (const std::int64_t i : mask) {
    const auto at = static_cast<std::size_t>(2 * i);
    if (at + 1 >= numbers.size())
      section.fail_at("anchors",
                      fmt::format("has {} numbers, but anchor {} is wanted; expected two "
                                  "for each of 'num'",
                                  numbers.size(), i));
    result.push_back({numbers[at], numbers[at + 1]});
  }
  return result;
}

std::vector<std::int64_t> all_of(std::int64_t count) {
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(i);
  return result;
}

Head image_head(const Reading& reading, Head::Kind kind) {
  const Section& section = reading.section();
  Head head;
  head.kind = kind;
  head.rows = reading.image()[2];
  head.columns = reading.image()[3];
  head.classes = section.integer("classes", 20);
  head.nms_kind = section.text("nms_kind", "default");
  head.beta_nms = section.number("beta_nms", 0.6);
  return head;
}

TensorId logistic(Reading& reading, const std::string& name, TensorId x) {
  const Shape shape = reading.shape(x);
  return reading.add(name, Unary{UnaryKind::sigmoid, 0, 0}, {x}, shape);
}

/// So that the places next to a cell's border can be reached: scale * x - (scale - 1) / 2.
TensorId widened(Reading& reading, const std::string& name, TensorId x, double scale) {
  if (scale == 1) return x;
  const auto factor = static_cast<float>(scale);
  const Shape shape = reading.shape(x);
  const TensorId by = reading.constant(name + ".factor", factor);
  const TensorId less = reading.constant(name + ".shift", (factor - 1) / 2);
  x = reading.add(name + "_scaled", Binary{BinaryKind::mul}, {x, by}, shape);
  return reading.add(name + "_shifted", Binary{BinaryKind::sub}, {x, less}, shape);
}

/// Every box by itself, as an image of its own: [N * boxes, values, rows, columns].
TensorId box_by_box(Reading& reading, const Head& head, const std::string& name) {
  const std::int64_t values = head.coordinates + 1 + head.classes;
  const Shape image = reading.image();
  return reading.add(name + "_boxes", Reshape{}, {reading.before()},
                     {image[0] * head.boxes, values, image[2], image[3]});
}

TensorId together(Reading& reading, const std::string& name, std::vector<TensorId> parts) {
  Shape shape = reading.shape(parts.front());
  shape[1] = 0;
  for (const TensorId part : parts) shape[1] += reading.shape(part)[1];
  const TensorId x = reading.add(name + "_concat", Concat{1}, std::move(parts), shape);
  return reading.add(name, Reshape{}, {x}, reading.image());
}

TensorId softmax_over_channels(Reading& reading, const std::string& name, TensorId x) {
  const Shape shape = reading.shape(x);
  return reading.add(name, Softmax{1, 2, false}, {x}, shape);
}

}  // namespace

TensorId lower_yolo(Reading& reading) {
  const Section& section = reading.section();
  Head head = image_head(reading, Head::Kind::yolo);
  const std::int64_t all = section.integer("num", 1, {1, most_boxes});
  const std::vector<std::int64_t> mask =
      section.has("mask") ? section.integers("mask", {0, all - 1}) : all_of(all);
  head.boxes = static_cast<std::int64_t>(mask.size());
  need_channels(reading, head);
  head.anchors = anchors_of(section, mask);
  head.scale_x_y = section.number("scale_x_y", 1);
  head.new_coords = section.flag("new_coords");
  const std::string name = reading.name("yolo");
  TensorId x = reading.before();
  if (head.new_coords && head.scale_x_y != 1) {
    const auto parts =
        reading.split(name + "_parts", box_by_box(reading, head, name), {2, 3 + head.classes});
    const TensorId places = widened(reading, name + "_places", parts[0], head.scale_x_y);
    x = together(reading, name, {places, parts[1]});
  } else if (!head.new_coords) {
    const auto parts =
        reading.split(name + "_parts", box_by_box(reading, head, name), {2, 2, 1 + head.classes});
    const TensorId inside = logistic(reading, name + "_inside", parts[0]);
    const TensorId places = widened(reading, name + "_places", inside, head.scale_x_y);
    x = together(reading, name, {places, parts[1], logistic(reading, name + "_scores", parts[2])});
  }
  reading.add_head(std::move(head), x);
  return x;
}

TensorId lower_region(Reading& reading) {
  const Section& section = reading.section();
  section.refuse({"background"});
  for (const char* option : {"tree", "map"})
    if (section.has(option)) section.fail_at(option, "hierarchies of classes are not supported");
  Head head = image_head(reading, Head::Kind::region);
  head.coordinates = section.integer("coords", 4, {4, 4});
  head.boxes = section.integer("num", 1, {1, most_boxes});
  head.softmax = section.flag("softmax");
  need_channels(reading, head);
  head.anchors = anchors_of(section, all_of(head.boxes));
  const std::string name = reading.name("region");
  const auto parts =
      reading.split(name + "_parts", box_by_box(reading, head, name), {2, 2, 1, head.classes});
  const TensorId places = logistic(reading, name + "_places", parts[0]);
  const TensorId objectness = logistic(reading, name + "_objectness", parts[2]);
  const TensorId classes = head.softmax
                               ? softmax_over_channels(reading, name + "_classes", parts[3])
                               : logistic(reading, name + "_classes", parts[3]);
  const TensorId x = together(reading, name, {places, parts[1], objectness, classes});
  reading.add_head(std::move(head), x);
  return x;
}

TensorId lower_detection(Reading& reading) {
  const Section& section = reading.section();
  Head head;
  head.kind = Head::Kind::detection;
  head.rows = head.columns = section.integer("side", 7, {1, most_boxes});
  head.boxes = section.integer("num", 1, {1, most_boxes});
  head.coordinates = section.integer("coords", 1, {1, 4});
  head.classes = section.integer("classes", 1);
  head.softmax = section.flag("softmax");
  head.square_root = section.flag("sqrt");
  const std::int64_t cells = head.rows * head.columns;
  const std::int64_t of_classes = cells * head.classes;
  const std::int64_t of_boxes = cells * head.boxes * (1 + head.coordinates);
  const std::string name = reading.name("detection");
  TensorId x = reading.before();
  const Shape before = reading.shape(x);
  const std::int64_t batch = before[0];
  if (element_count(before) / batch != of_classes + of_boxes)
    section.fail(
        fmt::format("needs {} values ({} cells of {} classes and {} boxes), but the layer "
                    "before gives {}",
                    of_classes + of_boxes, cells, head.classes, head.boxes, to_text(before)));
  const Shape flat{batch, of_classes + of_boxes};
  if (before != flat) x = reading.add(name + "_flat", Reshape{}, {x}, flat);
  if (head.softmax) {
    const auto parts = reading.split(name + "_parts", x, {of_classes, of_boxes});
    x = reading.add(name + "_cells", Reshape{}, {parts[0]}, {batch * cells, head.classes});
    x = softmax_over_channels(reading, name + "_classes", x);
    x = reading.add(name + "_rows", Reshape{}, {x}, {batch, of_classes});
    x = reading.add(name, Concat{1}, {x, parts[1]}, flat);
  }
  reading.add_head(std::move(head), x);
  return x;
}

TensorId lower_softmax(Reading& reading) {
  const Section& section = reading.section();
  section.refuse({"spatial"});
  if (section.has("tree")) section.fail_at("tree", "hierarchies of classes are not supported");
  if (section.number("temperature", 1) != 1)
    section.fail_at("temperature", "is not 1; other temperatures are not supported");
  TensorId x = reading.before();
  const Shape before = reading.shape(x);
  const std::int64_t inputs = element_count(before) / before[0];
  const std::int64_t groups = section.integer("groups", 1);
  if (inputs % groups != 0)
    section.fail_at("groups",
                    fmt::format("is {}, which does not divide {} values", groups, inputs));
  const std::string name = reading.name("softmax");
  const Shape rows{before[0] * groups, inputs / groups};
  if (before != rows) x = reading.add(name + "_rows", Reshape{}, {x}, rows);
  x = softmax_over_channels(reading, name, x);
  if (groups == 1) return x;
  return reading.add(name + "_all", Reshape{}, {x}, {before[0], inputs});
}

}  // namespace millrace::formats::darknet
