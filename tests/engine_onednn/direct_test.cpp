// Convolutions and products by loops of ours, where oneDNN has its reference only.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "engine/onednn/onednn.h"
#include "nets.h"

namespace millrace::engine::onednn {
namespace {

using namespace test::onednn;  // NOLINT: the vocabulary of these tests
using network::UnaryKind;

std::int64_t number_from(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

network::Window any_window(Random& random, const Shape& image) {
  network::Window window;
  for (std::size_t d = 0; d + 2 < image.size(); ++d) {
    window.kernel.push_back(number_from(random, 1, std::min<std::int64_t>(5, image[d + 2])));
    window.strides.push_back(number_from(random, 1, 2));
    window.dilations.push_back(window.kernel[d] * 2 - 1 <= image[d + 2] ? number_from(random, 1, 2)
                                                                        : 1);
    window.pads_begin.push_back(number_from(random, 0, window.kernel[d] - 1));
    window.pads_end.push_back(number_from(random, 0, window.kernel[d] - 1));
  }
  return window;
}

/// A convolution of one to three dimensions, in groups or of single channels too, with what fuses.
/// Its weights and its bias are computed, or constants.
network::Network any_convolution(Random& random) {
  const std::int64_t groups = random.below(2) == 0 ? 1 : number_from(random, 2, 12);
  Shape image{number_from(random, 1, 2), groups * number_from(random, 1, 9)};
  for (std::uint64_t d = 0; d < 1 + random.below(3); ++d)
    image.push_back(number_from(random, 3, 20));
  const bool is_depthwise = image[1] == groups;
  const std::int64_t outputs = is_depthwise ? groups : groups * number_from(random, 1, 20);
  const network::Window window = any_window(random, image);
  Shape weights{outputs, image[1] / groups};
  weights.insert(weights.end(), window.kernel.begin(), window.kernel.end());
  Net net;
  std::vector<TensorId> inputs{net.input(image)};
  inputs.push_back(random.below(3) == 0 ? net.input(weights) : net.weights(weights));
  const auto bias = random.below(4);
  if (bias > 1) inputs.push_back(bias == 2 ? net.weights({outputs}) : net.input({outputs}));
  const Shape result = test::slide(window, image, outputs);
  TensorId y = net.layer(network::Conv{window, groups}, inputs, result);
  const bool adds = random.below(2) == 0, adds_first = random.below(2) == 0;
  const auto add = [&] { y = net.binary(network::BinaryKind::add, y, net.input(result)); };
  if (adds && adds_first) add();
  const auto activation = random.below(5);
  if (activation == 4) y = net.unary(UnaryKind::hard_swish, y);
  if (activation == 1) y = net.relu(y);
  if (activation == 2) y = net.unary(UnaryKind::leaky_relu, y, 0.1);
  if (activation == 3) y = net.unary(UnaryKind::swish, y, 1);
  if (adds && !adds_first) add();
  net.output(y);
  return net.build();
}

/// Name of the first group's kernel.
std::string first_kernel_of(Subnet& subnet, const network::Network& network) {
  const auto inputs = inputs_of(network);
  network::Buffer out(subnet.outputs()[0].layout.size);
  std::byte* const data = out.data();
  return subnet.run_timed(pointers(inputs), std::span(&data, 1)).front().kernel;
}

/// By the algorithm "direct", on one or two cores.
void expect_as_plain_loops(engine::Engine& engine, const network::Network& network, int trial) {
  const auto inputs = inputs_of(network);
  const Array result_of_loops = network::evaluate(network, inputs)[0];
  const auto wanted = result_of_loops.values<float>();
  SubnetRequest request = whole_network(network, cores(1 + trial % 2));
  request.variants.resize(network.layers.size());
  request.variants[0].algorithm = "direct";
  const auto subnet = engine.prepare(request);
  const auto found = run(*subnet, pointers(inputs));
  const std::span result(reinterpret_cast<const float*>(found[0].data()), wanted.size());
  EXPECT_LT(difference(result, wanted), 1e-5) << trial;
  EXPECT_EQ(first_kernel_of(*subnet, network), "direct") << trial;
}

TEST(Direct, convolutions_are_what_the_plain_loops_give) {
  const auto engine = make();
  Random random(51);
  for (int trial = 0; trial < 150; ++trial) {
    const network::Network network = any_convolution(random);
    expect_as_plain_loops(*engine, network, trial);
  }
}

TEST(Direct, a_plan_that_asks_for_it_where_it_cannot_be_is_told_so) {
  Net net;
  net.output(net.conv(net.input({1, 4, 8, 8}), 8, 3));
  const network::Network network = net.build();
  SubnetRequest request = whole_network(network, cores());
  request.variants.resize(1);
  request.variants[0] = {board::Precision::int8, "direct"};
  EXPECT_THROW(make()->prepare(request), InputError);
}

/// Two matrices or stacks of them, of which one may be repeated, with what fuses.
network::Network any_product(Random& random) {
  const std::int64_t rows = number_from(random, 1, 40), depth = number_from(random, 1, 70),
                     columns = number_from(random, 1, 60);
  Net net;
  TensorId y;
  Shape result;
  if (random.below(2) == 0) {
    const bool turns_a = random.below(2) == 0, turns_b = random.below(2) == 0;
    const network::Gemm gemm{turns_a, turns_b, random.below(2) == 0 ? 1.f : 0.25f, 1};
    std::vector<TensorId> inputs{net.input(turns_a ? Shape{depth, rows} : Shape{rows, depth}),
                                 net.input(turns_b ? Shape{columns, depth}
                                                   : Shape{depth, columns})};
    if (random.below(2) == 0)
      inputs.push_back(random.below(2) == 0 ? net.input({columns}) : net.weights({1, columns}));
    result = {rows, columns};
    y = net.layer(gemm, inputs, result);
  } else {
    const std::int64_t images = number_from(random, 1, 3), heads = number_from(random, 1, 4);
    const std::int64_t of_b = random.below(2) == 0 ? 1 : heads;
    result = {images, heads, rows, columns};
    const TensorId a = net.input({images, heads, rows, depth});
    y = net.layer(network::MatMul{}, {a, net.input({of_b, depth, columns})}, result);
  }
  if (random.below(2) == 0) y = net.binary(network::BinaryKind::add, y, net.input(result));
  const auto activation = random.below(3);
  if (activation == 1) y = net.relu(y);
  if (activation == 2) y = net.unary(UnaryKind::leaky_relu, y, 0.1);
  net.output(y);
  return net.build();
}

TEST(Direct, products_of_two_inputs_are_what_the_plain_loops_give) {
  const auto engine = make();
  Random random(54);
  for (int trial = 0; trial < 150; ++trial) {
    const network::Network network = any_product(random);
    expect_as_plain_loops(*engine, network, trial);
  }
}

/// In the engine's own choice.
void expect_a_kernel(const Net& net, const std::string& what) {
  const auto engine = make();
  const network::Network network = net.build();
  const auto subnet = engine->prepare(whole_network(network, cores()));
  const std::string kernel = first_kernel_of(*subnet, network);
  EXPECT_EQ(kernel.find("ref"), std::string::npos) << what << ": " << kernel;
  EXPECT_NE(kernel, "loops") << what;
}

TEST(Direct, no_convolution_runs_in_reference_loops) {
  Random random(52);
  for (int trial = 0; trial < 40; ++trial) {
    Net net;
    const std::int64_t groups = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 2 : 16;
    const Shape image{1, 16, number_from(random, 7, 20), number_from(random, 7, 20)};
    const network::Window window = any_window(random, image);
    const Shape weights{32, 16 / groups, window.kernel[0], window.kernel[1]};
    net.output(net.layer(network::Conv{window, groups}, {net.input(image), net.weights(weights)},
                         test::slide(window, image, 32)));
    expect_a_kernel(net, "trial " + std::to_string(trial));
  }
}

TEST(Direct, nothing_with_computed_factors_runs_in_reference_loops) {
  Net product;
  product.output(product.layer(
      network::MatMul{}, {product.input({3, 20, 30}), product.input({3, 30, 17})}, {3, 20, 17}));
  expect_a_kernel(product, "a product");
  expect_equal_to_loops(product);
  Net convolution;
  const network::Window window = test::window(3, {.pad = 1});
  convolution.output(convolution.layer(
      network::Conv{window, 1},
      {convolution.input({1, 4, 8, 8}), convolution.input({8, 4, 3, 3}), convolution.input({8})},
      {1, 8, 8, 8}));
  expect_a_kernel(convolution, "a convolution");
  expect_equal_to_loops(convolution);
}

TEST(Direct, no_product_with_a_constant_runs_in_reference_loops) {
  for (const std::int64_t rows : {1, 3, 50}) {
    Net net;
    net.output(net.layer(network::MatMul{}, {net.input({rows, 30}), net.weights({30, 17})},
                         {rows, 17}));
    expect_a_kernel(net, std::to_string(rows) + " rows");
    expect_equal_to_loops(net);
    Net with_bias;
    const network::Gemm gemm{.transpose_b = true};
    with_bias.output(with_bias.relu(with_bias.layer(
        gemm,
        {with_bias.input({rows, 30}), with_bias.weights({20, 30}), with_bias.weights({20})},
        {rows, 20})));
    expect_a_kernel(with_bias, std::to_string(rows) + " rows and a bias");
    expect_equal_to_loops(with_bias);
  }
}

/// Transposed convolution of one to three dimensions, with an activation; the result has some more
/// rows at its end, or some fewer. Weights may be computed.
Net any_transposed(Random& random) {
  const std::int64_t groups = random.below(2) == 0 ? 1 : 4, stride = number_from(random, 1, 3);
  const std::int64_t kernel = number_from(random, 1, 5), pad = number_from(random, 0, kernel / 2);
  Shape image{1, 8 * groups}, weights{8 * groups, 12}, result{1, 12 * groups};
  network::Window window;
  for (std::uint64_t d = 0, rank = 1 + random.below(3); d < rank; ++d) {
    image.push_back(number_from(random, 3, 9));
    weights.push_back(kernel);
    result.push_back((image.back() - 1) * stride + kernel - 2 * pad +
                     number_from(random, 0, stride - 1));
    window.kernel.push_back(kernel);
    window.strides.push_back(stride);
    window.dilations.push_back(1);
    window.pads_begin.push_back(pad);
    window.pads_end.push_back(pad);
  }
  Net net;
  const network::ConvTranspose op{window, groups};
  std::vector<TensorId> inputs{net.input(image)};
  inputs.push_back(random.below(4) == 0 ? net.input(weights) : net.weights(weights));
  inputs.push_back(net.weights({12 * groups}));
  net.output(net.relu(net.layer(op, inputs, result)));
  return net;
}

TEST(Direct, no_transposed_convolution_runs_in_reference_loops) {
  Random random(53);
  for (int trial = 0; trial < 60; ++trial) {
    const Net net = any_transposed(random);
    const network::Network network = net.build();
    SCOPED_TRACE(testing::Message() << "trial " << trial << ", rank "
                                    << network[network.layers[0].inputs[0]].shape.size()
                                    << (network[network.layers[0].inputs[1]].constant
                                            ? ""
                                            : ", computed weights"));
    expect_a_kernel(net, "trial " + std::to_string(trial));
    expect_equal_to_loops(net);
  }
}

}  // namespace
}  // namespace millrace::engine::onednn
