// Operators that move elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "evaluate_support.h"
#include "network/evaluate/copy.h"
#include "support/network_builder.h"

namespace millrace::network {
namespace {

using test::evaluate_floats;
using test::evaluate_one;
using test::floats;
using test::int64s;

Array counting(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), 0.0f);
  return floats(std::move(shape), values);
}

/// Element by element.
void copy_naively(const loops::Copy& walk, std::span<const std::byte> from,
                  std::span<std::byte> to, std::size_t element) {
  loops::for_each(walk, walk.rank(), [&](const std::array<std::int64_t, 2>& at) {
    std::copy_n(from.begin() + at[0] * static_cast<std::int64_t>(element), element,
                to.begin() + at[1] * static_cast<std::int64_t>(element));
  });
}

TEST(Copy, equals_copying_element_by_element_for_any_order_and_size) {
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    const std::size_t rank = random.below(6), element = std::size_t{1} << random.below(4);
    loops::Copy walk;
    Shape permutation;
    for (std::size_t d = 0; d < rank; ++d) {
      walk.shape.push_back(1 + static_cast<std::int64_t>(random.below(rank < 3 ? 50 : 6)));
      permutation.insert(permutation.begin() + static_cast<std::ptrdiff_t>(random.below(d + 1)),
                         static_cast<std::int64_t>(d));
    }
    walk.strides[1] = strides_of(walk.shape);
    walk.strides[0].resize(rank);
    std::int64_t stride = 1 + static_cast<std::int64_t>(random.below(2));
    for (const std::int64_t d : permutation) {
      walk.strides[0][static_cast<std::size_t>(d)] = stride;
      stride *= walk.shape[static_cast<std::size_t>(d)];
    }
    const auto size = static_cast<std::size_t>(element_count(walk.shape)) * element;
    std::vector<std::byte> from(2 * size), found(size), expected(size);
    for (std::byte& byte : from) byte = static_cast<std::byte>(random.below(256));
    loops::copy(walk, from.data(), found.data(), element);
    copy_naively(walk, from, expected, element);
    ASSERT_EQ(found, expected) << to_text(walk.shape);
  }
}

TEST(Concat, of_an_empty_part_adds_nothing) {
  EXPECT_EQ(evaluate_floats(Concat{0}, {floats({0, 2}, {}), counting({2, 2})}, {2, 2}),
            (std::vector<float>{0, 1, 2, 3}));
}

TEST(Split, unwanted_parts_are_left_out) {
  const Array x = counting({2, 4});
  const std::array<std::int64_t, 2> shape{2, 2};
  std::vector<float> part(4);
  const ConstView in{x.type, x.shape, x.memory->data()};
  const std::array<View, 2> out{View{DataType::float32, shape, nullptr},
                                View{DataType::float32, shape,
                                     reinterpret_cast<std::byte*>(part.data())}};
  evaluate({"split", Split{1}, {}, {}}, {&in, 1}, out);
  EXPECT_EQ(part, (std::vector<float>{2, 3, 6, 7}));
}

TEST(Slice, steps_backwards_and_may_be_empty) {
  EXPECT_EQ(evaluate_floats(Slice{{1, 3}, {-1, -2}}, {counting({2, 4})}, {2, 2}),
            (std::vector<float>{7, 5, 3, 1}));
  EXPECT_TRUE(evaluate_floats(Slice{{0, 4}, {1, 1}}, {counting({2, 4})}, {2, 0}).empty());
}

TEST(Gather, counts_negative_indices_from_the_end) {
  EXPECT_EQ(evaluate_floats(Gather{1}, {counting({2, 3}), int64s({2}, {-1, 0})}, {2, 2}),
            (std::vector<float>{2, 0, 5, 3}));
}

