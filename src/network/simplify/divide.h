#pragma once
// A layer whose weights are too large for one memory, as several that give the same.
#include <cstdint>
#include <map>
#include <string>

#include "base/verdict.h"
#include "network/network.h"

namespace millrace::network {

/// Into how many parts layers are divided, by their names.
using Division = std::map<std::string, std::int64_t>;

/// A convolution of one group, or a product with a matrix of constant real numbers, which has at
/// least as many output channels; else no, with the reason.
Verdict can_be_divided(const Network& network, LayerId layer, std::int64_t parts);

/// Each of these layers becomes parts "fc6/part1", "fc6/part2" and so on, each with some of the
/// output channels, and one layer that joins what they make, "fc6/joined". A function of single
/// numbers that alone reads the result comes before the joining, once for each part. Rows of
/// weights share the memory of the whole; columns are copies. InputError with the layer's name if
/// there is no such layer, or it cannot be divided.
Network divided(Network network, const Division& division);

}  // namespace millrace::network
