// Every way to run a layer that the engine offers gives the same, as exactly as its precision
// allows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "engine/onednn/onednn.h"
#include "nets.h"

namespace millrace::engine::onednn {
namespace {

using namespace test::onednn;  // NOLINT: the vocabulary of these tests
using board::Precision;
using board::Variant;

/// Convolutions of several kinds with what fuses and what does not, and a product at the end.
network::Network sample() {
  Net net;
  TensorId x = net.relu(net.conv(net.input({1, 3, 28, 28}), 32, 3));
  const TensorId shortcut = net.conv(x, 64, 1);
  x = net.relu(net.conv(x, 64, 3));
  x = net.relu(net.binary(network::BinaryKind::add, net.conv(x, 64, 3), shortcut));
  x = net.pool({network::PoolKind::max, network::Window{{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}},
               x);
  x = net.concat(1, {net.relu(net.conv(x, 32, 1)), net.relu(net.conv(x, 32, 5))});
  x = net.layer(network::Reshape{}, {x}, {1, 64 * 14 * 14});
  net.output(net.layer(network::MatMul{}, {x, net.weights({64 * 14 * 14, 10})}, {1, 10}));
  return net.build();
}

/// Activations with a small part below zero, in front of windows that reach over the border: what
/// 8 bits hold with an integer that stands for 0.
network::Network sample_of_swish() {
  Net net;
  const auto swish = [&](TensorId x) {
    return net.binary(network::BinaryKind::mul, x, net.unary(network::UnaryKind::sigmoid, x));
  };
  TensorId x = swish(net.conv(net.input({1, 3, 28, 28}), 32, 3));
  x = swish(net.NetworkBuilder::conv(x, 32, test::window(5, {.pad = 2}), 32));
  const TensorId shortcut = swish(net.conv(x, 32, 1));
  x = swish(net.conv(shortcut, 32, 3));
  x = net.binary(network::BinaryKind::add, shortcut, x);
  x = net.concat(1, {net.pool({network::PoolKind::max, test::window(3, {.pad = 1})}, x),
                     swish(net.conv(x, 16, 3)), shortcut});
  x = swish(net.conv(x, 24, 5));
  net.output(net.conv(x, 10, 1));
  return net.build();
}

/// The ranges that the tensors have for the inputs of these tests.
network::Calibration calibrate(const network::Network& network) {
  network::Network observed = network;
  observed.outputs = network.inputs;
  for (const network::Layer& layer : network.layers)
    observed.outputs.insert(observed.outputs.end(), layer.outputs.begin(), layer.outputs.end());
  network::Calibration calibration;
  const auto arrays = network::evaluate(observed, inputs_of(network));
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto values = arrays[i].values<float>();
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    calibration.ranges[network[observed.outputs[i]].name] = {*low, *high};
  }
  return calibration;
}

std::vector<Array> results_with(Engine& engine, const network::Network& network,
                                const std::vector<Variant>& variants,
                                const network::Calibration& calibration) {
  SubnetRequest request = whole_network(network, cores());
  request.variants = variants;
  request.calibration = &calibration;
  const auto inputs = inputs_of(network);
  auto buffers = run(*engine.prepare(request), pointers(inputs));
  std::vector<Array> arrays;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto& tensor = network[network.outputs[i]];
    arrays.push_back(network::make_array(tensor.type, tensor.shape, std::move(buffers[i])));
  }
  return arrays;
}

std::vector<Array> results_with(Engine& engine, const network::Network& network,
                                const std::vector<Variant>& variants) {
  return results_with(engine, network, variants, calibrate(network));
}

double bound_of(const Variant& variant) {
  constexpr double bounds[] = {1e-3, 4e-3, 3e-2, 6e-2};  // by Precision
  return bounds[static_cast<std::size_t>(variant.precision)];
}

TEST(Ways, each_gives_what_the_plain_loops_give) {
  const auto engine = make();
  const network::Network network = sample();
  const auto wanted = network::evaluate(network, inputs_of(network));
  std::size_t count = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    for (const Variant& way : engine->variants(network, LayerId(i), cores())) {
      std::vector<Variant> variants(network.layers.size());
      variants[i] = way;
      const auto found = results_with(*engine, network, variants);
      EXPECT_LT(difference(found[0].values<float>(), wanted[0].values<float>()), bound_of(way))
          << network.layers[i].name << " " << to_text(way);
      ++count;
    }
  EXPECT_GT(count, network.layers.size());
}

TEST(Ways, each_gives_what_the_plain_loops_give_with_small_parts_below_zero) {
  const auto engine = make();
  const network::Network network = sample_of_swish();
  const auto wanted = network::evaluate(network, inputs_of(network));
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    for (const Variant& way : engine->variants(network, LayerId(i), cores())) {
      std::vector<Variant> variants(network.layers.size());
      variants[i] = way;
      const auto found = results_with(*engine, network, variants);
      EXPECT_LT(difference(found[0].values<float>(), wanted[0].values<float>()), bound_of(way))
          << network.layers[i].name << " " << to_text(way);
    }
}

/// Channels that fill no group of four, and images of whole vectors of pixels, which oneDNN's
/// conversions have to move and shift at once.
TEST(Ways, each_of_int8_reads_any_number_of_channels) {
  const auto engine = make();
  for (const std::int64_t channels : {17, 33, 34, 63}) {
    Net net;
    // Row-major before and behind the convolution, with a small part below zero.
    const TensorId x = net.input({1, channels, 8, 8});
    const TensorId y = net.unary(network::UnaryKind::sigmoid, x);
    net.output(net.conv(net.binary(network::BinaryKind::mul, x, y), channels, 3));
    const network::Network network = net.build();
    const auto wanted = network::evaluate(network, inputs_of(network));
    for (const Variant& way : engine->variants(network, LayerId(2), cores())) {
      std::vector<Variant> variants(network.layers.size());
      variants[2] = way;
      const auto found = results_with(*engine, network, variants);
      EXPECT_LT(difference(found[0].values<float>(), wanted[0].values<float>()), bound_of(way))
          << channels << " " << to_text(way);
    }
  }
}

/// Most layers in int8, each in any way.
std::vector<Variant> any_int8(Engine& engine, const network::Network& network, Random& random) {
  std::vector<Variant> variants(network.layers.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    auto ways = engine.variants(network, LayerId(i), cores());
    std::erase_if(ways, [](const Variant& way) { return way.precision != Precision::int8; });
    if (!ways.empty() && random.below(8) > 0) variants[i] = ways[random.below(ways.size())];
  }
  return variants;
}

/// Whatever kernel reads a tensor, and whether it takes another integer than 0 for 0.
TEST(Ways, kernels_of_int8_agree_about_the_integers_between_them) {
  const auto engine = make();
  Random random(3);
  for (const network::Network& network : {sample_of_swish(), sample()}) {
    const auto wanted = network::evaluate(network, inputs_of(network));
    for (int round = 0; round < 12; ++round) {
      const auto found = results_with(*engine, network, any_int8(*engine, network, random));
      EXPECT_LT(difference(found[0].values<float>(), wanted[0].values<float>()), 6e-2) << round;
    }
  }
}

/// By how much the mean of a channel is off, at most.
double largest_shift(const Array& found, const Array& wanted) {
  const auto a = found.values<float>(), b = wanted.values<float>();
  const auto channels = static_cast<std::size_t>(wanted.shape[1]);
  const std::size_t pixels = b.size() / channels;
  double most = 0;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    double shift = 0;
    for (std::size_t i = channel * pixels; i < (channel + 1) * pixels; ++i)
      shift += (double{a[i]} - double{b[i]}) / static_cast<double>(pixels);
    most = std::max(most, std::abs(shift));
  }
  return most;
}

