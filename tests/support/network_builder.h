#pragma once
// Small networks written down in a test, and random ones.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "network/network.h"

namespace millrace::test {

/// Filled with seeded numbers in [low, high); only float32 and float64 get fractions.
network::Array random_array(Random& random, network::DataType type, const network::Shape& shape,
                            std::pair<double, double> range = {-1, 1});

/// One array for every input of the network.
std::vector<network::Array> random_inputs(Random& random, const network::Network& network);

/// Layers are called "layer0", ...; constants are seeded, so the same calls make the same network.
class NetworkBuilder {
 public:
  explicit NetworkBuilder(std::uint64_t seed = 1) : random_(seed) { network_.name = "built"; }
  /// To go on with a network.
  explicit NetworkBuilder(network::Network network) : random_(1), network_(std::move(network)) {}

  TensorId input(network::Shape shape, network::DataType type = network::DataType::float32);
  TensorId constant(network::Array array);
  /// float32, random in the range.
  TensorId constant(network::Shape shape, std::pair<double, double> range = {-1, 1});
  /// int64.
  TensorId integers(network::Shape shape, const std::vector<std::int64_t>& values);

  /// Any layer: the caller knows the outputs' shapes; their type is that of the first input.
  std::vector<TensorId> layers(network::Operator op, std::vector<TensorId> inputs,
                               const std::vector<network::Shape>& outputs);
  TensorId layer(network::Operator op, std::vector<TensorId> inputs, network::Shape output);
  /// For outputs of another type.
  void set_type(TensorId id, network::DataType type) { network_.tensors[id.index].type = type; }

  /// A layer that keeps the shape of `x`, and one that broadcasts.
  TensorId unary(network::UnaryKind kind, TensorId x, double alpha = 0, double beta = 0);
  TensorId binary(network::BinaryKind kind, TensorId a, TensorId b);
  TensorId concat(std::int64_t axis, const std::vector<TensorId>& parts);
  std::vector<TensorId> split(std::int64_t axis, TensorId x,
                              const std::vector<std::int64_t>& sizes);
  /// With random weights, scaled to keep the magnitude, and a bias.
  TensorId conv(TensorId x, std::int64_t filters, network::Window window, std::int64_t groups = 1);
  TensorId pool(network::Pool op, TensorId x);

  const network::Shape& shape(TensorId id) const { return network_[id].shape; }
  void output(TensorId id) { network_.outputs.push_back(id); }
  /// Validated.
  network::Network build() const;

 private:
  TensorId add(network::Tensor tensor);

  Random random_;
  network::Network network_;
};

/// The same in every spatial dimension.
struct WindowOptions {
  std::int64_t stride = 1, pad = 0, dilation = 1;
  std::size_t dimensions = 2;
};
network::Window window(std::int64_t kernel, const WindowOptions& options = {});
/// The shape that a window makes of [N, C, ...], with `channels` channels.
network::Shape slide(const network::Window& window, const network::Shape& x, std::int64_t channels);

/// A directed acyclic graph of at most `max_layers` (at least 1) cheap layers: activations, sums,
/// concatenations, splits, small convolutions. Tensors may have several readers; there are one or
/// two inputs, all of them read, and one or more outputs, some of which are read by layers too.
network::Network random_network(Random& random, std::size_t max_layers);

}  // namespace millrace::test
