// Each operator, against the plain loops; what oneDNN's kernels cannot do must come out right too.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "engine/onednn/onednn.h"
#include "nets.h"

namespace millrace::engine::onednn {
namespace {

using namespace test::onednn;  // NOLINT: the vocabulary of these tests
using network::BinaryKind;
using network::UnaryKind;
using network::Window;

/// A convolution around it makes the layouts those of real networks.
using Add = std::function<TensorId(Net&, TensorId)>;
void expect_equal_to_loops_inside(const Shape& shape, const Add& add) {
  Net plain;
  plain.output(add(plain, plain.input(shape)));
  expect_equal_to_loops(plain);
  if (shape.size() != 4) return;
  Net inside;
  const TensorId y = add(inside, inside.conv(inside.input(shape), shape[1], 1));
  inside.output(inside.shape(y).size() == 4 ? inside.conv(y, 16, 1) : y);
  expect_equal_to_loops(inside, 5e-5);
}

struct ConvCase {
  Shape input;
  std::int64_t channels;
  Window window;
  std::int64_t groups;
};

TEST(operators, convolutions_of_every_geometry) {
  const std::vector<ConvCase> cases{
      {{1, 3, 15, 15}, 8, {{7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}}, 1},
      {{2, 16, 9, 9}, 32, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 1},
      {{1, 16, 9, 8}, 5, {{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, 1},
      {{1, 16, 8, 8}, 20, {{1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}, 1},
      {{1, 12, 9, 9}, 12, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 12},
      {{1, 32, 9, 9}, 32, {{5, 5}, {2, 2}, {1, 1}, {1, 1}, {2, 2}}, 32},
      {{1, 8, 9, 9}, 16, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 8},
      {{1, 12, 9, 9}, 6, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 3},
      {{2, 32, 9, 13}, 32, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, 8},
      {{1, 24, 30, 40}, 28, {{3, 5}, {1, 2}, {2, 3}, {2, 4}, {2, 5}}, 4},
      {{1, 28, 70, 90}, 26, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 2},
      {{1, 30, 24, 24}, 10, {{7, 7}, {1, 1}, {1, 1}, {3, 3}, {3, 3}}, 2},
      {{1, 8, 12, 12}, 8, {{3, 3}, {1, 1}, {1, 1}, {-1, 0}, {1, 1}}, 2},
      {{1, 8, 5, 400}, 16, {{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, 4},
      {{1, 8, 30}, 12, {{5}, {2}, {1}, {2}, {1}}, 4},
      {{1, 8, 11, 11}, 8, {{3, 3}, {1, 1}, {2, 3}, {2, 3}, {2, 3}}, 1},
      {{1, 8, 10, 11}, 8, {{2, 3}, {2, 1}, {1, 1}, {0, 2}, {1, 0}}, 1},
      {{1, 4, 30}, 6, {{5}, {2}, {1}, {2}, {1}}, 1},
      {{1, 4, 6, 7, 8}, 6, {{3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 0}, {1, 1, 1}}, 2},
      {{1, 4, 8, 8}, 4, {{3, 3}, {1, 1}, {1, 1}, {-1, 0}, {1, 1}}, 1},
      {{1, 4, 4, 4}, 6, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {2, 0}}, 1}};
  for (const ConvCase& c : cases)
    for (const bool bias : {false, true}) {
      SCOPED_TRACE(network::to_text(c.input) + " " + network::to_text(c.window.kernel));
      Net net;
      const TensorId x = net.input(c.input);
      Shape weights{c.channels, c.input[1] / c.groups};
      weights.insert(weights.end(), c.window.kernel.begin(), c.window.kernel.end());
      std::vector<TensorId> inputs{x, net.weights(weights)};
      if (bias) inputs.push_back(net.weights({c.channels}));
      net.output(net.layer(network::Conv{c.window, c.groups}, inputs,
                           test::slide(c.window, c.input, c.channels)));
      expect_equal_to_loops(net);
    }
}

TEST(operators, a_convolution_whose_weights_are_computed) {
  Net net;
  const TensorId x = net.input({1, 4, 6, 6}), w = net.input({8, 4, 3, 3});
  const Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  net.output(net.layer(network::Conv{window, 1}, {x, w}, {1, 8, 6, 6}));
  expect_equal_to_loops(net);
}

TEST(operators, transposed_convolutions) {
  struct Case {
    Shape input, weights, output;
    Window window;
    std::int64_t groups;
  };
  const std::vector<Case> cases{
      {{1, 8, 5, 5}, {8, 6, 2, 2}, {1, 6, 10, 10}, {{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}, 1},
      {{1, 8, 5, 6}, {8, 6, 3, 3}, {1, 6, 10, 12}, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, 1},
      {{2, 8, 5, 6}, {8, 3, 3, 3}, {2, 6, 5, 6}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 2},
      {{1, 4, 5, 5}, {4, 1, 4, 4}, {1, 4, 10, 10}, {{4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, 4},
      {{1, 4, 5, 5}, {4, 3, 3, 3}, {1, 3, 9, 9}, {{3, 3}, {1, 1}, {2, 2}, {0, 0}, {0, 0}}, 1},
      {{1, 4, 9}, {4, 3, 3}, {1, 3, 19}, {{3}, {2}, {1}, {0}, {0}}, 1}};
  for (const Case& c : cases) {
    SCOPED_TRACE(network::to_text(c.input) + " " + network::to_text(c.weights));
    Net net;
    const TensorId x = net.input(c.input);
    const TensorId y = net.layer(network::ConvTranspose{c.window, c.groups},
                                 {x, net.weights(c.weights), net.weights({c.output[1]})}, c.output);
    net.output(net.relu(y));
    expect_equal_to_loops(net);
  }
}

struct GemmCase {
  bool turn_a, turn_b, constant;
};

void expect_gemm(const GemmCase& g, const Shape& c, float factor) {
  SCOPED_TRACE(network::to_text(c) + (g.constant ? " constant" : ""));
  Net net;
  const Shape b = g.turn_b ? Shape{5, 7} : Shape{7, 5};
  const TensorId a = net.input(g.turn_a ? Shape{7, 3} : Shape{3, 7});
  std::vector<TensorId> inputs{a, g.constant ? net.weights(b) : net.input(b)};
  if (!c.empty()) inputs.push_back(g.constant ? net.weights(c) : net.input(c));
  const network::Gemm gemm{g.turn_a, g.turn_b, factor, 2 * factor};
  net.output(net.relu(net.layer(gemm, inputs, {3, 5})));
  expect_equal_to_loops(net);
}

TEST(operators, gemm_in_all_its_forms) {
  for (int form = 0; form < 8; ++form)
    for (const Shape& c : {Shape{}, Shape{5}, Shape{1, 5}, Shape{3, 1}, Shape{3, 5}, Shape{1}})
      for (const float factor : {1.f, 0.5f})
        expect_gemm({(form & 1) != 0, (form & 2) != 0, (form & 4) != 0}, c, factor);
}

TEST(operators, matrix_products_of_all_ranks) {
  struct Case {
    Shape a, b, result;
  };
  for (const Case& c : std::vector<Case>{{{3, 4}, {4, 5}, {3, 5}},
                                         {{4}, {4, 5}, {5}},
                                         {{3, 4}, {4}, {3}},
                                         {{4}, {4}, {}},
                                         {{2, 3, 4}, {4, 5}, {2, 3, 5}},
                                         {{2, 3, 4}, {2, 4, 5}, {2, 3, 5}},
                                         {{6, 1, 3, 4}, {2, 4, 5}, {6, 2, 3, 5}},
                                         {{2, 3, 4}, {4}, {2, 3}}})
    for (const bool constant : {false, true}) {
      SCOPED_TRACE(network::to_text(c.a) + " by " + network::to_text(c.b));
      Net net;
      const TensorId a = net.input(c.a);
      const TensorId b = constant ? net.weights(c.b) : net.input(c.b);
      net.output(net.relu(net.layer(network::MatMul{}, {a, b}, c.result)));
      expect_equal_to_loops(net);
    }
}

TEST(operators, functions_of_one_element) {
  const std::vector<network::Unary> functions{{UnaryKind::relu, 0, 0},
                                              {UnaryKind::leaky_relu, 0.1, 0},
                                              {UnaryKind::clip, -0.2, 0.4},
                                              {UnaryKind::clip, 0, INFINITY},
                                              {UnaryKind::clip, -INFINITY, 0.3},
                                              {UnaryKind::clip, 0.5, -0.5},
                                              {UnaryKind::sigmoid, 0, 0},
                                              {UnaryKind::hard_sigmoid, 0.3, 0.5},
                                              {UnaryKind::hard_swish, 0, 0},
                                              {UnaryKind::tanh, 0, 0},
                                              {UnaryKind::elu, 0.7, 0},
                                              {UnaryKind::softplus, 0, 0},
                                              {UnaryKind::mish, 0, 0},
                                              {UnaryKind::erf, 0, 0},
                                              {UnaryKind::exp, 0, 0}};
  for (const auto& function : functions)
    for (const Shape& shape : {Shape{1, 20, 7, 7}, Shape{33}, Shape{}, Shape{2, 3, 4, 2, 2, 2}}) {
      SCOPED_TRACE(static_cast<int>(function.kind));
      expect_equal_to_loops_inside(shape, [&](Net& net, TensorId x) {
        return net.unary(function.kind, x, function.alpha, function.beta);
      });
    }
}

TEST(operators, roots_and_powers) {
  for (const float exponent : {2.f, 0.5f, -1.f, 3.f, 1.7f}) {
    Net net;
    const TensorId x = net.unary(UnaryKind::exp, net.input({1, 20, 5, 5}));
    const TensorId y = net.unary(UnaryKind::sqrt, x);
    net.output(net.binary(BinaryKind::pow, y, net.constant({}, {exponent, exponent})));
    expect_equal_to_loops(net);
  }
}

void expect_binary(BinaryKind kind, const Shape& other, bool constant) {
  SCOPED_TRACE(network::to_text(other) + " kind " + std::to_string(static_cast<int>(kind)));
  for (const bool swapped : {false, true}) {
    Net net;
    const TensorId a = net.unary(UnaryKind::sigmoid, net.conv(net.input({1, 20, 6, 6}), 20, 1));
    const TensorId b =
        constant ? net.constant(other, {1, 2}) : net.unary(UnaryKind::exp, net.input(other));
    net.output(swapped ? net.binary(kind, b, a) : net.binary(kind, a, b));
    expect_equal_to_loops(net);
  }
}

TEST(operators, two_operands_with_broadcasting) {
  const std::vector<Shape> others{{1, 20, 6, 6}, {1, 20, 1, 1}, {20, 1, 1},    {1},         {},
                                  {6, 6},        {6},           {1, 20, 6, 1}, {2, 1, 1, 1}};
  for (const BinaryKind kind : {BinaryKind::add, BinaryKind::sub, BinaryKind::mul, BinaryKind::div,
                                BinaryKind::max, BinaryKind::min})
    for (const Shape& other : others)
      for (const bool constant : {false, true}) expect_binary(kind, other, constant);
}

TEST(operators, prelu_with_slopes_per_channel_and_per_element) {
  for (const Shape& slopes : {Shape{20, 1, 1}, Shape{1}, Shape{20, 6, 6}, Shape{1, 20, 1, 1}})
    expect_equal_to_loops_inside({1, 20, 6, 6}, [&](Net& net, TensorId x) {
      return net.binary(BinaryKind::prelu, x, net.weights(slopes));
    });
}

TEST(operators, normalisations) {
  for (const Shape& shape : {Shape{2, 20, 6, 6}, Shape{1, 32, 5, 5}, Shape{2, 3, 7}, Shape{4, 6}})
    expect_equal_to_loops_inside(shape, [&](Net& net, TensorId x) {
      const Shape c{shape[1]};
      const TensorId variance = net.constant(c, {0.5, 2});
      return net.relu(net.layer(network::BatchNormalization{1e-3f},
                                {x, net.weights(c), net.weights(c), net.weights(c), variance},
                                shape));
    });
  for (const std::int64_t size : {5, 3, 4})
    for (const Shape& shape : {Shape{1, 20, 6, 6}, Shape{2, 32, 5, 5}})
      expect_equal_to_loops_inside(shape, [&](Net& net, TensorId x) {
        return net.layer(network::Lrn{size, 0.5f, 0.75f, 1.5f}, {x}, shape);
      });
  for (const float beta : {0.75f, 0.5f})  // ours and oneDNN's
    expect_equal_to_loops_inside({2, 48, 7, 9}, [&](Net& net, TensorId x) {
      return net.layer(network::Lrn{5, 1e-4f, beta, 1}, {x}, net.shape(x));
    });
}

TEST(operators, softmax_over_one_and_over_several_dimensions) {
  for (const bool log : {false, true})
    for (const std::int64_t axis : {1, 2, 3})
      for (const std::int64_t end : {axis + 1, std::int64_t{4}})
        expect_equal_to_loops_inside({2, 20, 3, 4}, [&](Net& net, TensorId x) {
          return net.layer(network::Softmax{axis, end, log}, {x}, net.shape(x));
        });
}

void expect_pool(const network::Pool& op, const Shape& out) {
  for (const std::int64_t channels : {3, 20, 32}) {
    SCOPED_TRACE(network::to_text(op.window.kernel) + " of " + std::to_string(channels));
    expect_equal_to_loops_inside({2, channels, 13, 13}, [&](Net& net, TensorId x) {
      return net.layer(op, {x}, {2, channels, out[0], out[1]});
    });
  }
}

TEST(operators, pools_of_every_kind) {
  const std::vector<std::pair<Window, Shape>> cases{
      {{{3, 3}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}, {6, 6}},
      {{{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, {7, 7}},
      {{{2, 2}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, {13, 13}},
      {{{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}, {7, 7}},  // rounded up
      {{{2, 3}, {1, 1}, {2, 2}, {1, 0}, {1, 1}}, {13, 10}},
      {{{5, 4}, {1, 2}, {1, 1}, {2, 1}, {2, 1}}, {13, 6}},
      {{{13, 13}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, {1, 1}}};
  for (const auto& [window, out] : cases)
    for (const bool counts : {false, true}) {
      expect_pool({network::PoolKind::max, window, counts, false}, out);
      expect_pool({network::PoolKind::average, window, counts, false}, out);
    }
}

TEST(operators, means_over_images) {
  for (const Shape& result : {Shape{2, 20}, Shape{2, 20, 1, 1}})
    expect_equal_to_loops_inside({2, 20, 5, 6}, [&](Net& net, TensorId x) {
      return net.layer(network::Reduce{network::ReduceKind::mean, {2, 3}}, {x}, result);
    });
  expect_equal_to_loops_inside({2, 20, 5, 6}, [](Net& net, TensorId x) {
    return net.layer(network::Reduce{network::ReduceKind::mean, {1}}, {x}, {2, 1, 5, 6});
  });
}

void expect_resize(network::Resize op) {
  for (const std::int64_t size : {12, 18, 3, 9}) {
    SCOPED_TRACE(std::to_string(static_cast<int>(op.coordinates)) + " to " + std::to_string(size));
    const double scale = static_cast<double>(size) / 6;
    op.scales = {1, 1, scale, scale};
    expect_equal_to_loops_inside({1, 20, 6, 6}, [&](Net& net, TensorId x) {
      return net.layer(op, {x}, {1, 20, size, size});
    });
  }
}

TEST(operators, enlarging_and_shrinking) {
  using network::Coordinates;
  using network::NearestMode;
  for (const auto coordinates : {Coordinates::half_pixel, Coordinates::pytorch_half_pixel,
                                 Coordinates::align_corners, Coordinates::asymmetric}) {
    network::Resize op;
    op.coordinates = coordinates;
    op.mode = network::ResizeMode::linear;
    expect_resize(op);
    op.mode = network::ResizeMode::nearest;
    for (const auto nearest : {NearestMode::floor, NearestMode::ceil,
                               NearestMode::round_prefer_floor, NearestMode::round_prefer_ceil}) {
      op.nearest = nearest;
      expect_resize(op);
    }
  }
}

TEST(operators, concatenation_along_every_dimension) {
  for (const std::int64_t channels : {3, 16, 20})
    for (const std::size_t axis : {0u, 1u, 2u, 3u})
      expect_equal_to_loops_inside({1, channels, 5, 6}, [&](Net& net, TensorId x) {
        const TensorId other = net.unary(UnaryKind::tanh, x);
        const TensorId given = net.weights({1, channels, 5, 6});
        Shape shape = net.shape(x);
        shape[axis] *= 4;
        return net.layer(network::Concat{static_cast<std::int64_t>(axis)}, {x, other, given, x},
                         shape);
      });
}

TEST(operators, parts_and_permutations) {
  expect_equal_to_loops_inside({2, 20, 6, 6}, [](Net& net, TensorId x) {
    return net.layer(network::Slice{{0, 3, 0, 0}, {1, 1, 1, 1}}, {x}, {2, 9, 6, 6});
  });
  expect_equal_to_loops_inside({2, 20, 6, 6}, [](Net& net, TensorId x) {
    return net.layer(network::Slice{{0, 3, 5, 0}, {1, 2, -1, 1}}, {x}, {2, 8, 6, 6});
  });
  expect_equal_to_loops_inside({2, 20, 6, 6}, [](Net& net, TensorId x) {
    return net.layer(network::Slice{{0, 3, 1, 0}, {1, 2, 2, 3}}, {x}, {2, 8, 3, 2});
  });
  for (const Shape& order : {Shape{0, 2, 3, 1}, Shape{3, 1, 0, 2}, Shape{0, 1, 3, 2}})
    expect_equal_to_loops_inside({1, 20, 5, 6}, [&](Net& net, TensorId x) {
      Shape shape;
      for (const auto d : order) shape.push_back(net.shape(x)[static_cast<std::size_t>(d)]);
      const TensorId turned = net.layer(network::Transpose{order}, {x}, shape);
      return net.unary(UnaryKind::tanh, turned);
    });
}

TEST(operators, shuffled_channels) {
  expect_equal_to_loops_inside({1, 24, 5, 6}, [](Net& net, TensorId x) {
    const TensorId a = net.layer(network::Reshape{}, {x}, {1, 3, 8, 5, 6});
    const TensorId b = net.layer(network::Transpose{{0, 2, 1, 3, 4}}, {a}, {1, 8, 3, 5, 6});
    return net.layer(network::Reshape{}, {b}, {1, 24, 5, 6});
  });
}

TEST(operators, splits_whose_parts_go_different_ways) {
  for (const std::int64_t axis : {1, 3}) {
    Net net;
    const TensorId x = net.conv(net.input({1, 20, 5, 6}), 20, 3);
    const std::int64_t first = axis == 1 ? 7 : 2;
    const auto parts = net.split(axis, x, {first, (axis == 1 ? 20 : 6) - first});
    net.output(net.relu(parts[1]));
    net.output(net.conv(parts[0], 8, 1));
    expect_equal_to_loops(net);
  }
}

}  // namespace
}  // namespace millrace::engine::onednn