/// All pixels above 0, so that the rounding of the weights shifts the results.
TEST(Ways, int8_corrects_biases_by_the_means_of_what_convolutions_read) {
  const auto engine = make();
  for (const std::int64_t groups : {1, 4}) {
    Net net;
    const TensorId x = net.unary(network::UnaryKind::sigmoid, net.input({1, 16, 28, 28}));
    net.output(net.NetworkBuilder::conv(x, 32, test::window(1), groups));
    const network::Network network = net.build();
    const Array wanted = network::evaluate(network, inputs_of(network))[0];
    network::Calibration calibration = calibrate(network);
    network::Network read = network;
    read.outputs = {x};
    const Array pixels = network::evaluate(read, inputs_of(network))[0];
    std::vector<float>& means = calibration.means[network[x].name];
    for (std::size_t channel = 0; channel < 16; ++channel) {
      const auto of_channel = pixels.values<float>().subspan(channel * 784, 784);
      means.push_back(std::accumulate(of_channel.begin(), of_channel.end(), 0.f) / 784);
    }
    for (const Variant& way : engine->variants(network, LayerId(1), cores())) {
      if (way.precision != Precision::int8) continue;
      const std::vector<Variant> ways{{}, way};
      const Array given = results_with(*engine, network, ways)[0];
      const Array corrected = results_with(*engine, network, ways, calibration)[0];
      EXPECT_LT(largest_shift(corrected, wanted), 0.3 * largest_shift(given, wanted))
          << to_text(way) << " in groups " << groups;
    }
  }
}

