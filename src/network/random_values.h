#pragma once
// Inputs by chance, for measuring and comparing.
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "network/network.h"

namespace millrace::network {

/// float32 and float16 become uniform in [-1, 1), bytes any of their values; other types stay as
/// they are (a new Buffer is zero).
void fill_random(std::span<std::byte> memory, DataType type, Random& random);

/// One array for every input of the network, seeded.
std::vector<Array> random_inputs(const Network& network, std::uint64_t seed);

}  // namespace millrace::network
