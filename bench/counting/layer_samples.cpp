#include <cmath>

#include "samples.h"
#include "support/network_builder.h"

namespace millrace::counting {
namespace {

using network::Network;
using network::Shape;
using test::NetworkBuilder;
using test::window;

struct ConvSize {
  std::int64_t channels, size, filters, groups = 1;
};

Sample convolution(const std::string& name, const ConvSize& size, const network::Window& window) {
  return {name, SampleKind::layer, [=] {
            NetworkBuilder net;
            const TensorId x = net.input({1, size.channels, size.size, size.size});
            net.output(net.conv(x, size.filters, window, size.groups));
            return net.build();
          }};
}

Network product_of(std::int64_t rows, std::int64_t depth, std::int64_t columns) {
  NetworkBuilder net;
  const TensorId x = net.input({1, rows, depth});
  const double most = 1 / std::sqrt(static_cast<double>(depth));
  net.output(net.layer(network::MatMul{}, {x, net.constant({depth, columns}, {-most, most})},
                       {1, rows, columns}));
  return net.build();
}

Network recurrent_of(network::RecurrentKind kind, std::int64_t steps, std::int64_t units) {
  using network::GateFunction;
  const bool is_lstm = kind == network::RecurrentKind::lstm;
  const std::int64_t gates = is_lstm ? 4 : 3;
  network::Recurrent op;
  op.kind = kind;
  op.hidden = units;
  op.gates = {{GateFunction::sigmoid}, {GateFunction::tanh}};
  if (is_lstm) op.gates.push_back({GateFunction::tanh});
  const double most = 1 / std::sqrt(static_cast<double>(units));
  NetworkBuilder net;
  const TensorId x = net.input({steps, 1, units});
  net.output(net.layer(op,
                       {x, net.constant({1, gates * units, units}, {-most, most}),
                        net.constant({1, gates * units, units}, {-most, most}),
                        net.constant({1, 2 * gates * units}, {-most, most})},
                       {steps, 1, 1, units}));
  return net.build();
}

Sample product(const std::string& name, std::int64_t rows, std::int64_t depth,
               std::int64_t columns) {
  return {name, SampleKind::layer, [=] { return product_of(rows, depth, columns); }};
}

Sample recurrent(const std::string& name, network::RecurrentKind kind) {
  return {name, SampleKind::layer, [=] { return recurrent_of(kind, 32, 128); }};
}

}  // namespace

const std::vector<Sample>& layer_samples() {
  static const std::vector<Sample> samples{
      convolution("conv 3x3, 64 to 64, 56x56", {64, 56, 64}, window(3, {.pad = 1})),
      convolution("conv 3x3, 512 to 512, 7x7", {512, 7, 512}, window(3, {.pad = 1})),
      convolution("conv 3x3 stride 2, 128 to 128, 56x56", {128, 56, 128},
                  window(3, {.stride = 2, .pad = 1})),
      convolution("conv 3x3 dilation 2, 64 to 64, 28x28", {64, 28, 64},
                  window(3, {.pad = 2, .dilation = 2})),
      convolution("conv 3x3 in 32 groups, 128 to 128, 56x56", {128, 56, 128, 32},
                  window(3, {.pad = 1})),
      convolution("conv 3x3 stride 2, 3 to 32, 224x224", {3, 224, 32},
                  window(3, {.stride = 2, .pad = 1})),
      convolution("conv 7x7 stride 2, 3 to 64, 224x224", {3, 224, 64},
                  window(7, {.stride = 2, .pad = 3})),
      convolution("conv 1x1, 64 to 256, 56x56", {64, 56, 256}, window(1)),
      convolution("conv 1x1, 512 to 128, 7x7", {512, 7, 128}, window(1)),
      convolution("depthwise 3x3, 32, 112x112", {32, 112, 32, 32}, window(3, {.pad = 1})),
      convolution("depthwise 3x3 stride 2, 96, 112x112", {96, 112, 96, 96},
                  window(3, {.stride = 2, .pad = 1})),
      convolution("depthwise 5x5, 240, 14x14", {240, 14, 240, 240}, window(5, {.pad = 2})),
      product("product 197x192x768", 197, 192, 768),
      product("product 1x1024x1000", 1, 1024, 1000),
      recurrent("gru, 32 steps of 128", network::RecurrentKind::gru),
      recurrent("lstm, 32 steps of 128", network::RecurrentKind::lstm)};
  return samples;
}

}  // namespace millrace::counting
