// Patterns that follow from shapes: repetitions, ranges, masks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "formats/onnx/node/node.h"
#include "formats/onnx/operators/tables.h"
#include "formats/onnx/tensor_data.h"
#include "network/evaluate/evaluate.h"

namespace millrace::formats::onnx {
namespace {

TensorId in_shape(Node& node, TensorId id, Shape shape) {
  if (node.tensor(id).shape == shape) return id;
  const DataType type = node.tensor(id).type;
  return node.add(Reshape{}, {id}, {type, std::move(shape)});
}

/// Repeated up to a shape of the same number of dimensions.
TensorId tiled(Node& node, TensorId id, Shape shape) {
  if (node.tensor(id).shape == shape) return id;
  const DataType type = node.tensor(id).type;
  return node.add(Tile{}, {id}, {type, std::move(shape)});
}

void lower_expand(Node& node) {
  const Shape wanted = integers(node, 1, "the shape");
  if (std::any_of(wanted.begin(), wanted.end(), [](std::int64_t size) { return size < 0; }))
    node.fail(fmt::format("the shape to expand to is {}, which has a negative dimension",
                          to_text(wanted)));
  const std::optional<Shape> shape = broadcast(node.shape(0), wanted);
  if (!shape)
    node.fail(fmt::format("the input '{}' has shape {}, which cannot be expanded to {}",
                          node.tensor(0).name, to_text(node.shape(0)), to_text(wanted)));
  check_shape(node.type(0), *shape, node.place());
  Shape raised(shape->size() - node.shape(0).size(), 1);
  raised.insert(raised.end(), node.shape(0).begin(), node.shape(0).end());
  node.give(0, tiled(node, in_shape(node, node.input(0), std::move(raised)), *shape));
}

void lower_tile(Node& node) {
  const Shape repeats = integers(node, 1, "the number of repetitions");
  Shape shape = node.shape(0);
  if (repeats.size() != shape.size())
    node.fail(fmt::format("there are {} numbers of repetitions for {} dimensions", repeats.size(),
                          shape.size()));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (repeats[i] < 0 || repeats[i] > std::int64_t{1} << 31)
      node.fail(fmt::format("the number of repetitions {} is not one from 0 to 2^31", repeats[i]));
    shape[i] *= repeats[i];
  }
  node.give(0, tiled(node, node.input(0), std::move(shape)));
}

/// Rows and columns of blocks become channels.
void lower_space_to_depth(Node& node) {
  const Shape s = node.shape(0);
  const std::int64_t block = node.attributes().required_integer("blocksize");
  if (s.size() != 4 || block < 1 || block > 1 << 15 || s[2] % block != 0 || s[3] % block != 0)
    node.fail(
        fmt::format("the input has the shape {}, expected four dimensions with height and "
                    "width that are multiples of the block size {}",
                    to_text(s), block));
  const std::int64_t h = s[2] / block, w = s[3] / block;
  const TensorId parts = in_shape(node, node.input(0), {s[0], s[1], h, block, w, block});
  const TensorId moved = node.add(Transpose{{0, 3, 5, 1, 2, 4}}, {parts},
                                  {node.type(0), {s[0], block, block, s[1], h, w}});
  node.give(0, in_shape(node, moved, {s[0], s[1] * block * block, h, w}));
}

/// A constant of values that are exact in double, as the type asked for.
TensorId typed_constant(Node& node, DataType type, const Shape& shape,
                        const std::vector<double>& values) {
  const Array array = make_array<double>(DataType::float64, shape, values);
  return node.add_constant(network::converted(array, type));
}

std::int64_t range_count(const Node& node, double start, double limit, double step) {
  if (step == 0 || !std::isfinite(start) || !std::isfinite(limit) || !std::isfinite(step))
    node.fail(fmt::format("a range from {} to {} in steps of {} has no end", start, limit, step));
  const double count = std::max(0.0, std::ceil((limit - start) / step));
  if (count > static_cast<double>(std::int64_t{1} << 31))
    node.fail(fmt::format("a range from {} to {} in steps of {} is too long", start, limit, step));
  return static_cast<std::int64_t>(count);
}

constexpr std::array<std::string_view, 3> range_bounds{
    "the start of the range", "the limit of the range", "the step of the range"};

template <class Number>
Number bound_of_range(const Node& node, std::size_t input, const std::vector<Number>& value) {
  if (value.size() != 1)
    node.fail(fmt::format("{} must be one value, found {}", range_bounds[input], value.size()));
  return value[0];
}

/// Integers that double may round. A last value beyond the limit is never computed.
void lower_range_of_integers(Node& node) {
  std::array<std::int64_t, 3> bounds{};
  for (std::size_t i = 0; i < bounds.size(); ++i)
    bounds[i] = bound_of_range(node, i, integers(node, i, range_bounds[i]));
  const auto [start, limit, step] = bounds;
  const std::int64_t most = range_count(node, static_cast<double>(start),
                                        static_cast<double>(limit), static_cast<double>(step));
  check_shape(DataType::int64, {most}, node.place());
  take_memory(node, (size_of(DataType::int64) + size_of(node.type(0))) * most);
  Shape values;
  for (std::int64_t x = start; step > 0 ? x < limit : x > limit;) {
    values.push_back(x);
    if (__builtin_add_overflow(x, step, &x)) break;
  }
  const Array array = make_array<std::int64_t>(DataType::int64, {std::ssize(values)}, values);
  node.give(0, node.add_constant(network::converted(array, node.type(0))));
}

void lower_range(Node& node) {
  need_same_types(node);
  if (node.type(0) == DataType::int64 || node.type(0) == DataType::int32)
    return lower_range_of_integers(node);
  std::array<double, 3> bounds{};
  for (std::size_t i = 0; i < bounds.size(); ++i)
    bounds[i] = bound_of_range(node, i, numbers(node, i, range_bounds[i]));
  const std::int64_t count = range_count(node, bounds[0], bounds[1], bounds[2]);
  check_shape(DataType::float64, {count}, node.place());
  take_memory(node, (size_of(DataType::float64) + size_of(node.type(0))) * count);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = bounds[0] + static_cast<double>(i) * bounds[2];
  node.give(0, typed_constant(node, node.type(0), {count}, values));
}

void lower_size(Node& node) {
  const std::vector<std::int64_t> size{element_count(node.shape(0), node.place())};
  node.give(0, node.add_constant(make_array<std::int64_t>(DataType::int64, {}, size)));
}

/// One where is_marked(column - row), else zero.
std::vector<double> marked(const Shape& shape, auto is_marked) {
  std::vector<double> values;
  for (std::int64_t row = 0; row < shape[0]; ++row)
    for (std::int64_t column = 0; column < shape[1]; ++column)
      values.push_back(is_marked(column - row) ? 1 : 0);
  return values;
}

TensorId mask(Node& node, DataType type, const Shape& shape, auto is_marked) {
  check_shape(DataType::float64, shape, node.place());
  take_memory(node,
              (size_of(DataType::float64) + size_of(type)) * element_count(shape, node.place()));
  return typed_constant(node, type, shape, marked(shape, is_marked));
}

void lower_eye_like(Node& node) {
  const Shape shape = node.shape(0);
  if (shape.size() != 2)
    node.fail(fmt::format("the input has the shape {}, expected a matrix", to_text(shape)));
  const DataType type =
      node.attributes().has("dtype") ? node.attributes().type("dtype") : node.type(0);
  const std::int64_t k = node.attributes().integer("k", 0);
  node.give(0, mask(node, type, shape, [=](std::int64_t d) { return d == k; }));
}

/// Zeros above or below a diagonal.
void lower_trilu(Node& node) {
  const Shape shape = node.shape(0);
  if (shape.size() < 2)
    node.fail(fmt::format("the input has the shape {}, expected matrices", to_text(shape)));
  const std::int64_t k = node.has(1) ? integer(node, 1, "the diagonal") : 0;
  const bool upper = node.attributes().flag("upper", true);
  const Shape matrix(shape.end() - 2, shape.end());
  const TensorId keep = mask(node, DataType::boolean, matrix,
                             [=](std::int64_t d) { return upper ? d >= k : d <= k; });
  const TensorId zero =
      node.add_constant(make_array(node.type(0), {}, Buffer(size_of(node.type(0)))));
  node.give(0, node.add(Where{}, {keep, node.input(0), zero}, {node.type(0), shape}));
}

/// As many columns as elements that are not zero: known only of what is known now.
void lower_non_zero(Node& node) {
  if (!is_known(node, 0) && node.reading().purpose == Purpose::largest_sizes) {
    const std::int64_t most = element_count(node.shape(0), node.place());
    return node.give(0,
                     node.reading().network.add_unknown({DataType::int64, {node.rank(0), most}}));
  }
  if (!is_known(node, 0))
    node.fail(
        fmt::format("how many elements of '{}' are not zero is known only when the network "
                    "runs; export the model so that it selects without NonZero",
                    node.tensor(0).name));
  const Shape shape = node.shape(0);
  const std::vector<double> values = numbers(node, 0, "the input");
  const auto is_set = [](double value) { return value != 0; };
  const std::int64_t columns = std::count_if(values.begin(), values.end(), is_set);
  const Made made{DataType::int64, {std::ssize(shape), columns}};
  take_memory(node, size_of(made.type) * (made.shape[0] * made.shape[1]));
  std::vector<std::int64_t> result;
  Shape strides = strides_of(shape);
  for (std::size_t d = 0; d < shape.size(); ++d)
    for (std::size_t i = 0; i < values.size(); ++i)
      if (is_set(values[i])) result.push_back(static_cast<std::int64_t>(i) / strides[d] % shape[d]);
  node.give(0, node.add_constant(make_array<std::int64_t>(made.type, made.shape, result)));
}

/// a - b cos(2 pi n / N) + c cos(4 pi n / N).
struct Cosines {
  double a, b, c;
};
constexpr Cosines hann{0.5, 0.5, 0}, hamming{25. / 46, 21. / 46, 0}, blackman{0.42, 0.5, 0.08};

template <const Cosines& cosines>
void lower_window(Node& node) {
  const Shape given = integers(node, 0, "the size of the window");
  if (given.size() != 1) node.fail("the size of the window is not one number");
  const DataType type = node.attributes().has("output_datatype")
                            ? node.attributes().type("output_datatype")
                            : DataType::float32;
  check_shape(DataType::float64, given, node.place());
  take_memory(node, (size_of(DataType::float64) + size_of(type)) * given[0]);
  const bool periodic = node.attributes().flag("periodic", true);
  const double period = static_cast<double>(periodic ? given[0] : given[0] - 1);
  std::vector<double> values(static_cast<std::size_t>(given[0]));
  for (std::size_t n = 0; n < values.size(); ++n) {
    constexpr double pi = 3.14159265358979323846;
    const double angle = 2 * pi * static_cast<double>(n) / period;
    values[n] = cosines.a - cosines.b * std::cos(angle) + cosines.c * std::cos(2 * angle);
  }
  node.give(0, typed_constant(node, type, given, values));
}

constexpr std::array table_of_repetitions{
    OperatorEntry{"BlackmanWindow", lower_window<blackman>, 1, 1, "output_datatype periodic"},
    OperatorEntry{"Expand", lower_expand, 2, 2, ""},
    OperatorEntry{"EyeLike", lower_eye_like, 1, 1, "dtype k"},
    OperatorEntry{"HammingWindow", lower_window<hamming>, 1, 1, "output_datatype periodic"},
    OperatorEntry{"HannWindow", lower_window<hann>, 1, 1, "output_datatype periodic"},
    OperatorEntry{"NonZero", lower_non_zero, 1, 1, ""},
    OperatorEntry{"Range", lower_range, 3, 3, ""},
    OperatorEntry{"Size", lower_size, 1, 1, ""},
    OperatorEntry{"SpaceToDepth", lower_space_to_depth, 1, 1, "blocksize mode"},
    OperatorEntry{"Tile", lower_tile, 2, 2, ""},
    OperatorEntry{"Trilu", lower_trilu, 1, 2, "upper"},
};

}  // namespace

std::span<const OperatorEntry> repetition_operators() { return table_of_repetitions; }

}  // namespace millrace::formats::onnx