/// A layer alone with random weights.
network::Network alone(std::int64_t channels, std::int64_t side, std::int64_t kernel) {
  Net net;
  net.output(net.conv(net.input({1, channels, side, side}), 32, kernel));
  return net.build();
}

double largest(const Array& array) {
  double most = 0;
  for (const float value : array.values<float>())
    most = std::max(most, std::abs(static_cast<double>(value)));
  return most;
}

/// How far a sum of `products`, none above `factor`, may be off. Sums are rounded at every
/// step. What the operands lose to a lower precision has random signs, so it grows with the root.
/// Two terms lose 2^-17 of each factor, and the product of the low ones (kernels::AmxFactors).
double bound_of_sum(const Variant& variant, std::int64_t products, double factor) {
  constexpr double step = 4 * 0x1p-24, two_terms = 3 * 0x1p-17;
  constexpr double operands[] = {0, 1. / 256, 1. / 64, 1. / 24};  // by Precision
  double lost = operands[static_cast<std::size_t>(variant.precision)];
  if (variant.algorithm.starts_with("winograd")) lost *= 2;
#if defined(__aarch64__)  // there what is multiplied is of float16 too, and so are short sums
  if (variant.algorithm == "winograd_4x4" && variant.precision == Precision::f16) lost *= 1.5;
#endif
  if (variant.algorithm == "amx_bf16x3") lost = two_terms;
  const auto count = static_cast<double>(products);
  return (step * count + lost * std::sqrt(count)) * factor;
}

TEST(Ways, each_gives_every_element_as_exactly_as_its_number_of_products_allows) {
  const auto engine = make();
  struct Shape {
    std::int64_t channels, side, kernel;
  };
  for (const Shape& shape :
       {Shape{3, 28, 3}, Shape{16, 14, 1}, Shape{64, 28, 3}, Shape{64, 14, 5}, Shape{256, 14, 3}}) {
    const network::Network network = alone(shape.channels, shape.side, shape.kernel);
    const std::int64_t products = shape.channels * shape.kernel * shape.kernel;
    const auto inputs = inputs_of(network);
    const auto wanted = network::evaluate(network, inputs);
    const Array& weights = *network[network.layers[0].inputs[1]].constant;
    for (const Variant& way : engine->variants(network, LayerId(0), cores())) {
      const double bound = bound_of_sum(way, products, largest(inputs[0]) * largest(weights));
      const auto found = results_with(*engine, network, {way});
      const auto a = found[0].values<float>(), b = wanted[0].values<float>();
      double worst = 0;
      for (std::size_t i = 0; i < b.size(); ++i)
        worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
      EXPECT_LT(worst, bound) << to_text(way) << " of " << products << " products";
    }
  }
}

/// A network of functions, averages and a softmax between convolutions: they read what these make.
network::Network sample_of_functions() {
  Net net;
  TensorId x = net.conv(net.input({1, 3, 28, 28}), 24, 3);
  x = net.unary(network::UnaryKind::hard_swish, x);
  x = net.unary(network::UnaryKind::gelu, net.conv(x, 20, 3));
  x = net.pool({network::PoolKind::average, test::window(3, {.stride = 2, .pad = 1})}, x);
  x = net.unary(network::UnaryKind::sigmoid, net.conv(x, 32, 1));
  const network::Reduce mean{network::ReduceKind::mean, {2, 3}};
  const TensorId means = net.layer(mean, {x}, {1, 32});
  x = net.layer(network::MatMul{}, {means, net.weights({32, 10})}, {1, 10});
  net.output(net.layer(network::Softmax{1, 2}, {x}, {1, 10}));
  return net.build();
}

