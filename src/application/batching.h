#pragma once
// Pictures for a network that takes several at once.
#include <cstdint>
#include <span>
#include <vector>

#include "application/application.h"
#include "network/network.h"

namespace millrace::application {

/// How many it takes at once: the first dimension of its input, if pictures are made into that;
/// else 1. A network with several inputs takes one.
std::int64_t batch_of(const Application& application, const network::Network& network);

/// Inputs and outputs as they are of one picture; layers and constants stay what they are.
/// InputError, naming the network and the output, if one cannot be divided among the pictures.
network::Network for_one_picture(const network::Network& network, std::int64_t batch);

/// The inputs of up to `batch` pictures one behind the other, each of one; the last one is repeated
/// where pictures lack.
std::vector<network::Array> joined(std::span<const std::vector<network::Array>> pictures,
                                   std::int64_t batch);

/// The part of a picture in outputs of all.
std::vector<network::Array> part_of(std::span<const network::Array> outputs, std::int64_t picture,
                                    std::int64_t batch);

}  // namespace millrace::application