TEST(Gather, an_index_out_of_range_is_an_error_that_names_layer_and_index) {
  for (const std::int64_t index : {3, -4}) {
    try {
      evaluate_floats(Gather{1}, {counting({2, 3}), int64s({1}, {index})}, {2, 1});
      FAIL() << "no error";
    } catch (const InputError& error) {
      EXPECT_EQ(error.place(), "tested");
      EXPECT_NE(std::string(error.what()).find(std::to_string(index)), std::string::npos);
    }
  }
}

TEST(Pad, reflects_more_than_once_and_keeps_corners) {
  const Pad line{PadMode::reflect, {3}, {4}, 0};
  EXPECT_EQ(evaluate_floats(line, {counting({3})}, {10}),
            (std::vector<float>{1, 2, 1, 0, 1, 2, 1, 0, 1, 2}));
  const Pad plane{PadMode::reflect, {1, 1}, {0, 0}, 0};
  EXPECT_EQ(evaluate_floats(plane, {counting({2, 2})}, {3, 3}),
            (std::vector<float>{3, 2, 3, 1, 0, 1, 3, 2, 3}));
}

TEST(Pad, negative_amounts_crop_and_the_value_has_the_type_of_the_tensor) {
  const Pad op{PadMode::constant, {-1, 1}, {1, -1}, 7};
  EXPECT_EQ(evaluate_floats(op, {counting({2, 3})}, {2, 3}),
            (std::vector<float>{7, 3, 4, 7, 7, 7}));
  const Array half = test::array<std::uint16_t>(DataType::float16, {1}, {0x3c00});
  EXPECT_EQ(evaluate_one<std::uint16_t>(Pad{PadMode::constant, {1}, {0}, 2}, {half},
                                        {DataType::float16, {2}}),
            (std::vector<std::uint16_t>{0x4000, 0x3c00}));
}

TEST(DepthToSpace, takes_blocks_from_outer_or_inner_channels) {
  const Array x = counting({1, 8, 1, 1});
  EXPECT_EQ(evaluate_floats(DepthToSpace{2, false}, {x}, {1, 2, 2, 2}),
            (std::vector<float>{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(evaluate_floats(DepthToSpace{2, true}, {x}, {1, 2, 2, 2}),
            (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
}

Resize resize(ResizeMode mode, Coordinates coordinates, double scale) {
  Resize op;
  op.mode = mode;
  op.coordinates = coordinates;
  op.scales = {scale};
  return op;
}

TEST(Resize, whole_positions_stay_whole_although_the_scale_is_rounded) {
  // 3 / 0.6f is a little less than 5.
  const double scale = static_cast<double>(0.6f);
  EXPECT_EQ(evaluate_floats(resize(ResizeMode::nearest, Coordinates::asymmetric, scale),
                            {counting({10})}, {6})[3],
            5);
}

TEST(Resize, interpolates_between_neighbours_and_holds_the_edges) {
  const Array x = floats({2}, {0, 4});
  EXPECT_EQ(evaluate_floats(resize(ResizeMode::linear, Coordinates::half_pixel, 2), {x}, {4}),
            (std::vector<float>{0, 1, 3, 4}));
  EXPECT_EQ(evaluate_floats(resize(ResizeMode::linear, Coordinates::align_corners, 2), {x}, {4})[3],
            4);
}

TEST(Resize, of_integers_computes_in_double_and_drops_the_fraction) {
  const Array x = test::array<std::uint8_t>(DataType::uint8, {2}, {0, 255});
  EXPECT_EQ(evaluate_one<std::uint8_t>(resize(ResizeMode::linear, Coordinates::half_pixel, 2), {x},
                                       {DataType::uint8, {4}}),
            (std::vector<std::uint8_t>{0, 63, 191, 255}));
}

TEST(Resize, outside_of_the_cropped_input_stands_the_extrapolation_value) {
  Resize op = resize(ResizeMode::linear, Coordinates::tf_crop_and_resize, 1);
  op.roi = {0.5, 1.5};
  op.extrapolation = -7;
  EXPECT_EQ(evaluate_floats(op, {counting({3})}, {3}), (std::vector<float>{1, 2, -7}));
}

}  // namespace
}  // namespace millrace::network
