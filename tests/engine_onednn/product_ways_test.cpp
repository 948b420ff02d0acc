// Products with a constant matrix, in every way that the machine has for them.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>

#include "engine/onednn/onednn.h"
#include "nets.h"

namespace millrace::engine::onednn {
namespace {

using namespace test::onednn;  // NOLINT: the vocabulary of these tests
using network::BinaryKind, network::UnaryKind;

struct Form {
  std::int64_t frames = 1, rows = 1, channels = 1, outputs = 1;
  bool is_gemm = false, turned = false, has_bias = false, adds = false;
  int activation = 0;

  std::string text() const {
    return fmt::format("{} x {} rows, {} to {}, gemm {} {} {}, adds {}, activation {}", frames,
                       rows, channels, outputs, is_gemm, turned, has_bias, adds, activation);
  }
};

template <std::size_t n>
std::int64_t any_of(Random& random, const std::array<std::int64_t, n>& numbers) {
  return numbers[random.below(n)];
}

Form any_form(Random& random) {
  Form form;
  form.is_gemm = random.below(2) == 0;
  form.frames = form.is_gemm ? 1 : 1 + static_cast<std::int64_t>(random.below(2));
  form.rows = any_of<9>(random, {1, 7, 15, 16, 17, 33, 64, 197, 700});
  form.channels = any_of<9>(random, {1, 3, 31, 32, 33, 64, 100, 256, 1100});
  form.outputs = any_of<7>(random, {1, 5, 16, 17, 32, 48, 100});
  form.turned = random.below(2) == 0;
  form.has_bias = random.below(2) == 0;
  form.adds = random.below(2) == 0;
  form.activation = static_cast<int>(random.below(5));
  return form;
}

TensorId activated(Net& net, TensorId x, int activation) {
  if (activation == 1) return net.relu(x);
  if (activation == 2) return net.unary(UnaryKind::leaky_relu, x, 0.1);
  if (activation == 3) return net.binary(BinaryKind::mul, x, net.unary(UnaryKind::sigmoid, x));
  return activation == 4 ? net.unary(UnaryKind::gelu, x) : x;
}

network::Network network_of(const Form& form) {
  Net net;
  const Shape in =
      form.is_gemm ? Shape{form.rows, form.channels} : Shape{form.frames, form.rows, form.channels};
  Shape out = in;
  out.back() = form.outputs;
  const TensorId x = net.input(in), other = form.adds ? net.input(out) : TensorId();
  const bool turned = form.is_gemm && form.turned;
  std::vector<TensorId> inputs{x, turned ? net.weights({form.outputs, form.channels})
                                         : net.weights({form.channels, form.outputs})};
  if (form.is_gemm && form.has_bias) inputs.push_back(net.weights({form.outputs}));
  TensorId y = form.is_gemm ? net.layer(network::Gemm{false, turned, 1, 1}, inputs, out)
                            : net.layer(network::MatMul{}, inputs, out);
  if (form.adds) y = net.binary(BinaryKind::add, y, other);
  net.output(activated(net, y, form.activation));
  return net.build();
}

/// Two terms lose more where few products are summed up: 2^-16 of each.
TEST(ProductWays, each_gives_what_the_plain_loops_give_whatever_is_fused) {
  const auto engine = make();
  Random random(16);
  for (int trial = 0; trial < 300; ++trial) {
    const Form form = any_form(random);
    const network::Network network = network_of(form);
    const auto inputs = inputs_of(network);
    const auto wanted = network::evaluate(network, inputs)[0];
    for (const board::Variant& way : engine->variants(network, LayerId(0), cores())) {
      if (way.precision != board::Precision::f32) continue;
      SubnetRequest request = whole_network(network, cores());
      request.variants.resize(network.layers.size());
      request.variants[0] = way;
      const auto found = run(*engine->prepare(request), pointers(inputs));
      const auto values = wanted.values<float>();
      const std::span result(reinterpret_cast<const float*>(found[0].data()), values.size());
      EXPECT_LT(difference(result, values), 4e-5) << to_text(way) << ": " << form.text();
    }
  }
}

}  // namespace
}  // namespace millrace::engine::onednn
