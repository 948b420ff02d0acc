// Writes four small networks for spotting keywords as ONNX files, with random weights:
// keyword_networks FOLDER. Zhang, Suda, Lai, Chandra: Hello Edge, 2017, table 9.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "formats/onnx_writer/write_onnx.h"
#include "network/network.h"
#include "support/network_builder.h"

namespace {

using namespace millrace;
using network::Shape;

constexpr std::int64_t features = 10, words = 12;  // of a frame of sound; to tell apart

/// [1, n] through a fully connected layer.
TensorId dense(test::NetworkBuilder& net, TensorId x, std::int64_t outputs) {
  const std::int64_t inputs = net.shape(x)[1];
  return net.layer(network::Gemm{}, {x, net.constant({inputs, outputs}), net.constant({outputs})},
                   {1, outputs});
}

network::Network dense_network(std::int64_t units) {
  test::NetworkBuilder net;
  TensorId x = net.input({1, 25 * features});
  for (int layer = 0; layer < 3; ++layer)
    x = net.unary(network::UnaryKind::relu, dense(net, x, units));
  net.output(dense(net, x, words));
  return net.build();
}

network::Network recurrent_network(network::RecurrentKind kind, std::int64_t frames,
                                   std::int64_t units) {
  using network::GateFunction;
  const bool is_lstm = kind == network::RecurrentKind::lstm;
  const std::int64_t gates = is_lstm ? 4 : 3;
  network::Recurrent op;
  op.kind = kind;
  op.hidden = units;
  op.gates = {{GateFunction::sigmoid}, {GateFunction::tanh}};
  if (is_lstm) op.gates.push_back({GateFunction::tanh});
  const double most = 1 / std::sqrt(static_cast<double>(units));  // larger weights make it chaotic
  test::NetworkBuilder net;
  const TensorId x = net.input({frames, 1, features});
  const auto outputs = net.layers(op,
                                  {x, net.constant({1, gates * units, features}, {-most, most}),
                                   net.constant({1, gates * units, units}, {-most, most}),
                                   net.constant({1, 2 * gates * units}, {-most, most})},
                                  {{frames, 1, 1, units}, {1, 1, units}});
  const TensorId last = net.layer(network::Reshape{}, {outputs[1]}, {1, units});
  net.output(dense(net, last, words));
  return net.build();
}

void write(const std::filesystem::path& folder, const char* name, network::Network network) {
  network.name = name;
  write_file(folder / fmt::format("{}.onnx", name), formats::write_onnx(network).bytes);
}

}  // namespace

int main(int count, char** words_given) {
  if (count != 2) {
    fmt::print(stderr, "usage: keyword_networks FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = words_given[1];
  write(folder, "keyword_dense_s", dense_network(144));
  write(folder, "keyword_dense_l", dense_network(436));
  write(folder, "keyword_lstm", recurrent_network(network::RecurrentKind::lstm, 49, 118));
  write(folder, "keyword_gru", recurrent_network(network::RecurrentKind::gru, 25, 154));
}
