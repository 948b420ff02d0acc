#include "engine/onednn/ways.h"

#include <algorithm>
#include <vector>

#include "engine/onednn/lower/lower.h"
#include "kernels/half/half_convolution.h"
#include "network/operator_kinds.h"

namespace millrace::engine::onednn {
namespace {

using board::Precision;
using board::Variant;

/// Each instruction set of oneDNN's list is a set of bits: its own and those of what it includes.
[[maybe_unused]] bool includes(dnnl::cpu_isa isa, dnnl::cpu_isa other) {
  const auto bits = static_cast<unsigned>(other);
  return (static_cast<unsigned>(isa) & bits) == bits;
}

/// Elsewhere only our own kernels take numbers of 16 bits.
#if defined(__x86_64__)
constexpr bool has_products_of_halves = true;
#else
constexpr bool has_products_of_halves = false;
#endif

bool on_x86(dnnl::cpu_isa other) {
#if defined(__x86_64__) && defined(__GNUC__)
  return includes(dnnl::get_effective_cpu_isa(), other);
#else
  return static_cast<void>(other), false;
#endif
}

/// With instructions of its own; without them oneDNN imitates it with more work than float32.
bool is_native(Precision precision) {
  if (precision == Precision::f32) return true;
  if (precision == Precision::bf16) return has_bfloat16();
  if (precision == Precision::f16) return has_float16();
  return has_exact_bytes() || byte_unit();
}

/// What is quantised by channel must be known beforehand.
bool can_count_in_integers(const network::Network& network, LayerId id) {
  const network::Layer& layer = network[id];
  const auto constant = [&](std::size_t input) {
    const bool given = input < layer.inputs.size() && layer.inputs[input].valid();
    return !given || network[layer.inputs[input]].constant.has_value();
  };
  const auto* gemm = std::get_if<network::Gemm>(&layer.op);
  if (gemm != nullptr && (gemm->transpose_a || gemm->alpha != 1.f)) return false;
  if (gemm == nullptr && !network::is_one_of<network::Conv, network::MatMul>(layer.op))
    return false;
  const bool matrix = network[layer.inputs[1]].shape.size() >= 2;
  return matrix && constant(1) && constant(2);
}

std::vector<Variant> convolutions(const Device& device, SubnetRequest request, LayerId layer,
                                  Precision precision) {
  request.variants.assign(request.network->layers.size(), Variant{precision, {}});
  std::vector<Variant> ways;
  for (const std::string& name : convolution_algorithms(Builder(device, request), layer))
    ways.push_back({precision, ways.empty() ? std::string() : name});
  // Which of oneDNN's other kernels there are depends on the signs of the numbers, known only when
  // calibrated.
  const auto depends = [&](const Variant& way) {
    const auto own = {on_tiles, in_quads, direct_in_bytes, winograd_2x2, winograd_4x4};
    const bool is_own = std::find(own.begin(), own.end(), way.algorithm) != own.end();
    return &way != &ways.front() && !is_own;
  };
  if (precision == Precision::int8)
    ways.erase(std::remove_if(ways.begin(), ways.end(), depends), ways.end());
  return ways;
}

bool has_product_on_tiles(const Builder& builder, LayerId layer) {
  return can_product_be_on_tiles(builder, layer) || can_attention_be_on_tiles(builder, layer);
}

}  // namespace

bool has_amx() { return on_x86(dnnl::cpu_isa::avx512_core_amx); }
bool has_bfloat16() {
#if defined(__aarch64__)
  return kernels::has_bfloat_products();
#else
  return on_x86(dnnl::cpu_isa::avx512_core_bf16);
#endif
}
bool has_float16() {
#if defined(__aarch64__)
  return kernels::has_half_products();
#elif DNNL_VERSION_MAJOR >= 3
  return on_x86(dnnl::cpu_isa::avx512_core_fp16);
#else
  return false;
#endif
}
bool has_half(Type type) {
  return type == Type::f16 ? has_float16() : type == Type::bf16 && has_bfloat16();
}
bool has_own_half(Type type) {
  return (type == Type::f16 && kernels::has_half_products()) ||
         (type == Type::bf16 && kernels::has_bfloat_products());
}
bool has_integer_products() { return on_x86(dnnl::cpu_isa::avx512_core_vnni); }
bool has_exact_bytes() {
  return on_x86(dnnl::cpu_isa::avx512_core_vnni) || on_x86(dnnl::cpu_isa::avx2_vnni);
}

std::optional<kernels::ByteUnit> byte_unit() {
  for (const kernels::ByteUnit unit : kernels::byte_units()) {
#if defined(__x86_64__)
    const bool is_hidden = unit == kernels::ByteUnit::avx_vnni && !has_exact_bytes();
    if (is_hidden || vector_lanes() < 8) continue;
#endif
    return unit;
  }
  return std::nullopt;
}

std::size_t vector_lanes() {
#if defined(__x86_64__)
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  if (includes(isa, dnnl::cpu_isa::avx512_core)) return 16;
  if (includes(isa, dnnl::cpu_isa::avx2)) return 8;
#endif
  return 4;
}

bool has_wide_vectors() { return vector_lanes() == 16; }

bool passes_8_bits_on(const network::Operator& op) {
  const auto* pool = std::get_if<network::Pool>(&op);
  return (pool != nullptr && pool->kind == network::PoolKind::max) ||
         network::is_one_of<network::Concat, network::Split, network::Slice, network::Reshape>(op);
}

std::vector<Variant> ways_to_run(const Device& device, const network::Network& network,
                                 LayerId layer, const board::Processor& processor) {
  SubnetRequest request;
  request.network = &network;
  request.processor = processor;
  const network::Operator& op = network[layer].op;
  std::vector<Variant> ways;
  for (const Precision precision :
       {Precision::f32, Precision::f16, Precision::bf16, Precision::int8}) {
    if (!is_native(precision)) continue;
    if (precision == Precision::int8 && !can_count_in_integers(network, layer)) continue;
    if (network::is_convolution(op))
      for (Variant& way : convolutions(device, request, layer, precision))
        ways.push_back(std::move(way));
    const bool is_half = precision == Precision::f16 || precision == Precision::bf16;
    const bool is_ours = (is_half && !has_products_of_halves) ||
                         (precision == Precision::int8 && !has_exact_bytes());
    if (network::is_product(op) &&
        (!is_ours || can_product_be_direct(Builder(device, request), layer)))
      ways.push_back({precision, {}});
    if (network::is_product(op) && precision == Precision::f32 &&
        has_product_on_tiles(Builder(device, request), layer))
      ways.push_back({precision, std::string(split_on_tiles)});
    if (network::is_product(op) && precision == Precision::f32 && !has_wide_vectors() &&
        can_product_be_direct(Builder(device, request), layer))
      ways.push_back({precision, std::string(direct)});
  }
  if (ways.empty()) ways.push_back({});
  return ways;
}

}  // namespace millrace::engine::onednn
