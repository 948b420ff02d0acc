// Operators that move elements.
#include "cases.h"

namespace millrace::test {

using namespace millrace::network;

namespace {

ConformanceCase moved(const std::string& name, const Operator& op, const Shape& x,
                      const Shape& out) {
  return {name, [=](NetworkBuilder& b) { b.output(b.layer(op, {b.input(x)}, out)); }};
}

ConformanceCase concat_case(const std::string& name, std::int64_t axis,
                            const std::vector<Shape>& parts) {
  return {name, [=](NetworkBuilder& b) {
            std::vector<TensorId> inputs;
            for (const Shape& part : parts) inputs.push_back(b.input(part));
            b.output(b.concat(axis, inputs));
          }};
}

ConformanceCase split_case(const std::string& name, std::int64_t axis, const Shape& x,
                           const std::vector<std::int64_t>& sizes) {
  return {name, [=](NetworkBuilder& b) {
            for (const TensorId part : b.split(axis, b.input(x), sizes)) b.output(part);
          }};
}

void concat_with_constant(NetworkBuilder& b) {
  b.output(b.concat(1, {b.input({1, 8, 3, 3}), b.constant({1, 4, 3, 3})}));
}

void concat_of_the_same(NetworkBuilder& b) {
  const TensorId x = b.unary(UnaryKind::relu, b.input({1, 8, 3, 3}));
  b.output(b.concat(1, {x, x}));
}

void gather(NetworkBuilder& b, std::int64_t axis, const Shape& out) {
  b.output(b.layer(Gather{axis}, {b.input({4, 5, 6}), b.integers({2, 2}, {0, -1, 3, 1})}, out));
}

void cast_to_half_and_back(NetworkBuilder& b) {
  const TensorId half = b.layer(Cast{}, {b.input({3, 5})}, {3, 5});
  b.set_type(half, DataType::float16);
  const TensorId single = b.layer(Cast{}, {half}, {3, 5});
  b.set_type(single, DataType::float32);
  b.output(single);
}

ConformanceCase cast_from(const std::string& name, DataType type) {
  return {"cast_from_" + name, [=](NetworkBuilder& b) {
            const TensorId numbers =
                b.binary(BinaryKind::mul, b.input({3, 37}), b.constant(Shape{}, {90, 99}));
            const TensorId whole = b.layer(Cast{}, {numbers}, {3, 37});
            b.set_type(whole, type);
            const TensorId back = b.layer(Cast{}, {whole}, {3, 37});
            b.set_type(back, DataType::float32);
            b.output(back);
          }};
}

void cast_to_integer(NetworkBuilder& b) {
  const TensorId scaled = b.binary(BinaryKind::mul, b.input({3, 5}), b.constant(Shape{}, {50, 60}));
  const TensorId whole = b.layer(Cast{}, {scaled}, {3, 5});
  b.set_type(whole, DataType::int32);
  b.output(whole);
}

Resize resize(ResizeMode mode, Coordinates coordinates, std::vector<double> scales) {
  Resize op;
  op.mode = mode;
  op.coordinates = coordinates;
  op.scales = std::move(scales);
  return op;
}

Resize antialiased(ResizeMode mode, std::vector<double> scales) {
  Resize op = resize(mode, Coordinates::half_pixel, std::move(scales));
  op.antialias = true;
  return op;
}

ConformanceCase odd_resize_case(const Resize& op, bool innermost) {
  const std::string name = "resize_odd_" + std::to_string(static_cast<int>(op.mode)) + "_" +
                           std::to_string(static_cast<int>(op.coordinates)) +
                           (innermost ? "_innermost" : "");
  return {name, [=](NetworkBuilder& b) {
            TensorId x = b.input({2, 19, 7, 5});
            if (innermost) x = b.conv(x, 19, window(3, {.pad = 1}));
            b.output(b.layer(op, {x}, {2, 19, 11, 9}));
          }};
}

/// Cases of a tensor as it is given, and of one whose channels a convolution leaves innermost.
std::vector<ConformanceCase> odd_resize_cases() {
  using enum Coordinates;
  const std::vector<double> odd{1, 1, 11.0 / 7, 9.0 / 5};
  std::vector<ConformanceCase> cases;
  for (const ResizeMode mode : {ResizeMode::nearest, ResizeMode::linear, ResizeMode::cubic})
    for (const Coordinates coordinates : {half_pixel, align_corners, asymmetric})
      for (const bool innermost : {false, true})
        cases.push_back(odd_resize_case(resize(mode, coordinates, odd), innermost));
  return cases;
}

std::vector<ConformanceCase> resize_cases() {
  const Shape x{1, 3, 4, 5}, twice{1, 3, 8, 10};
  const std::vector<double> up{1, 1, 2, 2};
  using enum Coordinates;
  std::vector<ConformanceCase> cases = odd_resize_cases();
  std::vector<ConformanceCase> simple{
      moved("resize_nearest", resize(ResizeMode::nearest, asymmetric, up), x, twice),
      moved("resize_nearest_half_pixel", resize(ResizeMode::nearest, half_pixel, up), x, twice),
      moved("resize_linear", resize(ResizeMode::linear, half_pixel, up), x, twice),
      moved("resize_linear_align_corners", resize(ResizeMode::linear, align_corners, up), x, twice),
      moved("resize_linear_asymmetric", resize(ResizeMode::linear, asymmetric, up), x, twice),
      moved("resize_linear_down", resize(ResizeMode::linear, half_pixel, {1, 1, 0.5, 0.6}), x,
            {1, 3, 2, 3}),
      moved("resize_cubic", resize(ResizeMode::cubic, half_pixel, up), x, twice),
      moved("resize_linear_antialias", antialiased(ResizeMode::linear, {1, 1, 0.25, 0.4}), x,
            {1, 3, 1, 2}),
      moved("resize_cubic_antialias", antialiased(ResizeMode::cubic, {1, 1, 0.5, 1.6}), x,
            {1, 3, 2, 8}),
  };
  for (ConformanceCase& test : simple) cases.push_back(std::move(test));
  return cases;
}

}  // namespace

std::vector<ConformanceCase> movement_cases() {
  const Shape x{2, 8, 4, 6};
  std::vector<ConformanceCase> cases{
      concat_case("concat_channels", 1, {{1, 8, 3, 4}, {1, 16, 3, 4}}),
      concat_case("concat_odd_channels", 1, {{2, 3, 3, 4}, {2, 5, 3, 4}, {2, 1, 3, 4}}),
      concat_case("concat_last", 3, {{2, 3, 3, 4}, {2, 3, 3, 2}}),
      concat_case("concat_batch", 0, {{2, 3}, {1, 3}}),
      {"concat_with_constant", concat_with_constant},
      {"concat_of_the_same", concat_of_the_same},
      split_case("split_channels", 1, {1, 24, 3, 4}, {8, 16}),
      split_case("split_last", 2, {2, 3, 9}, {2, 3, 4}),
      moved("slice", Slice{{0, 2, 1, 0}, {1, 1, 1, 1}}, x, {2, 4, 3, 6}),
      moved("slice_strided", Slice{{0, 1, 0, 5}, {1, 2, 1, -2}}, x, {2, 4, 4, 3}),
      moved("slice_every_second", Slice{{0, 0, 1, 0}, {1, 1, 2, 2}}, x, {2, 8, 2, 3}),
      moved("slice_every_second_of_odd", Slice{{0, 0, 0}, {1, 2, 2}}, {2, 7, 5}, {2, 4, 3}),
      moved("slice_every_second_row_of_odd", Slice{{0, 0, 0, 0}, {1, 1, 2, 1}}, {1, 4, 7, 6},
            {1, 4, 4, 6}),
      {"gather_rows",
       [](NetworkBuilder& b) {
         gather(b, 0, {2, 2, 5, 6});
       }},
      {"gather_inner",
       [](NetworkBuilder& b) {
         gather(b, 2, {4, 5, 2, 2});
       }},
      moved("reshape", Reshape{}, x, {2, 192}),
      moved("transpose", Transpose{{0, 2, 3, 1}}, x, {2, 4, 6, 8}),
      moved("transpose_matrix", Transpose{{1, 0}}, {37, 21}, {21, 37}),
      moved("transpose_all", Transpose{{3, 2, 1, 0}}, x, {6, 4, 8, 2}),
      moved("pad_constant", Pad{PadMode::constant, {0, 0, 1, 2}, {0, 0, 2, 1}, 0.5}, x,
            {2, 8, 7, 9}),
      moved("pad_reflect", Pad{PadMode::reflect, {0, 0, 2, 1}, {0, 0, 3, 5}, 0}, x, {2, 8, 9, 12}),
      moved("pad_edge", Pad{PadMode::edge, {1, 0, 2, 1}, {0, 1, 3, 0}, 0}, x, {3, 9, 9, 7}),
      moved("pad_crop", Pad{PadMode::constant, {0, 0, -1, 1}, {0, -3, 0, -2}, 0}, x, {2, 5, 3, 5}),
      moved("depth_to_space", DepthToSpace{2, false}, x, {2, 2, 8, 12}),
      moved("depth_to_space_crd", DepthToSpace{2, true}, x, {2, 2, 8, 12}),
      {"cast_to_half_and_back", cast_to_half_and_back},
      {"cast_to_integer", cast_to_integer},
      cast_from("int8", DataType::int8),
      cast_from("uint8", DataType::uint8),
      cast_from("int32", DataType::int32),
      cast_from("int64", DataType::int64),
      cast_from("boolean", DataType::boolean),
  };
  for (ConformanceCase& test : resize_cases()) cases.push_back(std::move(test));
  return cases;
}

}  // namespace millrace::test
