// Convolutions in groups of few channels, in every way that the machine has for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "engine/onednn/onednn.h"
#include "nets.h"

namespace millrace::engine::onednn {
namespace {

using namespace test::onednn;  // NOLINT: the vocabulary of these tests
using network::UnaryKind;

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

/// A convolution of images, perhaps with an activation and a sum.
network::Network any_net(Random& random) {
  const std::int64_t groups = between(random, 2, 9);
  const bool is_tall = random.below(3) == 0;  // cut into rows
  const bool is_deep = random.below(5) == 0;
  const Shape image{between(random, 1, 2),
                    groups * (is_deep ? between(random, 16, 70) : between(random, 1, 15)),
                    is_tall ? between(random, 60, 140) : between(random, 1, 40),
                    between(random, 1, is_tall || is_deep ? 20 : 90)};
  network::Window window;
  for (std::size_t d = 0; d < 2; ++d) {
    window.kernel.push_back(between(random, 1, std::min<std::int64_t>(7, image[d + 2])));
    window.strides.push_back(between(random, 1, 3));
    window.dilations.push_back(window.kernel[d] * 2 - 1 <= image[d + 2] ? between(random, 1, 2)
                                                                        : 1);
    window.pads_begin.push_back(between(random, 0, window.kernel[d] - 1));
    window.pads_end.push_back(between(random, 0, window.kernel[d] - 1));
  }
  const std::int64_t outputs = groups * between(random, 1, 7);
  Net net;
  std::vector<TensorId> inputs{net.input(image), net.weights({outputs, image[1] / groups,
                                                              window.kernel[0], window.kernel[1]})};
  if (random.below(2) == 0) inputs.push_back(net.weights({outputs}));
  const Shape result = test::slide(window, image, outputs);
  TensorId y = net.layer(network::Conv{window, groups}, inputs, result);
  if (random.below(3) == 0) y = net.binary(network::BinaryKind::add, y, net.input(result));
  const auto activation = random.below(4);
  if (activation == 1) y = net.relu(y);
  if (activation == 2) y = net.unary(UnaryKind::leaky_relu, y, 0.1);
  if (activation == 3) y = net.unary(UnaryKind::gelu, y);
  net.output(y);
  return net.build();
}

std::string kernel_of(Subnet& subnet, const std::vector<Array>& inputs) {
  network::Buffer out(subnet.outputs()[0].layout.size);
  std::byte* const data = out.data();
  return subnet.run_timed(pointers(inputs), std::span(&data, 1)).front().kernel;
}

TEST(SmallGroups, are_what_the_plain_loops_give_in_every_way) {
  const auto engine = make();
  Random random(36);
  int ours = 0;
  std::set<std::string> kernels;
  for (int trial = 0; trial < 150; ++trial) {
    const network::Network network = any_net(random);
    const auto inputs = inputs_of(network);
    const auto wanted = network::evaluate(network, inputs)[0];
    for (const board::Variant& way : engine->variants(network, LayerId(0), cores())) {
      if (way.precision != board::Precision::f32) continue;
      SubnetRequest request = whole_network(network, cores(1 + trial % 2));
      request.variants.resize(network.layers.size());
      request.variants[0] = way;
      const auto subnet = engine->prepare(request);
      const auto found = run(*subnet, pointers(inputs));
      const auto values = wanted.values<float>();
      const std::span result(reinterpret_cast<const float*>(found[0].data()), values.size());
      EXPECT_LT(difference(result, values), 2e-5) << to_text(way) << " " << trial;
      const std::string kernel = kernel_of(*subnet, inputs);
      if (kernel == "groups") ++ours;
      kernels.insert(kernel);
    }
  }
  if (ours == 0) GTEST_SKIP() << "oneDNN has kernels of its own for all of these groups here";
#if defined(__x86_64__)
  EXPECT_TRUE(std::ranges::any_of(kernels, [](const std::string& kernel) {
    return kernel.find("gemm") != std::string::npos;
  })) << "the products that they replace are no way any more";
#endif
}

}  // namespace
}  // namespace millrace::engine::onednn
