#pragma once
// Random networks for programs of tiles.
#include "base/random.h"
#include "support/network_builder.h"

namespace millrace::test {

/// Convolutions, pools, sums of two branches, joins and a layer without tiles.
inline network::Network network_of_tiles(Random& random) {
  NetworkBuilder builder;
  const auto channels = static_cast<std::int64_t>(2 + random.below(5));
  TensorId x = builder.input({1, channels, static_cast<std::int64_t>(6 + random.below(6)),
                              static_cast<std::int64_t>(5 + random.below(6))});
  for (std::uint64_t layers = 2 + random.below(4); layers > 0; --layers) {
    const TensorId before = x;
    x = builder.conv(x, channels, window(3, {.pad = 1}));
    if (random.below(2) == 0) x = builder.unary(network::UnaryKind::relu, x);
    if (random.below(2) == 0) x = builder.binary(network::BinaryKind::add, x, before);
    if (random.below(3) == 0) x = builder.unary(network::UnaryKind::softplus, x);
  }
  builder.output(builder.concat(1, {x, builder.unary(network::UnaryKind::tanh, x)}));
  return builder.build();
}

}  // namespace millrace::test
