#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "network/evaluate/evaluate.h"
#include "network/simplify/simplify.h"
#include "support/compare.h"
#include "support/network_builder.h"

namespace millrace::network {
namespace {

using test::NetworkBuilder;

/// Applies the passes and checks that the outputs stay what they were.
Network recognised(const Network& given) {
  Network result = recognise_normalizations(recognise_functions(given));
  validate(result);
  Random random(3);
  std::vector<Array> inputs;
  for (const TensorId id : given.inputs)
    inputs.push_back(test::random_array(random, DataType::float32, given[id].shape, {-6, 6}));
  const auto before = evaluate(given, inputs), after = evaluate(result, inputs);
  EXPECT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_LT(test::relative_error(after[i], before[i]), 2e-6);
  return result;
}

struct Form : NetworkBuilder {
  TensorId x = input({2, 3, 5});

  TensorId number(double value) {
    const std::array<float, 1> values{static_cast<float>(value)};
    return constant(make_array<float>(DataType::float32, {}, values));
  }
  TensorId plus(TensorId a, TensorId b) { return binary(BinaryKind::add, a, b); }
  TensorId times(TensorId a, TensorId b) { return binary(BinaryKind::mul, a, b); }
  TensorId over(TensorId a, TensorId b) { return binary(BinaryKind::div, a, b); }
  TensorId minus(TensorId a, TensorId b) { return binary(BinaryKind::sub, a, b); }
  TensorId power(TensorId a, double b) { return binary(BinaryKind::pow, a, number(b)); }
  TensorId mean(TensorId a, Shape axes = {2}) {
    Shape kept = shape(a);
    for (const auto axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
    return layer(Reduce{ReduceKind::mean, std::move(axes)}, {a}, kept);
  }
  Network ends_with(TensorId y) {
    output(y);
    return recognised(build());
  }
};

void expect_one(const Network& network, UnaryKind kind, double alpha = 0) {
  ASSERT_EQ(network.layers.size(), 1u);
  const auto* const unary = std::get_if<Unary>(&network.layers[0].op);
  ASSERT_NE(unary, nullptr);
  EXPECT_EQ(unary->kind, kind);
  EXPECT_EQ(unary->alpha, alpha);
}

TEST(RecogniseFunctions, finds_gelu_in_any_order) {
  const double root = std::sqrt(2.0);
  Form one;
  const TensorId erf = one.unary(UnaryKind::erf, one.over(one.x, one.number(root)));
  expect_one(
      one.ends_with(one.times(one.times(one.x, one.plus(erf, one.number(1))), one.number(0.5))),
      UnaryKind::gelu);
  Form other;
  const TensorId scaled = other.times(other.number(1 / root), other.x);
  const TensorId half = other.times(other.number(0.5), other.x);
  expect_one(other.ends_with(other.times(
                 other.plus(other.number(1), other.unary(UnaryKind::erf, scaled)), half)),
             UnaryKind::gelu);
}

TEST(RecogniseFunctions, finds_gelu_with_tanh) {
  for (const bool by_power : {false, true}) {
    Form f;
    const TensorId cube = by_power ? f.power(f.x, 3) : f.times(f.x, f.times(f.x, f.x));
    const TensorId inner = f.plus(f.x, f.times(cube, f.number(0.044715)));
    const TensorId tanh =
        f.unary(UnaryKind::tanh, f.times(inner, f.number(std::sqrt(2 / 3.14159265358979))));
    expect_one(f.ends_with(f.times(f.times(f.x, f.number(0.5)), f.plus(tanh, f.number(1)))),
               UnaryKind::gelu_tanh);
  }
}

TEST(RecogniseFunctions, finds_swish_mish_and_hard_swish) {
  Form swish;
  const TensorId gate = swish.unary(UnaryKind::sigmoid, swish.times(swish.x, swish.number(1.702)));
  expect_one(swish.ends_with(swish.times(swish.x, gate)), UnaryKind::swish, 1.702);
  Form mish;
  const TensorId tanh = mish.unary(UnaryKind::tanh, mish.unary(UnaryKind::softplus, mish.x));
  expect_one(mish.ends_with(mish.times(mish.x, tanh)), UnaryKind::mish);
  Form hard;
  const TensorId clip = hard.unary(UnaryKind::clip, hard.plus(hard.x, hard.number(3)), 0, 6);
  expect_one(hard.ends_with(hard.over(hard.times(hard.x, clip), hard.number(6))),
             UnaryKind::hard_swish);
}

TEST(RecogniseFunctions, leaves_what_only_looks_alike) {
  Form clipped;  // far from 0 it is another function
  const TensorId gate = clipped.unary(UnaryKind::sigmoid, clipped.x);
  const TensorId swish = clipped.times(clipped.x, gate);
  EXPECT_EQ(clipped.ends_with(clipped.unary(UnaryKind::clip, swish, -1e9, 1000)).layers.size(), 3u);
  Form read;  // the error function is needed outside
  const TensorId erf = read.unary(UnaryKind::erf, read.over(read.x, read.number(std::sqrt(2.0))));
  read.output(erf);
  EXPECT_EQ(read.ends_with(read.times(read.times(read.x, read.plus(erf, read.number(1))),
                                      read.number(0.5)))
                .layers.size(),
            5u);
  Form by_channel;  // not one number
  const TensorId factors = by_channel.constant({3, 1}, {1.70, 1.71});
  const TensorId sigmoid =
      by_channel.unary(UnaryKind::sigmoid, by_channel.times(by_channel.x, factors));
  EXPECT_EQ(by_channel.ends_with(by_channel.times(by_channel.x, sigmoid)).layers.size(), 3u);
}

TEST(RecogniseFunctions, keeps_what_guards_a_logarithm_or_a_division) {
  const auto layers_with = [](const std::function<TensorId(Form&, TensorId)>& guarded) {
    Form f;
    const TensorId one = f.number(1);
    const TensorId raised = f.unary(UnaryKind::exp, f.minus(f.number(0), f.x));
    return f.ends_with(guarded(f, f.over(one, f.plus(one, raised)))).layers.size();
  };
  EXPECT_EQ(layers_with([](Form&, TensorId sigmoid) { return sigmoid; }), 1u);
  for (const double small : {1e-12, 1e-7, 1.5e-5}) {
    EXPECT_EQ(layers_with([&](Form& f, TensorId sigmoid) {
                return f.unary(UnaryKind::clip, sigmoid, small, 1 - small);
              }),
              2u);
    EXPECT_EQ(layers_with([&](Form& f, TensorId sigmoid) {
                return f.binary(BinaryKind::max, sigmoid, f.number(small));
              }),
              2u);
    EXPECT_EQ(
        layers_with([&](Form& f, TensorId sigmoid) { return f.plus(sigmoid, f.number(small)); }),
        2u);
  }
}

const Normalization& only_normalization(const Network& network) {
  EXPECT_EQ(network.layers.size(), 1u);
  return std::get<Normalization>(network.layers.at(0).op);
}

TEST(RecogniseNormalizations, finds_layer_normalization) {
  for (const bool affine : {false, true}) {
    Form f;
    const TensorId centred = f.minus(f.x, f.mean(f.x));
    const TensorId again = affine ? centred : f.minus(f.x, f.mean(f.x));
    const TensorId variance = f.mean(affine ? f.power(centred, 2) : f.times(centred, centred));
    const TensorId root = f.unary(UnaryKind::sqrt, f.plus(variance, f.number(1e-5)));
    TensorId y = affine ? f.over(again, root) : f.over(centred, root);
    if (affine) y = f.plus(f.times(y, f.constant({5})), f.constant({1, 5}));
    const Network network = f.ends_with(y);
    const Normalization& op = only_normalization(network);
    EXPECT_TRUE(op.centred);
    EXPECT_EQ(op.axis, 2);
    EXPECT_FLOAT_EQ(op.epsilon, 1e-5f);
    EXPECT_EQ(network.layers[0].inputs.size(), affine ? 3u : 1u);
  }
}

TEST(RecogniseNormalizations, finds_normalization_by_the_root_of_the_mean_square) {
  for (const bool reciprocal : {false, true}) {
    Form f;
    const TensorId variance = f.plus(f.mean(f.power(f.x, 2), {1, 2}), f.number(1e-3));
    const TensorId y = reciprocal
                           ? f.times(f.power(variance, -0.5), f.x)
                           : f.times(f.x, f.over(f.number(1), f.unary(UnaryKind::sqrt, variance)));
    const Network network = f.ends_with(f.times(f.constant({3, 5}), y));
    const Normalization& op = only_normalization(network);
    EXPECT_FALSE(op.centred);
    EXPECT_EQ(op.axis, 1);
    EXPECT_EQ(network.layers[0].inputs.size(), 2u);
  }
}

TEST(RecogniseNormalizations, leaves_results_of_more_dimensions) {
  Form f;
  const TensorId epsilon =
      f.constant(make_array<float>(DataType::float32, {1, 1, 1, 1}, std::array<float, 1>{1e-3f}));
  const TensorId variance = f.plus(f.mean(f.power(f.x, 2)), epsilon);
  EXPECT_EQ(f.ends_with(f.over(f.x, f.unary(UnaryKind::sqrt, variance))).layers.size(), 5u);
}

TEST(RecogniseNormalizations, leaves_means_over_other_dimensions_and_what_others_read) {
  Form channels;
  const TensorId centred = channels.minus(channels.x, channels.mean(channels.x, {1}));
  const TensorId variance = channels.mean(channels.power(centred, 2), {1});
  EXPECT_EQ(channels
                .ends_with(channels.over(
                    centred, channels.unary(UnaryKind::sqrt,
                                            channels.plus(variance, channels.number(1e-5)))))
                .layers.size(),
            7u);
  Form read;
  const TensorId difference = read.minus(read.x, read.mean(read.x));
  read.output(difference);
  const TensorId spread = read.plus(read.mean(read.power(difference, 2)), read.number(1e-5));
  const Network network =
      read.ends_with(read.over(difference, read.unary(UnaryKind::sqrt, spread)));
  // What is left normalises the difference by its own mean square.
  EXPECT_EQ(network.layers.size(), 3u);
  EXPECT_FALSE(std::get<Normalization>(network.layers.back().op).centred);
}

}  // namespace
}  // namespace millrace::network
