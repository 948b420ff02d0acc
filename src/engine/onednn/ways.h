#pragma once
// In which ways a layer can run.
#include <string_view>
#include <vector>

#include "engine/onednn/builder.h"

namespace millrace::engine::onednn {

/// The algorithms of float32 convolutions whose factors are sums of bfloat16 numbers (see split.h):
/// one convolution with three times as many channels, or three, one after the other.
inline constexpr std::string_view joint_products = "bf16x3";
inline constexpr std::string_view products_in_passes = "bf16x3_passes";

/// Whether this machine has instructions for sums of products of bfloat16 numbers.
bool has_bf16();

/// The engine's own choice first; then, for what multiplies and adds, other kernels and the
/// precisions that the processor has instructions for. The layer must be supported.
std::vector<board::Variant> ways_to_run(const Device& device, const network::Network& network,
                                        LayerId layer, const board::Processor& processor);

}  // namespace millrace::engine::onednn
