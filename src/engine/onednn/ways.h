#pragma once
// In which ways a layer can run.
#include <optional>
#include <string_view>
#include <vector>

#include "engine/onednn/builder.h"
#include "kernels/quads/byte_unit.h"

namespace millrace::engine::onednn {

/// The algorithms of our own convolutions. Those of amx_convolution.h: In float32 its factors are
/// sums of two bfloat16 numbers.
inline constexpr std::string_view on_tiles = "amx";
inline constexpr std::string_view split_on_tiles = "amx_bf16x3";
/// Algorithms of integer_convolution.h: of bfloat16 and float16, and of int8.
inline constexpr std::string_view in_pairs = "int16_pairs";
inline constexpr std::string_view in_quads = "int8_quads";
/// Algorithms of winograd.h, by the results of a tile.
inline constexpr std::string_view winograd_2x2 = "winograd_2x2";
inline constexpr std::string_view winograd_4x4 = "winograd_4x4";
/// The algorithm of direct_convolution.h.
inline constexpr std::string_view direct = "direct";
/// The algorithm of quad_convolution.h.
inline constexpr std::string_view direct_in_bytes = "int8_direct";

/// Whether this machine has tile registers for bfloat16 numbers, and lets us use them.
bool has_amx();
/// Whether it has instructions for bfloat16 numbers; on 64-bit ARM kernels for them are ours.
bool has_bfloat16();
/// Whether it has instructions for float16 numbers, and oneDNN, from 3.0 on, kernels for them; on
/// 64-bit ARM kernels are ours.
bool has_float16();
/// One of these two.
bool has_half(Type type);
/// Whether it is one of these two, and kernels for it are ours: oneDNN knows no such numbers here.
bool has_own_half(Type type);
/// Whether it multiplies integers of 16 bits in pairs and those of 8 bits in fours, in vectors of
/// 64 bytes.
bool has_integer_products();
/// Whether oneDNN's kernels for 8 bits are exact here: without VNNI they cut off sums at 16 bits.
bool has_exact_bytes();
/// With which instructions our own kernels multiply bytes; none: it takes AVX2 or ARM.
std::optional<kernels::ByteUnit> byte_unit();
/// float32 numbers of the widest vectors that this machine has and lets us use: 16 with AVX-512, 8
/// with AVX2, 4 with what every x86-64 and ARMv8 processor has.
std::size_t vector_lanes();
/// Whether these are of 64 bytes.
bool has_wide_vectors();
/// The engine's own choice first; then, for what multiplies and adds, other kernels and the
/// precisions that the processor has instructions for. The layer must be supported.
std::vector<board::Variant> ways_to_run(const Device& device, const network::Network& network,
                                        LayerId layer, const board::Processor& processor);

/// What only moves numbers, and so leaves 8 bits as they are.
bool passes_8_bits_on(const network::Operator& op);

}  // namespace millrace::engine::onednn