TEST(Ways, a_whole_network_in_a_precision_gives_what_the_plain_loops_give) {
  const auto engine = make();
  for (const network::Network& network : {sample(), sample_of_functions()}) {
    const auto wanted = network::evaluate(network, inputs_of(network));
    for (const Variant& way : engine->variants(network, LayerId(0), cores())) {
      if (!way.algorithm.empty()) continue;
      const auto found =
          results_with(*engine, network, std::vector<Variant>(network.layers.size(), way));
      EXPECT_LT(difference(found[0].values<float>(), wanted[0].values<float>()), bound_of(way))
          << to_text(way) << " of " << network.layers.size() << " layers";
    }
  }
}

/// The layers [begin, end), from and to what lies in `memory`.
void run_part(Engine& engine, SubnetRequest request, std::pair<std::size_t, std::size_t> part,
              std::map<TensorId, std::pair<Layout, network::Buffer>>& memory) {
  const network::Network& network = *request.network;
  request.layers.clear();
  for (std::size_t i = part.first; i < part.second; ++i) request.layers.emplace_back(i);
  const Border border = border_of(network, request.layers);
  request.inputs.clear();
  std::vector<const std::byte*> in;
  for (const TensorId id : border.inputs) {
    request.inputs.push_back({id, memory.at(id).first});
    in.push_back(memory.at(id).second.data());
  }
  request.outputs = border.outputs;
  request.plain.clear();
  for (const TensorId id : border.outputs) request.plain.push_back(id == network.outputs[0]);
  const auto subnet = engine.prepare(request);
  auto buffers = run(*subnet, in);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    memory[subnet->outputs()[i].tensor] = {subnet->outputs()[i].layout, std::move(buffers[i])};
}

TEST(Ways, a_border_may_lie_anywhere_in_an_int8_network) {
  const auto engine = make();
  const network::Network network = sample();
  const auto wanted = network::evaluate(network, inputs_of(network));
  const network::Calibration calibration = calibrate(network);
  SubnetRequest request = whole_network(network, cores());
  request.calibration = &calibration;
  request.variants.assign(network.layers.size(), Variant{Precision::int8, {}});
  for (std::size_t step = 1; step <= 3; ++step) {
    std::map<TensorId, std::pair<Layout, network::Buffer>> memory;
    for (const Array& input : inputs_of(network)) {
      network::Buffer copy(Bytes{static_cast<std::int64_t>(input.bytes().size())});
      std::copy(input.bytes().begin(), input.bytes().end(), copy.data());
      memory[network.inputs[0]] = {plain_layout(network[network.inputs[0]]), std::move(copy)};
    }
    for (std::size_t i = 0; i < network.layers.size(); i += step)
      run_part(*engine, request, {i, std::min(i + step, network.layers.size())}, memory);
    const auto* values =
        reinterpret_cast<const float*>(memory.at(network.outputs[0]).second.data());
    EXPECT_LT(difference({values, 10}, wanted[0].values<float>()), 6e-2) << step;
  }
}

TEST(Ways, int8_without_a_range_for_its_tensors_is_refused) {
  const auto engine = make();
  const network::Network network = sample();
  SubnetRequest request = whole_network(network, cores());
  request.variants.assign(network.layers.size(), Variant{Precision::int8, {}});
  try {
    engine->prepare(request);
    FAIL() << "prepared";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("calibrate"), std::string::npos) << error.what();
  }
}

/// oneDNN's search takes seconds for 4096 and minutes for 2000x2000.
TEST(Ways, huge_windows_are_left_to_the_plain_loops) {
  const auto ways = [](const Shape& window) {
    Net net;
    const Shape ones(window.size(), 1), none(window.size(), 0);
    Shape image{1, 1}, result{1, 1};
    for (const std::int64_t size : window) {
      image.push_back(size + 1);
      result.push_back(2);
    }
    Shape weights{1, 1};
    weights.insert(weights.end(), window.begin(), window.end());
    const network::Conv conv{{window, ones, ones, none, none}, 1};
    net.output(net.layer(conv, {net.input(image), net.weights(weights)}, result));
    const network::Network network = net.build();
    return make()->variants(network, LayerId(0), cores());
  };
  // With AMX, tiles of ours are another way.
  const auto in_float32 = [&](const Shape& window) {
    return std::ranges::count_if(ways(window), [](const Variant& way) {
      return way.precision == Precision::f32 && way.algorithm != split_on_tiles;
    });
  };
  EXPECT_EQ(in_float32({1, 4096}), 1);
  EXPECT_EQ(in_float32({200, 200}), 1);
}

}  // namespace
}  // namespace millrace::engine::onednn
